//! The files of replicas.

use std::time::Duration;

use klamm_cluster::{Cluster, unlike, wait_until};

use crate::{BROKERS, REPLICAS, TOPIC};

const DEADLINE: Duration = Duration::from_secs(60);

/// All replicas have the same bytes, and Apache Kafka reads what klamm wrote.
pub(crate) fn assert_equal(cluster: &Cluster) {
    for partition in 0..REPLICAS.len() {
        let mut logs = Vec::new();
        // Followers may be a moment behind where nobody waits for them.
        let equal = wait_until(DEADLINE, || {
            let log = |id: &i32| cluster.log_bytes(id.unsigned_abs(), TOPIC, partition);
            logs = BROKERS.iter().map(|id| log(id).unwrap()).collect();
            unlike(&logs).is_none()
        });
        let lens: Vec<usize> = logs.iter().map(Vec::len).collect();
        assert!(
            equal,
            "{TOPIC}-{partition} has logs of {lens:?} bytes, first unlike at {:?}",
            unlike(&logs)
        );
        assert!(lens[0] > 0, "{TOPIC}-{partition} is empty");
    }
    for path in cluster
        .segments(crate::KLAMM.unsigned_abs(), TOPIC, 0)
        .unwrap()
    {
        let file = path.to_str().unwrap();
        let (status, said) = cluster.offline_tool("DumpLogSegments", &["--files", file]);
        assert_eq!(status, 0, "{file}: {said}");
        assert!(
            said.contains("isvalid: true") && !said.contains("isvalid: false"),
            "{file}: {said}"
        );
    }
}
