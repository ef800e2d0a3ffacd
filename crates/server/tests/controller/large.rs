//! Requests about more partitions than a batch of the log may have records.

use klamm_metadata::Image;
use klamm_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, ReassignablePartition, ReassignableTopic,
};
use klamm_protocol::messages::elect_leaders::{ElectLeadersRequest, TopicPartitions};
use klamm_protocol::{BrokerId, ErrorCode};

use crate::support::admin::topic;
use crate::support::{Broker, Client, Follower, Home};

/// Twice as many as Apache Kafka elects for a request. `bench/run controller` elects 100,000.
const TOPICS: [&str; 4] = ["a", "b", "c", "d"];
const TOPIC_PARTITIONS: i32 = 5_000;

/// Makes the other replica of every partition the preferred leader.
async fn swap(client: &Client) {
    for name in TOPICS {
        let partition = |index| ReassignablePartition {
            partition_index: index,
            replicas: Some([2, 1][..].into()),
            ..ReassignablePartition::default()
        };
        let request = AlterPartitionReassignmentsRequest {
            timeout_ms: 30_000,
            topics: vec![ReassignableTopic {
                name: name.into(),
                partitions: (0..TOPIC_PARTITIONS).map(partition).collect(),
                ..ReassignableTopic::default()
            }],
            ..AlterPartitionReassignmentsRequest::default()
        };
        let response = client.ask(&request).await;
        let mut partitions = response
            .responses
            .iter()
            .flat_map(|topic| &topic.partitions);
        assert!(partitions.all(|partition| partition.error_code == 0));
    }
}

#[tokio::test]
async fn one_request_elects_20_000_partitions() {
    let mut home = Home::new();
    // The brokers of this test send no heartbeats by themselves.
    home.set("broker.session.timeout.ms", "3600000");
    let controller = home.start().await;
    let _one = Broker::started(&controller, 1).await;
    let _two = Broker::started(&controller, 2).await;
    let client = controller.connect().await;
    for name in TOPICS {
        let replicas = vec![&[1, 2][..]; TOPIC_PARTITIONS as usize];
        client.create(&topic(name, &replicas)).await;
    }
    swap(&client).await;

    let listed = |name: &&str| TopicPartitions {
        topic: (*name).into(),
        partitions: (0..TOPIC_PARTITIONS).collect(),
        ..TopicPartitions::default()
    };
    let request = ElectLeadersRequest {
        topic_partitions: Some(TOPICS.iter().map(listed).collect()),
        timeout_ms: 3_600_000,
        ..ElectLeadersRequest::default()
    };
    let response = client.ask(&request).await;
    assert_eq!(ErrorCode(response.error_code), ErrorCode::NONE);
    let results = response.replica_election_results.iter();
    let results = results.flat_map(|topic| &topic.partition_result);
    let elected = results.filter(|result| result.error_code == 0);
    assert_eq!(elected.count(), TOPICS.len() * TOPIC_PARTITIONS as usize);
    controller.stop().await;

    // What was answered is in the log.
    let controller = home.start().await;
    let mut observer = Follower::new(&controller, -1).await;
    let are_led = |image: &Image| {
        let led = image.topics().led_by(BrokerId(2));
        led.count() == TOPICS.len() * TOPIC_PARTITIONS as usize
    };
    observer
        .until("all are led by their preferred leaders", are_led)
        .await;
}
