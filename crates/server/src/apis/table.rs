use bytes::Bytes;
use klamm_protocol::messages::add_raft_voter::AddRaftVoterRequest;
use klamm_protocol::messages::allocate_producer_ids::AllocateProducerIdsRequest;
use klamm_protocol::messages::alter_client_quotas::AlterClientQuotasRequest;
use klamm_protocol::messages::alter_configs::AlterConfigsRequest;
use klamm_protocol::messages::alter_partition::AlterPartitionRequest;
use klamm_protocol::messages::alter_partition_reassignments::AlterPartitionReassignmentsRequest;
use klamm_protocol::messages::alter_user_scram_credentials::AlterUserScramCredentialsRequest;
use klamm_protocol::messages::api_versions::ApiVersionsRequest;
use klamm_protocol::messages::assign_replicas_to_dirs::AssignReplicasToDirsRequest;
use klamm_protocol::messages::begin_quorum_epoch::BeginQuorumEpochRequest;
use klamm_protocol::messages::broker_heartbeat::BrokerHeartbeatRequest;
use klamm_protocol::messages::broker_registration::BrokerRegistrationRequest;
use klamm_protocol::messages::controller_registration::ControllerRegistrationRequest;
use klamm_protocol::messages::create_acls::CreateAclsRequest;
use klamm_protocol::messages::create_delegation_token::CreateDelegationTokenRequest;
use klamm_protocol::messages::create_partitions::CreatePartitionsRequest;
use klamm_protocol::messages::create_topics::CreateTopicsRequest;
use klamm_protocol::messages::delete_acls::DeleteAclsRequest;
use klamm_protocol::messages::delete_topics::DeleteTopicsRequest;
use klamm_protocol::messages::describe_acls::DescribeAclsRequest;
use klamm_protocol::messages::describe_cluster::DescribeClusterRequest;
use klamm_protocol::messages::describe_configs::DescribeConfigsRequest;
use klamm_protocol::messages::describe_quorum::DescribeQuorumRequest;
use klamm_protocol::messages::elect_leaders::ElectLeadersRequest;
use klamm_protocol::messages::end_quorum_epoch::EndQuorumEpochRequest;
use klamm_protocol::messages::envelope::EnvelopeRequest;
use klamm_protocol::messages::expire_delegation_token::ExpireDelegationTokenRequest;
use klamm_protocol::messages::fetch::FetchRequest;
use klamm_protocol::messages::fetch_snapshot::FetchSnapshotRequest;
use klamm_protocol::messages::incremental_alter_configs::IncrementalAlterConfigsRequest;
use klamm_protocol::messages::list_partition_reassignments::ListPartitionReassignmentsRequest;
use klamm_protocol::messages::remove_raft_voter::RemoveRaftVoterRequest;
use klamm_protocol::messages::renew_delegation_token::RenewDelegationTokenRequest;
use klamm_protocol::messages::sasl_authenticate::SaslAuthenticateRequest;
use klamm_protocol::messages::sasl_handshake::SaslHandshakeRequest;
use klamm_protocol::messages::unregister_broker::UnregisterBrokerRequest;
use klamm_protocol::messages::unregister_controller::UnregisterControllerRequest;
use klamm_protocol::messages::update_features::UpdateFeaturesRequest;
use klamm_protocol::messages::update_raft_voter::UpdateRaftVoterRequest;
use klamm_protocol::messages::vote::VoteRequest;
use klamm_protocol::{ApiKey, VersionRange};

use super::exchange::{Answering, Api};
use super::serve::{Answered, Ask, Caller, Decide, Quorate, asked, decided, forwarded, quorate};

/// An API that is served.
pub(super) struct Row {
    pub(super) key: ApiKey,
    pub(super) versions: VersionRange,
    pub(super) is_forwardable: bool,
    pub(super) serve: fn(Caller, Bytes) -> Answering<Answered>,
}

const fn row_of<R: Api>(serve: fn(Caller, Bytes) -> Answering<Answered>) -> Row {
    Row {
        key: R::KEY,
        versions: R::STABLE,
        is_forwardable: R::FORWARDABLE,
        serve,
    }
}

const fn active<R: Decide>() -> Row {
    row_of::<R>(decided::<R>)
}

const fn any<R: Ask>() -> Row {
    row_of::<R>(asked::<R>)
}

const fn quorum<R: Quorate>() -> Row {
    row_of::<R>(quorate::<R>)
}

/// Every API of the controller's listener, in the order of the keys. ApiVersions tells it.
pub(super) const TABLE: &[Row] = &[
    quorum::<FetchRequest>(),
    any::<SaslHandshakeRequest>(),
    any::<ApiVersionsRequest>(),
    active::<CreateTopicsRequest>(),
    active::<DeleteTopicsRequest>(),
    active::<DescribeAclsRequest>(),
    active::<CreateAclsRequest>(),
    active::<DeleteAclsRequest>(),
    active::<DescribeConfigsRequest>(),
    active::<AlterConfigsRequest>(),
    any::<SaslAuthenticateRequest>(),
    active::<CreatePartitionsRequest>(),
    active::<CreateDelegationTokenRequest>(),
    active::<RenewDelegationTokenRequest>(),
    active::<ExpireDelegationTokenRequest>(),
    active::<ElectLeadersRequest>(),
    active::<IncrementalAlterConfigsRequest>(),
    active::<AlterPartitionReassignmentsRequest>(),
    active::<ListPartitionReassignmentsRequest>(),
    active::<AlterClientQuotasRequest>(),
    active::<AlterUserScramCredentialsRequest>(),
    quorum::<VoteRequest>(),
    quorum::<BeginQuorumEpochRequest>(),
    quorum::<EndQuorumEpochRequest>(),
    quorum::<DescribeQuorumRequest>(),
    active::<AlterPartitionRequest>(),
    active::<UpdateFeaturesRequest>(),
    row_of::<EnvelopeRequest>(forwarded),
    quorum::<FetchSnapshotRequest>(),
    any::<DescribeClusterRequest>(),
    active::<BrokerRegistrationRequest>(),
    active::<BrokerHeartbeatRequest>(),
    active::<UnregisterBrokerRequest>(),
    active::<AllocateProducerIdsRequest>(),
    active::<ControllerRegistrationRequest>(),
    active::<AssignReplicasToDirsRequest>(),
    quorum::<AddRaftVoterRequest>(),
    quorum::<RemoveRaftVoterRequest>(),
    quorum::<UpdateRaftVoterRequest>(),
    active::<UnregisterControllerRequest>(),
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
    fn rows_are_in_order_and_belong_to_the_controllers_listener() {
        assert!(TABLE.is_sorted_by(|a, b| a.key < b.key));
        for row in TABLE {
            assert!(
                row.key.listeners().contains(&Listener::Controller),
                "{}",
                row.key
            );
            assert!(!row.versions.is_empty(), "{}", row.key);
        }
    }

    /// Apache Kafka's controllers announce two APIs that they do not serve, and neither does klamm.
    #[test]
    fn every_api_of_controllers_is_served() {
        let of_controllers =
            ApiKey::all().filter(|key| key.listeners().contains(&Listener::Controller));
        let missing = of_controllers.filter(|key| row(*key).is_none());
        let missing: Vec<_> = missing.filter_map(ApiKey::name).collect();
        let brokers_alone = ["DescribeDelegationToken", "DescribeUserScramCredentials"];
        assert_eq!(missing, brokers_alone);
    }

    #[test]
    fn the_page_names_what_is_served() {
        let page = include_str!("../../../../docs/controller.md");
        let (_, table) = page.split_once("## What it serves").expect("a section");
        let rows = table.lines().filter(|line| line.starts_with("| "));
        let words = rows.flat_map(|row| row.split(|c: char| !c.is_ascii_alphanumeric()));
        let named = words.filter_map(ApiKey::from_name);
        let named: std::collections::BTreeSet<ApiKey> = named.collect();
        let served: std::collections::BTreeSet<ApiKey> = TABLE.iter().map(|row| row.key).collect();
        assert_eq!(named, served);
    }
}
