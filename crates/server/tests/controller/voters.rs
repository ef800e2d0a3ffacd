//! Voters of the configuration get into the log, and stay there.

use klamm_protocol::messages::describe_quorum::{
    DescribeQuorumRequest, RequestPartitionData, RequestTopicData,
};
use klamm_protocol::messages::remove_raft_voter::RemoveRaftVoterRequest;
use klamm_protocol::messages::update_features::{FeatureUpdateKey, UpdateFeaturesRequest};
use klamm_protocol::{ErrorCode, Uuid};

use crate::support::{Broker, CLUSTER, Client, Home, NODE};

/// The directory of the only voter, as DescribeQuorum tells it.
async fn directory(client: &Client) -> Uuid {
    let request = DescribeQuorumRequest {
        topics: vec![RequestTopicData {
            topic_name: "__cluster_metadata".into(),
            partitions: vec![RequestPartitionData::default()],
            ..Default::default()
        }],
        ..Default::default()
    };
    let response = client.ask(&request).await;
    let [voter] = &response.topics[0].partitions[0].current_voters[..] else {
        panic!("{response:?}");
    };
    voter.replica_directory_id
}

async fn remove_itself(client: &Client, directory: Uuid) -> ErrorCode {
    let request = RemoveRaftVoterRequest {
        cluster_id: Some(CLUSTER.into()),
        voter_id: NODE,
        voter_directory_id: directory,
        ..Default::default()
    };
    ErrorCode(client.ask(&request).await.error_code)
}

async fn raise(client: &Client, validate_only: bool) {
    let request = UpdateFeaturesRequest {
        feature_updates: vec![FeatureUpdateKey {
            feature: "kraft.version".into(),
            max_version_level: 1,
            upgrade_type: 1,
            ..Default::default()
        }],
        timeout_ms: 60_000,
        validate_only,
        ..Default::default()
    };
    let response = client.ask(&request).await;
    assert_eq!(
        ErrorCode(response.error_code),
        ErrorCode::NONE,
        "{response:?}"
    );
}

#[tokio::test]
async fn kraft_version_is_raised_and_outlives_a_start() {
    let mut home = Home::unformatted();
    let voters = format!("{NODE}@127.0.0.1:1");
    home.set("controller.quorum.voters", &voters);
    home.format_as_configured();
    let controller = home.start().await;
    let client = controller.connect().await;
    let mut broker = Broker::started(&controller, 1).await;
    let strange = Uuid::from_bytes([7; 16]);
    let unsupported = ErrorCode::UNSUPPORTED_VERSION;
    assert_eq!(remove_itself(&client, strange).await, unsupported);
    raise(&client, true).await;
    assert_eq!(directory(&client).await, Uuid::ZERO);
    raise(&client, false).await;
    let known = directory(&client).await;
    assert_ne!(known, Uuid::ZERO);
    // Brokers go on.
    assert!(!broker.heartbeat().await.is_fenced);
    controller.stop().await;

    let controller = home.start().await;
    let client = controller.connect().await;
    assert_eq!(directory(&client).await, known);
    let not_found = ErrorCode::VOTER_NOT_FOUND;
    assert_eq!(remove_itself(&client, strange).await, not_found);
    let invalid = ErrorCode::INVALID_REQUEST;
    assert_eq!(remove_itself(&client, known).await, invalid);
    raise(&client, false).await;
}
