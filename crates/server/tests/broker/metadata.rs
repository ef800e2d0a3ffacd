use std::time::Duration;

use klamm_client::{
    Admin, DescribeClusterOptions, DescribeTopicsOptions, ElectLeadersError, ElectLeadersOptions,
    ElectionScope, ElectionType, NewPartitions, NewTopic, PartitionDescription, TopicPartition,
    TopicSelection,
};
use klamm_protocol::BrokerId;
use tokio::time::Instant;

use crate::cluster::{Cluster, PATIENCE, WITHOUT, exists};

async fn prefer(admin: &Admin, topic: &str) -> Result<(), ElectLeadersError> {
    let partition = TopicPartition::new(topic, 0);
    let elected = admin.elect_leaders(
        ElectionType::Preferred,
        ElectionScope::Partitions(vec![partition.clone()]),
        ElectLeadersOptions::default(),
    );
    elected.partition(&partition).await
}

async fn brokers(admin: &Admin) -> Vec<i32> {
    let options = DescribeClusterOptions::default();
    let described = admin.describe_cluster(options).await;
    let brokers = described.expect("an answer").brokers;
    brokers.iter().map(|broker| broker.id.0).collect()
}

fn is_whole(partition: &PartitionDescription) -> bool {
    partition.isr.len() == 3
}

fn is_led_by(id: i32) -> impl Fn(&PartitionDescription) -> bool {
    move |partition| partition.leader == Some(BrokerId(id))
}

/// Every broker knows the whole cluster, and whatever it is asked reaches the controller.
#[tokio::test(flavor = "multi_thread")]
async fn any_broker_will_do() {
    let mut cluster = Cluster::of(3).await;
    for id in 1..=3 {
        let admin = cluster.admin(id).await;
        // The last one that came may be news still.
        let deadline = Instant::now() + PATIENCE;
        while brokers(&admin).await != [1, 2, 3] {
            assert!(Instant::now() < deadline, "broker {id} does not know all");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        cluster.create(id, &format!("by-{id}"), &[1, 2, 3]).await;
    }
    for id in 1..=3 {
        cluster
            .until(id, "by-1", "everybody is in sync", is_whole)
            .await;
    }
    // Nothing is to be done while the preferred leader leads.
    let second = cluster.admin(2).await;
    let error = prefer(&second, "by-1").await.expect_err("it leads");
    assert!(error.is_election_not_needed(), "{error}");
    cluster.kill(1).await;
    cluster
        .until(3, "by-1", "another leads", is_led_by(2))
        .await;
    let partition = cluster.partition(3, "by-1").await.expect("it is there");
    assert_eq!(partition.offline, [BrokerId(1)]);
    cluster.start(1).await;
    for topic in ["by-1", "by-2", "by-3"] {
        cluster
            .until(3, topic, "it is in sync again", is_whole)
            .await;
    }
    for id in 1..=3 {
        let admin = cluster.admin(id).await;
        let topic = format!("by-{id}");
        prefer(&admin, &topic).await.expect("it is elected");
        cluster
            .until(id, &topic, "the preferred leader leads", is_led_by(1))
            .await;
    }
}

/// Some clients look for a topic as soon as it is made, and take it for gone where it is not known.
#[tokio::test(flavor = "multi_thread")]
async fn who_makes_a_change_sees_it() {
    let cluster = Cluster::of(1).await;
    let admin = cluster.admin(1).await;
    for n in 0..20 {
        let topic = format!("topic-{n}");
        let selection = TopicSelection::named([topic.as_str()]);
        let described = async || {
            let options = DescribeTopicsOptions::default();
            let described = admin.describe_topics(&selection, options).await;
            described.expect("an answer").remove(&*topic)
        };
        let partitions = async || {
            let described = described().await.expect("an answer");
            described.map(|topic| topic.partitions.len())
        };
        let new = NewTopic::new(topic.as_str(), 1, 1);
        let made = admin.create_topics(&[new], Default::default()).await;
        assert!(
            made.expect("an answer")
                .into_values()
                .all(|made| made.is_ok())
        );
        assert_eq!(partitions().await.expect("it is there"), 1);
        let more = NewPartitions {
            total: 3,
            assignments: None,
        };
        let grown = [(topic.as_str().into(), more)].into();
        let grown = admin.create_partitions(&grown, Default::default()).await;
        assert!(
            grown
                .expect("an answer")
                .into_values()
                .all(|grown| grown.is_ok())
        );
        assert_eq!(partitions().await.expect("it is there"), 3);
        let gone = admin
            .delete_topics(&[topic.as_str().into()], Default::default())
            .await;
        assert!(
            gone.expect("an answer")
                .into_values()
                .all(|gone| gone.is_ok())
        );
        assert!(partitions().await.is_err());
    }
}

/// What one broker is told, all do; and the controller may be away for a while.
#[tokio::test(flavor = "multi_thread")]
async fn the_controller_may_come_back() {
    let mut cluster = Cluster::of(2).await;
    cluster.create(1, "before", &[1, 2]).await;
    cluster.until(2, "before", "it is led", is_led_by(1)).await;
    cluster.stop_controller().await;
    // What is known is served still.
    assert!(cluster.partition(2, "before").await.is_some());
    cluster.start_controller().await;
    cluster.create(2, "after", &[2, 1]).await;
    for id in [1, 2] {
        cluster.until(id, "after", "it is led", is_led_by(2)).await;
    }
}

/// A broker that comes late finds a log whose beginning is gone, and takes a snapshot.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_comes_late_takes_a_snapshot() {
    let mut cluster = Cluster::with_features(&WITHOUT).await;
    cluster.stop_controller().await;
    cluster.set("metadata.log.max.record.bytes.between.snapshots", "1");
    cluster.set("metadata.max.retention.bytes", "1");
    cluster.set("internal.metadata.log.segment.bytes", "1024");
    cluster.start_controller().await;
    cluster.add(1).await;
    for n in 0..20 {
        cluster.create(1, &format!("topic-{n}"), &[1]).await;
    }
    let first = cluster
        .path(100)
        .join("__cluster_metadata-0/00000000000000000000.log");
    let deadline = Instant::now() + PATIENCE;
    while exists(&first) {
        assert!(Instant::now() < deadline, "the log is not trimmed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    cluster.add(2).await;
    let admin = cluster.admin(2).await;
    let options = DescribeTopicsOptions::default();
    let described = admin.describe_topics(&TopicSelection::All, options).await;
    let described = described.expect("an answer");
    assert_eq!(described.len(), 20);
    assert!(described.contains_key("topic-0"));
    // It goes on from there after a restart.
    cluster.kill(2).await;
    cluster.create(1, "meanwhile", &[1]).await;
    cluster.start(2).await;
    cluster
        .until(2, "meanwhile", "it is led", is_led_by(1))
        .await;
}
