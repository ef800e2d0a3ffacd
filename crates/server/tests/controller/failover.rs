//! A broker that loses its connections is fenced soon, and nothing is at risk by that.

use klamm_protocol::BrokerId;
use klamm_protocol::messages::alter_partition::{
    AlterPartitionRequest, BrokerState, RequestPartitionData, RequestTopicData,
};

use crate::support::admin::{topic, topic_with};
use crate::support::{Broker, Client, Controller, Follower, Home, until};

/// A session that no test sees the end of.
const LONG_SESSION: &str = "3600000";

fn home(grace_ms: &str, session_ms: &str) -> Home {
    let mut home = Home::new();
    home.set("klamm.broker.connection.loss.grace.ms", grace_ms);
    home.set("broker.session.timeout.ms", session_ms);
    home.set("broker.heartbeat.interval.ms", "100");
    home
}

/// The leader of a partition takes a replica out of the ISR.
async fn shrink(client: &Client, leader: &Broker, topic: &str, isr: &[i32]) {
    let known = leader
        .follower
        .image()
        .topics()
        .by_name(topic)
        .expect("the topic");
    let partition = leader.follower.partition(topic, 0);
    let state = |id: &i32| BrokerState {
        broker_id: *id,
        ..BrokerState::default()
    };
    let request = AlterPartitionRequest {
        broker_id: leader.id,
        broker_epoch: leader.epoch,
        topics: vec![RequestTopicData {
            topic_id: known.id(),
            partitions: vec![RequestPartitionData {
                leader_epoch: partition.leader_epoch().0,
                partition_epoch: partition.partition_epoch().0,
                new_isr_with_epochs: isr.iter().map(state).collect(),
                ..RequestPartitionData::default()
            }],
            ..RequestTopicData::default()
        }],
        ..AlterPartitionRequest::default()
    };
    let response = client.ask(&request).await;
    assert_eq!(response.error_code, 0);
    assert_eq!(response.topics[0].partitions[0].error_code, 0);
}

/// Brokers 1 and 2, and a topic that 1 leads alone: 2 is out of sync, and would be elected uncleanly.
async fn out_of_sync(controller: &Controller) -> (Broker, Broker, Follower) {
    let mut one = Broker::started(controller, 1).await;
    let two = Broker::started(controller, 2).await;
    let client = controller.connect().await;
    let unclean = "unclean.leader.election.enable";
    client
        .create(&topic_with("orders", &[&[1, 2]], unclean, "true"))
        .await;
    one.follower.until_led("orders", 0, 1).await;
    shrink(&client, &one, "orders", &[1]).await;
    let observer = Follower::new(controller, -1).await;
    (one, two, observer)
}

#[tokio::test]
async fn leaders_move_when_the_last_connection_is_gone() {
    let home = home("1", LONG_SESSION);
    let controller = home.start().await;
    let one = Broker::started(&controller, 1).await;
    let _two = Broker::started(&controller, 2).await;
    controller
        .connect()
        .await
        .create(&topic("orders", &[&[1, 2], &[2, 1]]))
        .await;
    let mut observer = Follower::new(&controller, -1).await;
    observer.until_led("orders", 0, 1).await;
    drop(one);
    observer.until_fenced(1, true).await;
    observer.until_led("orders", 0, 2).await;
    observer.until_led("orders", 1, 2).await;
}

#[tokio::test]
async fn one_connection_left_is_enough() {
    let home = home("1", LONG_SESSION);
    let controller = home.start().await;
    let one = Broker::started(&controller, 1).await;
    let two = Broker::started(&controller, 2).await;
    let mut observer = Follower::new(&controller, -1).await;
    let follower = one.into_follower();
    // Broker 2 loses all after broker 1 has lost one: when it is fenced, broker 1 could be.
    drop(two);
    observer.until_fenced(2, true).await;
    assert!(!observer.is_fenced(1));
    drop(follower);
    observer.until_fenced(1, true).await;
}

#[tokio::test]
async fn a_live_broker_whose_connections_are_reset_is_not_fenced() {
    let home = home("200", LONG_SESSION);
    let controller = home.start().await;
    let mut one = Broker::started(&controller, 1).await;
    let two = Broker::started(&controller, 2).await;
    let mut observer = Follower::new(&controller, -1).await;
    one.reconnect(&controller).await;
    one.follower.fetch(0).await;
    drop(two);
    observer.until_fenced(2, true).await;
    assert!(!observer.is_fenced(1));
    assert!(!one.heartbeat().await.is_fenced);
}

#[tokio::test]
async fn nothing_is_elected_uncleanly_before_the_session_would_end() {
    let home = home("1", LONG_SESSION);
    let controller = home.start().await;
    let (one, mut two, mut observer) = out_of_sync(&controller).await;
    observer.until_led("orders", 0, 1).await;
    let epoch = one.epoch;
    // Its sockets close; the process lives.
    drop(one);
    observer.until_fenced(1, true).await;
    observer.until_led("orders", 0, -1).await;
    // What makes leaders elsewhere makes none here.
    two.heartbeat_with(|request| request.want_fence = true)
        .await;
    observer.until_fenced(2, true).await;
    two.follower.fetch(100).await;
    two.unfence().await;
    observer.until_fenced(2, false).await;
    assert_eq!(observer.partition("orders", 0).leader(), BrokerId(-1));
    // The same run comes back, and gets back what it led.
    let mut back = Broker::new(&controller, 1, 1).await;
    back.epoch = epoch;
    back.unfence().await;
    observer.until_led("orders", 0, 1).await;
    let partition = observer.partition("orders", 0);
    assert_eq!(
        partition.recovery(),
        klamm_metadata::LeaderRecoveryState::Recovered
    );
}

#[tokio::test]
async fn what_is_allowed_happens_when_the_session_is_over() {
    let mut home = home("1", LONG_SESSION);
    let controller = home.start().await;
    let (mut one, mut two, _) = out_of_sync(&controller).await;
    controller.stop().await;

    home.set("broker.session.timeout.ms", "400");
    let controller = home.start().await;
    for broker in [&mut one, &mut two] {
        broker.reconnect(&controller).await;
        broker.follower.fetch(0).await;
    }
    drop(one);
    let mut observer = Follower::new(&controller, -1).await;
    until("the other one leads", async || {
        two.heartbeat().await;
        observer.fetch(0).await;
        observer.image().topics().by_name("orders").is_some()
            && observer.partition("orders", 0).leader() == BrokerId(2)
    })
    .await;
    let partition = observer.partition("orders", 0);
    assert_eq!(
        partition.recovery(),
        klamm_metadata::LeaderRecoveryState::Recovering
    );
}

#[tokio::test]
async fn another_run_registers_at_once_when_the_first_has_no_connection() {
    // The grace has not passed: the first run is not fenced yet.
    let home = home(LONG_SESSION, LONG_SESSION);
    let controller = home.start().await;
    let first = Broker::started(&controller, 1).await;
    let epoch = first.epoch;
    drop(first);
    let mut second = Broker::new(&controller, 1, 2).await;
    second.follower.fetch(0).await;
    until("the second run is registered", async || {
        second.try_register().await.error_code == 0
    })
    .await;
    second.register().await;
    assert!(second.epoch > epoch);
    second.unfence().await;
}

#[tokio::test]
async fn another_run_registers_at_once_after_a_start_of_the_controller() {
    let home = home(LONG_SESSION, LONG_SESSION);
    let controller = home.start().await;
    let first = Broker::started(&controller, 1).await;
    let epoch = first.epoch;
    controller.stop().await;
    drop(first);
    let controller = home.start().await;
    let mut second = Broker::new(&controller, 1, 2).await;
    // It follows the log before it asks, and that might be the first run.
    second.follower.until_fenced(1, false).await;
    second.register().await;
    assert!(second.epoch > epoch);
    second.unfence().await;
}

#[tokio::test]
async fn another_run_that_registers_at_once_costs_no_records() {
    let home = home(LONG_SESSION, LONG_SESSION);
    let controller = home.start().await;
    let (one, _two, mut observer) = out_of_sync(&controller).await;
    drop(one);
    let mut second = Broker::new(&controller, 1, 2).await;
    until("the second run is registered", async || {
        second.try_register().await.error_code == 0
    })
    .await;
    observer.until_fenced(1, true).await;
    assert_eq!(observer.partition("orders", 0).leader(), BrokerId(-1));
    second.register().await;
    second.unfence().await;
    observer.until_led("orders", 0, 1).await;
}

#[tokio::test]
async fn nobody_is_fenced_early_after_a_start_of_the_controller() {
    let mut home = home("1", LONG_SESSION);
    home.set("metadata.max.idle.interval.ms", "1");
    let controller = home.start().await;
    let one = Broker::started(&controller, 1).await;
    drop(Broker::started(&controller, 2).await);
    controller.stop().await;
    drop(one);
    let controller = home.start().await;
    let mut observer = Follower::new(&controller, -1).await;
    observer.fetch(100).await;
    // Many graces later: the log goes on by a record after each.
    observer.fetch_records(50).await;
    assert!(!observer.is_fenced(1));
}

#[tokio::test]
async fn it_can_be_turned_off() {
    let mut home = home("0", LONG_SESSION);
    home.set("metadata.max.idle.interval.ms", "1");
    let controller = home.start().await;
    drop(Broker::started(&controller, 1).await);
    let mut observer = Follower::new(&controller, -1).await;
    observer.fetch(100).await;
    observer.fetch_records(50).await;
    assert!(!observer.is_fenced(1));
}
