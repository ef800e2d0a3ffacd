//! Records through kills, stops and elections: none that was acknowledged is lost, none is doubled.

use klamm_client::{ElectLeadersOptions, ElectionScope, ElectionType, PartitionDescription};
use klamm_log::{CleanShutdown, OsDir};

use crate::load::{Load, check};
use crate::support::Cluster;

const TOPIC: &str = "orders";
const PARTITIONS: i32 = 6;

fn is_whole(partition: &PartitionDescription) -> bool {
    partition.isr.len() == 3 && partition.leader.is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn records_come_back() {
    let cluster = Cluster::start(1).await;
    cluster.create(TOPIC, PARTITIONS, 1).await;
    let mut load = Load::start(cluster.clients(), TOPIC, PARTITIONS).await;
    load.goes_on(600).await;
    let sent = load.stop().await;
    assert!(sent.unknown.is_empty(), "{:?}", sent.unknown);
    check(cluster.clients(), TOPIC, PARTITIONS, &sent).await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_is_killed_and_comes_back() {
    let mut cluster = Cluster::start(3).await;
    cluster.create(TOPIC, PARTITIONS, 3).await;
    let mut load = Load::start(cluster.clients(), TOPIC, PARTITIONS).await;
    load.goes_on(300).await;
    for _ in 0..2 {
        let killed = cluster.leader(TOPIC, 0).await;
        cluster.kill_broker(killed).await;
        let is_without = |partition: &PartitionDescription| {
            partition.leader.is_some_and(|leader| leader.0 != killed)
                && partition.isr.iter().all(|id| id.0 != killed)
        };
        cluster.partitions_are(TOPIC, is_without).await;
        load.goes_on(300).await;
        cluster.start_broker(killed).await;
        cluster.partitions_are(TOPIC, is_whole).await;
        load.goes_on(300).await;
        // Through the one that has just come back.
        let admin = cluster.admin_of(killed).await;
        let elected = admin.elect_leaders(
            ElectionType::Preferred,
            ElectionScope::All,
            ElectLeadersOptions::default(),
        );
        elected.partitions().await.unwrap();
        let is_preferred = PartitionDescription::is_led_by_preferred;
        cluster.partitions_are(TOPIC, is_preferred).await;
        load.goes_on(300).await;
    }
    let sent = load.stop().await;
    check(cluster.clients(), TOPIC, PARTITIONS, &sent).await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_is_stopped_and_comes_back() {
    let mut cluster = Cluster::start(3).await;
    cluster.create(TOPIC, PARTITIONS, 3).await;
    let mut load = Load::start(cluster.clients(), TOPIC, PARTITIONS).await;
    load.goes_on(300).await;
    for id in [1, 2, 3] {
        cluster.stop_broker(id).await;
        let root = OsDir::open(cluster.dir(id)).unwrap();
        let mark = CleanShutdown::read(&*root).unwrap();
        assert!(mark.is_some_and(|mark| mark.broker_epoch.is_some()));
        load.goes_on(100).await;
        cluster.start_broker(id).await;
        cluster.partitions_are(TOPIC, is_whole).await;
    }
    let sent = load.stop().await;
    // Nothing had to be given up.
    assert!(sent.unknown.is_empty(), "{:?}", sent.unknown);
    check(cluster.clients(), TOPIC, PARTITIONS, &sent).await;
    cluster.stop().await;
}

/// All at once: what was acknowledged is on the disks.
#[tokio::test(flavor = "multi_thread")]
async fn all_brokers_are_killed_and_come_back() {
    let mut cluster = Cluster::start(3).await;
    cluster.create(TOPIC, PARTITIONS, 3).await;
    let mut load = Load::start(cluster.clients(), TOPIC, PARTITIONS).await;
    load.goes_on(600).await;
    let sent = load.stop().await;
    for id in [1, 2, 3] {
        cluster.kill_broker(id).await;
    }
    for id in [1, 2, 3] {
        cluster.start_broker(id).await;
    }
    cluster.partitions_are(TOPIC, is_whole).await;
    check(cluster.clients(), TOPIC, PARTITIONS, &sent).await;
    cluster.stop().await;
}
