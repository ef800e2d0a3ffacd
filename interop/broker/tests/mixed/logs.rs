//! The files of replicas.

use std::time::Duration;

use klamm_cluster::{Cluster, wait_until};

use crate::{BROKERS, REPLICAS, TOPIC};

const DEADLINE: Duration = Duration::from_secs(60);

/// All replicas have the same bytes, and Apache Kafka reads what klamm wrote.
pub(crate) fn assert_equal(cluster: &Cluster) {
    for partition in 0..REPLICAS.len() {
        let mut logs = Vec::new();
        // Followers may be a moment behind where nobody waits for them.
        let equal = wait_until(DEADLINE, || {
            logs = BROKERS
                .iter()
                .map(|id| log(cluster, *id, partition))
                .collect();
            logs.windows(2).all(|pair| pair[0] == pair[1])
        });
        let lens: Vec<usize> = logs.iter().map(Vec::len).collect();
        assert!(
            equal,
            "{TOPIC}-{partition} has logs of {lens:?} bytes, first unlike at {:?}",
            unlike(&logs)
        );
        assert!(lens[0] > 0, "{TOPIC}-{partition} is empty");
    }
    for (name, path) in segments(cluster, crate::KLAMM, 0) {
        let file = path.to_str().unwrap();
        let (status, said) = cluster.offline_tool("DumpLogSegments", &["--files", file]);
        assert_eq!(status, 0, "{name}: {said}");
        assert!(
            said.contains("isvalid: true") && !said.contains("isvalid: false"),
            "{name}: {said}"
        );
    }
}

/// A replica's segments, in order.
fn segments(cluster: &Cluster, broker: i32, partition: usize) -> Vec<(String, std::path::PathBuf)> {
    let dir = cluster.data_dir(broker.unsigned_abs());
    let dir = dir.join(format!("{TOPIC}-{partition}"));
    let entries = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap());
    let mut segments: Vec<_> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.path()))
        .filter(|(name, _)| name.ends_with(".log"))
        .collect();
    segments.sort();
    segments
}

/// All of them in one: brokers may begin new ones at different offsets.
fn log(cluster: &Cluster, broker: i32, partition: usize) -> Vec<u8> {
    let segments = segments(cluster, broker, partition).into_iter();
    let bytes = segments.map(|(_, path)| std::fs::read(path).unwrap());
    bytes.collect::<Vec<_>>().concat()
}

/// Where logs begin to differ.
fn unlike(logs: &[Vec<u8>]) -> Option<usize> {
    let shortest = logs.iter().map(Vec::len).min()?;
    (0..shortest).find(|at| logs.iter().any(|log| log[*at] != logs[0][*at]))
}
