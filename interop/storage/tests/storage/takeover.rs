use std::collections::BTreeSet;
use std::path::Path;

use klamm_log::Recover;

use crate::reads::{batches, open};
use crate::{Context, copies, files, partitions};

/// Apache Kafka starts on a data directory that klamm wrote, metadata log and topics, and goes on.
pub(crate) fn of_copies(context: &mut Context) {
    let copy = tempfile::tempdir().unwrap();
    copies::copy(context.stopped.path(), copy.path());
    start_on(context, copy.path());
}

/// After a kill klamm recovers the logs and closes them; Apache Kafka starts on what it left.
pub(crate) fn of_a_killed_node(context: &mut Context) {
    let copy = tempfile::tempdir().unwrap();
    files::copy(context.killed.path(), copy.path());
    for dir in partitions(copy.path()) {
        let (log, _) = open(&dir, Recover::All);
        log.close().unwrap();
    }
    start_on(context, copy.path());
}

fn start_on(context: &Context, data: &Path) {
    let cluster = &context.cluster;
    let ours = cluster.data_dir(1);
    let before: Vec<_> = partitions(data)
        .iter()
        .map(|dir| {
            (
                dir.file_name().unwrap().to_owned(),
                batches(&open(dir, Recover::All).0),
            )
        })
        .collect();
    std::fs::remove_dir_all(&ours).unwrap();
    files::copy(data, &ours);
    cluster.restart(1);
    cluster.wait_for_brokers(&[1]);
    let topics: BTreeSet<String> = cluster
        .all_partitions()
        .iter()
        .map(|partition| partition.topic.clone())
        .collect();
    assert!(topics.contains("orders"), "{topics:?}");
    cluster.wait("every partition to have a leader", || {
        cluster
            .all_partitions()
            .iter()
            .all(|partition| partition.leader == 1)
    });
    cluster.stop(1);
    // Nothing that was there is gone or changed; more may have come.
    for (name, before) in before {
        let (log, recovery) = open(&ours.join(&name), Recover::Nothing);
        assert_eq!(recovery.cut, None, "{name:?}");
        let after = batches(&log);
        assert!(after.len() >= before.len(), "{name:?}");
        let start = after.iter().position(|batch| Some(batch) == before.first());
        if let Some(start) = start {
            assert_eq!(after[start..start + before.len()], before[..], "{name:?}");
        } else {
            assert!(before.is_empty(), "{name:?} lost its first batch");
        }
    }
}
