use klamm_client::PartitionDescription;
use klamm_protocol::BrokerId;

use crate::cluster::{Cluster, exists};

/// A broker that stops hands over what it leads first, and marks its directories.
#[tokio::test(flavor = "multi_thread")]
async fn what_stops_has_handed_over() {
    let mut cluster = Cluster::of(2).await;
    cluster.create(1, "t", &[1, 2]).await;
    let whole = |p: &PartitionDescription| p.isr.len() == 2;
    cluster.until(2, "t", "both are in sync", whole).await;
    let mark = cluster.path(1).join(".kafka_cleanshutdown");
    assert!(!exists(&mark));
    cluster.stop(1).await;
    assert!(exists(&mark));
    let partition = cluster.partition(2, "t").await.expect("it is there");
    assert_eq!(partition.leader, Some(BrokerId(2)));
    assert_eq!(partition.isr, [BrokerId(2)]);
    cluster.start(1).await;
    assert!(!exists(&mark));
    cluster.until(2, "t", "it is in sync again", whole).await;
}

/// One that crashes leaves no mark, and its directories can be used at once.
#[tokio::test(flavor = "multi_thread")]
async fn what_crashes_leaves_no_mark() {
    let mut cluster = Cluster::of(1).await;
    cluster.create(1, "t", &[1]).await;
    cluster.kill(1).await;
    assert!(!exists(&cluster.path(1).join(".kafka_cleanshutdown")));
    cluster.start(1).await;
    let led = |p: &PartitionDescription| p.leader == Some(BrokerId(1));
    cluster.until(1, "t", "it leads again", led).await;
    // It is the last of its kind: nobody can take over, and it stops all the same.
    cluster.stop(1).await;
}

/// A broker that never reached a controller stops, too.
#[tokio::test(flavor = "multi_thread")]
async fn one_without_a_controller_can_stop() {
    let mut cluster = Cluster::of(0).await;
    cluster.stop_controller().await;
    cluster.prepare(1);
    let node = cluster.begin(1).await;
    node.stop().await.expect("it stops well");
}
