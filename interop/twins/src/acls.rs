//! When ACLs count.

use std::thread;
use std::time::Instant;

use klamm_metadata::Record;
use klamm_protocol::messages::describe_acls::DescribeAclsRequest;

use crate::history::{BEHIND, BEHIND_PAUSE};
use crate::log::Entry;
use crate::operations::How;
use crate::side::Side;

/// Of kinds, patterns, operations and permissions: all.
pub(crate) const ANY: i8 = 1;

impl Side {
    /// Waits until ACLs that have changed count: the authorizer of Apache Kafka's controller takes them
    /// over some time after it has answered, and decides by the old ones until then.
    pub(crate) fn wait_for_acls(&mut self, changes: &[Entry]) {
        let is_of_acls = |entry: &Entry| {
            matches!(
                entry.record,
                Record::AccessControlEntry(_) | Record::RemoveAccessControlEntry(_)
            )
        };
        let begun = Instant::now();
        while changes.iter().any(is_of_acls)
            && self.acls_that_count() != self.image().acls().iter().count()
        {
            assert!(begun.elapsed() < BEHIND, "ACLs that were made do not count");
            thread::sleep(BEHIND_PAUSE);
        }
    }

    fn acls_that_count(&mut self) -> usize {
        let all = DescribeAclsRequest {
            resource_type_filter: ANY,
            resource_name_filter: None,
            pattern_type_filter: ANY,
            principal_filter: None,
            host_filter: None,
            operation: ANY,
            permission_type: ANY,
            ..Default::default()
        };
        let said = self.ask(How::default(), &all);
        let resources = said.response["resources"].as_array();
        let acls = resources.into_iter().flatten();
        acls.filter_map(|resource| resource["acls"].as_array())
            .map(Vec::len)
            .sum()
    }
}
