//! What is there after a clean end and after one that was not.

use klamm_log::{CleanShutdown, OsDir};
use klamm_metadata::BrokerEpoch;
use klamm_protocol::ErrorCode;

use super::clients::{batch, batch_from, fetch, produce, values};
use super::cluster::{Cluster, TOPIC};

async fn with_records() -> Cluster {
    let cluster = Cluster::start(1, "").await;
    cluster.create(&[&[1]]);
    cluster.hosts(1, 0).await;
    for sequence in 0..5 {
        let records = batch_from(3, 1, sequence, &["x"]);
        produce(cluster.replicas(1), 0, -1, records).await;
    }
    cluster
}

async fn holds_all(cluster: &Cluster) {
    cluster.hosts(1, 0).await;
    let broker = cluster.replicas(1);
    assert_eq!(values(&fetch(broker, 0, 0).await).len(), 5);
    let again = produce(broker, 0, -1, batch_from(3, 1, 4, &["x"])).await;
    assert_eq!(
        (ErrorCode(again.error_code), again.base_offset),
        (ErrorCode::NONE, 4)
    );
    let next = produce(broker, 0, -1, batch_from(3, 1, 5, &["y"])).await;
    assert_eq!(
        (ErrorCode(next.error_code), next.base_offset),
        (ErrorCode::NONE, 5)
    );
}

#[tokio::test]
async fn a_clean_end_leaves_its_mark() {
    let mut cluster = with_records().await;
    let epoch = cluster.replicas(1).0.broker_epoch();
    cluster.stop(1).await;
    let root = OsDir::open(cluster.dir(1)).unwrap();
    let mark = CleanShutdown::read(&*root).unwrap().unwrap();
    assert_eq!(mark.broker_epoch, Some(epoch.0));
    let read = |name: &str| std::fs::read_to_string(cluster.dir(1).join(name)).unwrap();
    assert_eq!(
        read("recovery-point-offset-checkpoint"),
        "0\n1\norders 0 5\n"
    );
    assert_eq!(read("replication-offset-checkpoint"), "0\n1\norders 0 5\n");
    let snapshot = format!("{TOPIC}-0/00000000000000000005.snapshot");
    assert!(cluster.dir(1).join(snapshot).exists());
    cluster.start_broker(1).await;
    assert_eq!(cluster.replicas(1).previous_epoch(), Some(epoch));
    assert!(CleanShutdown::read(&*root).unwrap().is_none());
    holds_all(&cluster).await;
}

#[tokio::test]
async fn a_killed_broker_has_what_it_wrote() {
    let mut cluster = with_records().await;
    cluster.kill(1).await;
    cluster.start_broker(1).await;
    assert_eq!(cluster.replicas(1).previous_epoch(), None::<BrokerEpoch>);
    holds_all(&cluster).await;
    // Twice in a row, and with an end that is torn.
    cluster.kill(1).await;
    let path = cluster
        .dir(1)
        .join(format!("{TOPIC}-0/00000000000000000000.log"));
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 3]).unwrap();
    cluster.start_broker(1).await;
    cluster.hosts(1, 0).await;
    let broker = cluster.replicas(1);
    assert_eq!(values(&fetch(broker, 0, 0).await).len(), 5);
    // The batch that was cut off may come again.
    let next = produce(broker, 0, -1, batch_from(3, 1, 5, &["y"])).await;
    assert_eq!(
        (ErrorCode(next.error_code), next.base_offset),
        (ErrorCode::NONE, 5)
    );
}

#[tokio::test]
async fn a_topic_that_is_removed_takes_its_logs_along() {
    let mut cluster = with_records().await;
    cluster.remove_topic();
    let gone = || (!cluster.dir(1).join(format!("{TOPIC}-0")).exists()).then_some(());
    super::cluster::eventually("the log is set aside", gone).await;
    let refused = produce(cluster.replicas(1), 0, 1, batch(&["a"])).await;
    assert_eq!(ErrorCode(refused.error_code), ErrorCode::UNKNOWN_TOPIC_ID);
    // One of the same name begins anew, also where the broker was away meanwhile.
    cluster.create(&[&[1]]);
    cluster.hosts(1, 0).await;
    assert!(values(&fetch(cluster.replicas(1), 0, 0).await).is_empty());
    cluster.kill(1).await;
    cluster.start_broker(1).await;
    let names = std::fs::read_dir(cluster.dir(1)).unwrap();
    let left = names.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with("-delete")
    });
    assert_eq!(left.count(), 0);
}

#[tokio::test]
async fn a_log_that_nobody_knows_is_kept_aside() {
    let mut cluster = with_records().await;
    cluster.kill(1).await;
    cluster.remove_topic();
    cluster.start_broker(1).await;
    let stray = || {
        let names = std::fs::read_dir(cluster.dir(1)).unwrap();
        let mut names = names.map(|entry| entry.unwrap().file_name());
        names.find(|name| name.to_string_lossy().ends_with("-stray"))
    };
    let stray = super::cluster::eventually("the log is set aside", stray).await;
    assert!(stray.to_string_lossy().starts_with("orders-0."));
    let kept = cluster.dir(1).join(stray).join("00000000000000000000.log");
    assert!(std::fs::metadata(kept).unwrap().len() > 0);
}
