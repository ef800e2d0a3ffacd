use std::collections::BTreeSet;

use klamm_metadata::{Acl, AclFilter, UnknownFilter, WireFilter};
use klamm_protocol::data::metadata::RemoveAccessControlEntryRecord;
use klamm_protocol::messages::delete_acls::{
    DeleteAclsFilter, DeleteAclsFilterResult, DeleteAclsMatchingAcl, DeleteAclsRequest,
    DeleteAclsResponse,
};
use klamm_protocol::{ErrorCode, Uuid};

use crate::assignment::check_size;
use crate::create_acls::disabled;
use crate::refusal::Refusal;
use crate::{Decision, View};

#[cfg(test)]
mod tests;

/// A request to delete ACLs.
#[derive(Clone, Copy, Debug)]
pub struct DeleteAcls<'a> {
    /// The request.
    pub request: &'a DeleteAclsRequest,
    /// Whether there is an authorizer, without which ACLs are of no use.
    pub is_enabled: bool,
}

impl DeleteAcls<'_> {
    /// Decides every filter on its own: what two of them mean is deleted once, and is in both answers.
    pub fn decide(&self, view: &View<'_>) -> Decision<DeleteAclsResponse> {
        let mut removed = BTreeSet::new();
        let mut results = Vec::with_capacity(self.request.filters.len());
        for filter in &self.request.filters {
            let meant = self.meant(view, filter, &removed);
            removed.extend(meant.iter().flatten().map(|(id, _)| *id));
            let refusal = meant.as_ref().err();
            let matching = meant.iter().flatten().map(|(_, acl)| matching(acl));
            results.push(DeleteAclsFilterResult {
                error_code: refusal.map_or(0, |refusal| refusal.code.0),
                error_message: refusal.map(|refusal| (&*refusal.text).into()),
                matching_acls: matching.collect(),
                ..Default::default()
            });
        }
        let mut decision = Decision::answer(DeleteAclsResponse {
            filter_results: results,
            ..Default::default()
        });
        let records = removed.into_iter().map(|id| {
            let record = RemoveAccessControlEntryRecord {
                id,
                ..Default::default()
            };
            record.into()
        });
        decision.records = records.collect();
        decision.atomic = true;
        decision
    }

    fn meant<'a>(
        &self,
        view: &View<'a>,
        filter: &DeleteAclsFilter,
        removed: &BTreeSet<Uuid>,
    ) -> Result<Vec<(Uuid, &'a Acl)>, Refusal> {
        if !self.is_enabled {
            return Err(disabled());
        }
        let filter = AclFilter::from_wire(WireFilter {
            resource_type: filter.resource_type_filter,
            resource_name: filter.resource_name_filter.as_deref(),
            pattern_type: filter.pattern_type_filter,
            principal: filter.principal_filter.as_deref(),
            host: filter.host_filter.as_deref(),
            operation: filter.operation,
            permission: filter.permission_type,
        });
        let filter = filter.map_err(unknown)?;
        let acls = view.image().acls().iter();
        let meant: Vec<_> = acls.filter(|(_, acl)| filter.matches(acl)).collect();
        let new = meant.iter().filter(|(id, _)| !removed.contains(id)).count();
        check_size(view, removed.len(), new)?;
        Ok(meant)
    }
}

/// Why a filter is none.
pub(crate) fn unknown(part: UnknownFilter) -> Refusal {
    let text = match part {
        UnknownFilter::Pattern => "Unknown patternFilter.",
        UnknownFilter::Entry => "Unknown entryFilter.",
    };
    Refusal::new(ErrorCode::INVALID_REQUEST, text)
}

fn matching(acl: &Acl) -> DeleteAclsMatchingAcl {
    DeleteAclsMatchingAcl {
        resource_type: acl.resource_type.to_wire(),
        resource_name: (&*acl.resource_name).into(),
        pattern_type: acl.pattern.to_wire(),
        principal: (&*acl.principal).into(),
        host: (&*acl.host).into(),
        operation: acl.operation.to_wire(),
        permission_type: acl.permission.to_wire(),
        // The schema's default is an empty text.
        error_message: None,
        ..Default::default()
    }
}
