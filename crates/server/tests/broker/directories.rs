//! A broker with several log directories, one of which the disk does not give.

use std::path::Path;
use std::time::Duration;

use klamm_client::{NewTopic, PartitionDescription, TopicSelection};
use klamm_net::{Connection, ConnectionOptions, TcpConnector};
use klamm_protocol::messages::describe_log_dirs::DescribeLogDirsRequest;
use klamm_protocol::{ErrorCode, Uuid};
use tokio::time::Instant;

use crate::cluster::{Cluster, PATIENCE, WITHOUT};

const PARTITIONS: usize = 6;

/// How many partitions of the topic have a log in a directory.
fn logs_in(dir: &Path) -> usize {
    let entries = std::fs::read_dir(dir).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("spread-")).count()
}

/// Waits until so many partitions are led.
async fn led(cluster: &Cluster, topic: &str, wanted: usize) -> Vec<PartitionDescription> {
    let admin = cluster.admin(1).await;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let selection = TopicSelection::named([topic]);
        let described = admin.describe_topics(&selection, Default::default()).await;
        let (_, described) = described.unwrap().into_iter().next().unwrap();
        let partitions = described.map(|topic| topic.partitions).unwrap_or_default();
        let count = partitions.iter().filter(|p| p.leader.is_some()).count();
        if count == wanted {
            return partitions;
        }
        assert!(
            Instant::now() < deadline,
            "{count} of {wanted} are led: {partitions:?}"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until the controller knows which directory every replica is in: their ids are in its log
/// once for the broker and once for each.
async fn assigned(cluster: &Cluster, dirs: &[&Path]) {
    let log = cluster
        .path(100)
        .join("__cluster_metadata-0/00000000000000000000.log");
    for dir in dirs {
        let meta = std::fs::read_to_string(dir.join("meta.properties")).unwrap();
        let mut lines = meta.lines();
        let id = lines
            .find_map(|line| line.strip_prefix("directory.id="))
            .unwrap();
        let id: Uuid = id.parse().unwrap();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let bytes = std::fs::read(&log).unwrap();
            let windows = bytes.windows(16).filter(|bytes| *bytes == id.as_bytes());
            if windows.count() > logs_in(dir) {
                break;
            }
            assert!(
                Instant::now() < deadline,
                "replicas in {} are not assigned",
                dir.display()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// The directories that a broker names, with what is wrong with them.
async fn described(cluster: &Cluster) -> Vec<(String, ErrorCode)> {
    let (connector, options) = (TcpConnector::default(), ConnectionOptions::default());
    let deadline = Instant::now() + PATIENCE;
    let server = cluster.address(1);
    let opened = Connection::open(&connector, &server, options, deadline).await;
    let request = DescribeLogDirsRequest {
        topics: None,
        ..DescribeLogDirsRequest::default()
    };
    let answer = opened.unwrap();
    let answer = answer.call(4, &request, deadline, |_| Duration::ZERO).await;
    let results = answer.unwrap().results;
    let rows = results
        .iter()
        .map(|dir| (dir.log_dir.to_string(), ErrorCode(dir.error_code)));
    rows.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_cannot_be_opened_is_offline() {
    let mut cluster = Cluster::with_features(&WITHOUT).await;
    let (first, second) = (cluster.path(1), cluster.path(2));
    let dirs = format!("{},{}", first.display(), second.display());
    cluster.set("log.dirs", &dirs);
    cluster.add(1).await;
    let topic = NewTopic::new("spread", PARTITIONS as i32, 1);
    let created = cluster
        .admin(1)
        .await
        .create_topics(&[topic], Default::default())
        .await;
    assert!(
        created
            .unwrap()
            .into_values()
            .all(|outcome| outcome.is_ok())
    );
    led(&cluster, "spread", PARTITIONS).await;
    assigned(&cluster, &[&first, &second]).await;
    let in_first = logs_in(&first);
    assert_eq!(in_first + logs_in(&second), PARTITIONS);
    assert!(
        (1..PARTITIONS).contains(&in_first),
        "{in_first} in the first"
    );
    cluster.stop(1).await;

    // As of a disk that is gone: there is no directory.
    let aside = cluster.path(3);
    std::fs::rename(&second, &aside).unwrap();
    std::fs::write(&second, "").unwrap();
    cluster.start(1).await;
    led(&cluster, "spread", in_first).await;
    let name = |path: &Path| path.display().to_string();
    let expected = [
        (name(&first), ErrorCode::NONE),
        (name(&second), ErrorCode::KAFKA_STORAGE_ERROR),
    ];
    assert_eq!(described(&cluster).await, expected);
    cluster.create(1, "more", &[1]).await;
    led(&cluster, "more", 1).await;
    cluster.stop(1).await;

    std::fs::remove_file(&second).unwrap();
    std::fs::rename(&aside, &second).unwrap();
    cluster.start(1).await;
    led(&cluster, "spread", PARTITIONS).await;
    assert!(
        described(&cluster)
            .await
            .iter()
            .all(|(_, code)| *code == ErrorCode::NONE)
    );
}
