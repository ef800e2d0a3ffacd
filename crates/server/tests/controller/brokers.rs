//! Brokers come, stay, stop and die as Kafka's do.

use klamm_metadata::{Image, Record};
use klamm_protocol::messages::broker_heartbeat::BrokerHeartbeatRequest;
use klamm_protocol::messages::describe_quorum::{
    DescribeQuorumRequest, RequestPartitionData, RequestTopicData,
};
use klamm_protocol::{BrokerId, ErrorCode};

use crate::support::admin::{preferred, topic, topic_with};
use crate::support::{Broker, Follower, Home, until};

#[tokio::test]
async fn a_broker_registers_and_is_unfenced_when_it_knows_so() {
    let home = Home::new();
    let controller = home.start().await;
    let mut broker = Broker::new(&controller, 1, 1).await;
    broker.register().await;
    assert!(broker.heartbeat().await.is_fenced, "it knows nothing yet");
    broker.unfence().await;
    let known = broker.follower.applied();
    assert!(known >= broker.epoch, "{known} of {}", broker.epoch);
    let response = broker.heartbeat().await;
    assert!(response.is_caught_up && !response.is_fenced);
    // It sees itself in service by its own replica of the log.
    broker.follower.until_fenced(1, false).await;
    let image = broker.follower.image();
    let version = image.features().metadata_version();
    assert_eq!(
        version.map(|version| version.to_string()).as_deref(),
        Some("4.4-IV2")
    );
    assert!(image.cluster().controller(BrokerId(100)).is_some());
}

#[tokio::test]
async fn topics_are_created_and_led_and_elections_answered() {
    let home = Home::new();
    let controller = home.start().await;
    let mut one = Broker::started(&controller, 1).await;
    let _two = Broker::started(&controller, 2).await;
    let client = controller.connect().await;
    client.create(&topic("orders", &[&[1, 2], &[2, 1]])).await;
    one.follower.until_led("orders", 1, 2).await;
    let elected = client.elect(&preferred("orders", 0)).await;
    assert_eq!(elected, ErrorCode::ELECTION_NOT_NEEDED);
    let unknown = client.elect(&preferred("orders", 7)).await;
    assert_eq!(unknown, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

#[tokio::test]
async fn what_was_answered_is_there_after_a_restart() {
    let home = Home::new();
    let controller = home.start().await;
    let mut broker = Broker::started(&controller, 1).await;
    let client = controller.connect().await;
    client.create(&topic("orders", &[&[1]])).await;
    controller.stop().await;

    let controller = home.start().await;
    let mut observer = Follower::new(&controller, -1).await;
    observer.until_led("orders", 0, 1).await;
    // The broker has a full session first, and goes on as it was.
    broker.reconnect(&controller).await;
    assert!(!broker.heartbeat().await.is_fenced);
    let elected = controller
        .connect()
        .await
        .elect(&preferred("orders", 0))
        .await;
    assert_eq!(elected, ErrorCode::ELECTION_NOT_NEEDED);
}

#[tokio::test]
async fn a_broker_that_says_nothing_is_fenced_when_its_session_ends() {
    let mut home = Home::new();
    let controller = home.start().await;
    let mut silent = Broker::started(&controller, 1).await;
    let mut other = Broker::started(&controller, 2).await;
    let (topic, client) = (&[[1, 2].as_slice()], controller.connect().await);
    // Who is in sync may lead later, whichever session ends first on a busy machine.
    let orders = topic_with("orders", topic, "min.insync.replicas", "2");
    client.create(&orders).await;
    controller.stop().await;

    home.set("broker.session.timeout.ms", "300");
    home.set("broker.heartbeat.interval.ms", "100");
    let controller = home.start().await;
    // Both have their connections all the time.
    for broker in [&mut silent, &mut other] {
        broker.reconnect(&controller).await;
        broker.follower.fetch(0).await;
    }
    let mut observer = Follower::new(&controller, -1).await;
    until("the other one leads", async || {
        other.heartbeat().await;
        observer.fetch(0).await;
        let topic = observer.image().topics().by_name("orders");
        let partition = topic.and_then(|topic| topic.partition(0.into()));
        partition.is_some_and(|partition| partition.leader() == BrokerId(2))
    })
    .await;
    assert!(observer.is_fenced(1) && !observer.is_fenced(2));
}

#[tokio::test]
async fn a_controlled_shutdown_moves_leaders_first() {
    let home = Home::new();
    let controller = home.start().await;
    let mut one = Broker::started(&controller, 1).await;
    let mut two = Broker::started(&controller, 2).await;
    let client = controller.connect().await;
    client.create(&topic("orders", &[&[1, 2]])).await;
    let stop = |request: &mut BrokerHeartbeatRequest| request.want_shut_down = true;
    let response = one.heartbeat_with(stop).await;
    assert!(
        !response.should_shut_down,
        "broker 2 does not know yet that it leads"
    );
    two.follower.until_led("orders", 0, 2).await;
    assert!(
        !one.heartbeat_with(stop).await.should_shut_down,
        "the controller cannot know"
    );
    two.heartbeat().await;
    assert!(one.heartbeat_with(stop).await.should_shut_down);
    two.follower.until_fenced(1, true).await;
}

#[tokio::test]
async fn another_run_of_a_live_broker_is_refused() {
    let home = Home::new();
    let controller = home.start().await;
    let mut first = Broker::started(&controller, 1).await;
    let mut second = Broker::new(&controller, 1, 2).await;
    let response = second.try_register().await;
    let error = ErrorCode(response.error_code);
    assert_eq!(error, ErrorCode::DUPLICATE_BROKER_REGISTRATION);
    assert!(!first.heartbeat().await.is_fenced);
}

#[tokio::test]
async fn the_quorum_knows_who_follows() {
    let home = Home::new();
    let controller = home.start().await;
    let _broker = Broker::started(&controller, 1).await;
    let request = DescribeQuorumRequest {
        topics: vec![RequestTopicData {
            topic_name: "__cluster_metadata".into(),
            partitions: vec![RequestPartitionData::default()],
            ..RequestTopicData::default()
        }],
        ..DescribeQuorumRequest::default()
    };
    let response = controller.connect().await.ask(&request).await;
    let partition = &response.topics[0].partitions[0];
    assert_eq!((partition.leader_id, partition.leader_epoch), (100, 1));
    let observers: Vec<i32> = partition.observers.iter().map(|o| o.replica_id).collect();
    assert_eq!(observers, [1]);
    let port = i32::from(controller.address().port());
    assert_eq!(i32::from(response.nodes[0].listeners[0].port), port);
}

#[tokio::test]
async fn a_quiet_log_gets_a_record_now_and_then() {
    let mut home = Home::new();
    home.set("metadata.max.idle.interval.ms", "1");
    let controller = home.start().await;
    let mut observer = Follower::new(&controller, -1).await;
    let has_begun = |image: &Image| image.cluster().controllers().count() == 1;
    observer.until("the log has begun", has_begun).await;
    let (before, records) = (observer.applied(), records(&observer));
    while observer.applied() < before + 3 {
        observer.fetch(1_000).await;
    }
    // The image is none the wiser.
    assert_eq!(self::records(&observer), records);
}

fn records(observer: &Follower) -> Vec<Record> {
    observer.image().snapshot().collect()
}
