use bytes::Bytes;
use klamm_protocol::messages::alter_client_quotas::AlterClientQuotasRequest;
use klamm_protocol::messages::alter_configs::AlterConfigsRequest;
use klamm_protocol::messages::alter_partition_reassignments::AlterPartitionReassignmentsRequest;
use klamm_protocol::messages::alter_user_scram_credentials::AlterUserScramCredentialsRequest;
use klamm_protocol::messages::api_versions::ApiVersionsRequest;
use klamm_protocol::messages::create_acls::CreateAclsRequest;
use klamm_protocol::messages::create_delegation_token::CreateDelegationTokenRequest;
use klamm_protocol::messages::create_partitions::CreatePartitionsRequest;
use klamm_protocol::messages::create_topics::CreateTopicsRequest;
use klamm_protocol::messages::delete_acls::DeleteAclsRequest;
use klamm_protocol::messages::delete_records::DeleteRecordsRequest;
use klamm_protocol::messages::delete_topics::DeleteTopicsRequest;
use klamm_protocol::messages::describe_cluster::DescribeClusterRequest;
use klamm_protocol::messages::describe_configs::DescribeConfigsRequest;
use klamm_protocol::messages::describe_log_dirs::DescribeLogDirsRequest;
use klamm_protocol::messages::describe_quorum::DescribeQuorumRequest;
use klamm_protocol::messages::describe_topic_partitions::DescribeTopicPartitionsRequest;
use klamm_protocol::messages::elect_leaders::ElectLeadersRequest;
use klamm_protocol::messages::expire_delegation_token::ExpireDelegationTokenRequest;
use klamm_protocol::messages::fetch::FetchRequest;
use klamm_protocol::messages::incremental_alter_configs::IncrementalAlterConfigsRequest;
use klamm_protocol::messages::init_producer_id::InitProducerIdRequest;
use klamm_protocol::messages::list_offsets::ListOffsetsRequest;
use klamm_protocol::messages::list_partition_reassignments::ListPartitionReassignmentsRequest;
use klamm_protocol::messages::metadata::MetadataRequest;
use klamm_protocol::messages::offset_for_leader_epoch::OffsetForLeaderEpochRequest;
use klamm_protocol::messages::produce::ProduceRequest;
use klamm_protocol::messages::renew_delegation_token::RenewDelegationTokenRequest;
use klamm_protocol::messages::unregister_broker::UnregisterBrokerRequest;
use klamm_protocol::messages::update_features::UpdateFeaturesRequest;
use klamm_protocol::{ApiKey, Segments, VersionRange};

use super::call::{Call, Serve, served};
use super::forward::{Change, changed, forwarded};
use crate::apis::{Answering, Api};

/// An API that is served.
pub(super) struct Row {
    pub(super) key: ApiKey,
    pub(super) versions: VersionRange,
    /// Whether the controller answers.
    pub(super) is_forwarded: bool,
    pub(super) serve: fn(Call, Bytes) -> Answering<Option<Segments>>,
}

impl Row {
    /// The versions that clients are told of, where the controller, which may be of another release,
    /// offers these; `None` while that is not known.
    pub(super) fn announced(&self, by_controller: Option<VersionRange>) -> VersionRange {
        match by_controller {
            Some(offered) if self.is_forwarded => self.versions.intersect(offered),
            _ => self.versions,
        }
    }
}

const fn own<R: Serve>() -> Row {
    Row {
        key: R::KEY,
        versions: R::STABLE,
        is_forwarded: false,
        serve: served::<R>,
    }
}

const fn controllers<R: Api>() -> Row {
    Row {
        key: R::KEY,
        versions: R::STABLE,
        is_forwarded: true,
        serve: forwarded::<R>,
    }
}

/// One whose answer comes when this broker knows of the change.
const fn changes<R: Change>() -> Row {
    Row {
        serve: changed::<R>,
        ..controllers::<R>()
    }
}

/// Every API of a broker's listeners, in the order of the keys. ApiVersions tells it.
pub(super) const TABLE: &[Row] = &[
    own::<ProduceRequest>(),
    own::<FetchRequest>(),
    own::<ListOffsetsRequest>(),
    own::<MetadataRequest>(),
    own::<ApiVersionsRequest>(),
    changes::<CreateTopicsRequest>(),
    changes::<DeleteTopicsRequest>(),
    own::<DeleteRecordsRequest>(),
    own::<InitProducerIdRequest>(),
    own::<OffsetForLeaderEpochRequest>(),
    controllers::<CreateAclsRequest>(),
    controllers::<DeleteAclsRequest>(),
    own::<DescribeConfigsRequest>(),
    controllers::<AlterConfigsRequest>(),
    own::<DescribeLogDirsRequest>(),
    changes::<CreatePartitionsRequest>(),
    controllers::<CreateDelegationTokenRequest>(),
    controllers::<RenewDelegationTokenRequest>(),
    controllers::<ExpireDelegationTokenRequest>(),
    controllers::<ElectLeadersRequest>(),
    controllers::<IncrementalAlterConfigsRequest>(),
    controllers::<AlterPartitionReassignmentsRequest>(),
    controllers::<ListPartitionReassignmentsRequest>(),
    controllers::<AlterClientQuotasRequest>(),
    controllers::<AlterUserScramCredentialsRequest>(),
    controllers::<DescribeQuorumRequest>(),
    controllers::<UpdateFeaturesRequest>(),
    own::<DescribeClusterRequest>(),
    controllers::<UnregisterBrokerRequest>(),
    own::<DescribeTopicPartitionsRequest>(),
];

/// The row of an API.
pub(super) fn row(key: ApiKey) -> Option<&'static Row> {
    let at = TABLE.binary_search_by_key(&key, |row| row.key).ok()?;
    Some(&TABLE[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use klamm_protocol::Listener;

    #[test]
    fn rows_are_in_order_and_belong_to_the_brokers_listener() {
        assert!(TABLE.is_sorted_by(|a, b| a.key < b.key));
        for row in TABLE {
            assert!(
                row.key.listeners().contains(&Listener::Broker),
                "{}",
                row.key
            );
            assert!(!row.versions.is_empty(), "{}", row.key);
        }
    }

    #[test]
    fn what_the_controller_answers_is_cut_to_what_it_offers() {
        for row in TABLE {
            assert_eq!(row.announced(None), row.versions, "{}", row.key);
            let first = VersionRange::new(row.versions.min, row.versions.min);
            for offered in [VersionRange::NONE, first] {
                let announced = row.announced(Some(offered));
                let expected = if row.is_forwarded {
                    offered
                } else {
                    row.versions
                };
                assert_eq!(announced.is_empty(), expected.is_empty(), "{}", row.key);
                assert!(announced.is_empty() || announced == expected, "{}", row.key);
            }
        }
        assert!(row(ApiKey::ELECT_LEADERS).is_some_and(|row| row.is_forwarded));
    }

    #[test]
    fn the_page_names_what_is_served() {
        let page = include_str!("../../../../docs/broker.md");
        let (_, table) = page.split_once("## What it serves").expect("a section");
        let (table, _) = table.split_once("\n## ").expect("another section");
        let rows = table.lines().filter(|line| line.starts_with("| "));
        let words = rows.flat_map(|row| row.split(|c: char| !c.is_ascii_alphanumeric()));
        let named = words.filter_map(ApiKey::from_name);
        let named: std::collections::BTreeSet<ApiKey> = named.collect();
        let served: std::collections::BTreeSet<ApiKey> = TABLE.iter().map(|row| row.key).collect();
        assert_eq!(named, served);
    }
}
