//! A log directory that fails takes its replicas offline, and nothing else.

use klamm_protocol::ErrorCode;
use klamm_protocol::Uuid;
use klamm_protocol::messages::describe_log_dirs::DescribeLogDirsRequest;

use super::clients::{batch, fetch, produce};
use super::cluster::{Cluster, TOPIC, place};

#[tokio::test]
async fn a_failed_write_takes_the_directory_offline() {
    let cluster = Cluster::start(1, "").await;
    // Before there are replicas: they begin with it then.
    cluster.configure("segment.bytes", "1048576");
    cluster.create(&[&[1], &[1]]);
    cluster.hosts(1, 0).await;
    cluster.hosts(1, 1).await;
    let broker = cluster.replicas(1);
    let offline = broker.offline_dirs();
    let half = "x".repeat(600_000);
    let written = produce(broker, 0, 1, batch(&[&half])).await;
    assert_eq!(ErrorCode(written.error_code), ErrorCode::NONE);
    // The next segment cannot be made.
    std::fs::remove_dir_all(cluster.dir(1).join(format!("{TOPIC}-0"))).unwrap();
    let failed = produce(broker, 0, 1, batch(&[&half])).await;
    assert_eq!(ErrorCode(failed.error_code), ErrorCode::KAFKA_STORAGE_ERROR);
    assert_eq!(*offline.borrow(), [Uuid::from_bytes([1; 16])]);
    for index in [0, 1] {
        let refused = produce(broker, index, 1, batch(&["a"])).await;
        assert_eq!(
            ErrorCode(refused.error_code),
            ErrorCode::KAFKA_STORAGE_ERROR
        );
        let refused = fetch(broker, index, 0).await;
        assert_eq!(
            ErrorCode(refused.error_code),
            ErrorCode::KAFKA_STORAGE_ERROR
        );
    }
    let described = broker.describe_log_dirs(DescribeLogDirsRequest::default());
    let described = described.await;
    let error = ErrorCode(described.results[0].error_code);
    assert_eq!(error, ErrorCode::KAFKA_STORAGE_ERROR);
}

#[tokio::test]
async fn who_waits_is_told_that_the_directory_has_failed() {
    let cluster = Cluster::start(1, "").await;
    cluster.create(&[&[1, 2]]);
    cluster.hosts(1, 0).await;
    let broker = cluster.replicas(1).clone();
    let waiting = {
        let broker = broker.clone();
        tokio::spawn(async move { produce(&broker, 0, -1, batch(&["a"])).await })
    };
    let written = || (!cluster.log_bytes(1, 0).is_empty()).then_some(());
    super::cluster::eventually("the batch is written", written).await;
    let dir = broker.0.hosted(place(0)).unwrap().dir.clone();
    let error = std::io::Error::other("test");
    broker.0.fail_dir(
        &dir,
        &klamm_log::LogError::Io {
            action: "write",
            file: "test".into(),
            source: error,
        },
    );
    let answer = waiting.await.unwrap();
    assert_eq!(ErrorCode(answer.error_code), ErrorCode::KAFKA_STORAGE_ERROR);
}

/// A directory whose logs cannot be opened does not come online; where it is the only one the broker
/// does not start.
#[tokio::test]
async fn damage_is_told_at_the_start() {
    let mut cluster = Cluster::start(1, "").await;
    cluster.create(&[&[1]]);
    cluster.hosts(1, 0).await;
    for _ in 0..3 {
        produce(cluster.replicas(1), 0, 1, batch(&["a"])).await;
    }
    cluster.kill(1).await;
    let path = cluster
        .dir(1)
        .join(format!("{TOPIC}-0/00000000000000000000.log"));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[66] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let refused = cluster.open_broker(1).unwrap_err().to_string();
    assert!(refused.contains("is corrupt at byte 0"), "{refused}");
}
