//! One node with traffic of every kind is killed, restarted and stopped; klamm reads its files,
//! writes them again, and Apache Kafka's tools and the node itself read those.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod copies;
mod dumps;
mod explain;
mod files;
mod reads;
mod takeover;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use klamm_cluster::{Cluster, Spec};
use klamm_java_peer::json;
use klamm_suite::Test;
use tempfile::TempDir;

use explain::{compare, whole};

/// What the tests share.
struct Context {
    /// One node, stopped.
    cluster: Cluster,
    /// Its data directory as `kill -9` left it.
    killed: TempDir,
    /// Its data directory after a controlled shutdown.
    stopped: TempDir,
}

impl Context {
    fn start() -> Self {
        let cluster = Spec::combined(1)
            .authorizer()
            // Assignments move with every heartbeat, which by default is one in five seconds.
            .property("group.consumer.min.heartbeat.interval.ms", "300")
            .property("group.consumer.heartbeat.interval.ms", "300")
            .property("group.share.min.heartbeat.interval.ms", "300")
            .property("group.share.heartbeat.interval.ms", "300")
            .property("metadata.log.max.record.bytes.between.snapshots", "2000")
            .property("share.coordinator.state.topic.replication.factor", "1")
            .property("share.coordinator.state.topic.min.isr", "1")
            .property("share.coordinator.state.topic.num.partitions", "2")
            .start();
        cluster.admin("traffic", json!({}));
        let metadata = cluster.data_dir(1).join("__cluster_metadata-0");
        cluster.wait("a snapshot of the metadata", || has_snapshot(&metadata));
        cluster.kill(1);
        let killed = copy_of(&cluster.data_dir(1));
        cluster.restart(1);
        cluster.wait_for_brokers(&[1]);
        cluster.stop(1);
        let stopped = copy_of(&cluster.data_dir(1));
        if let Some(directory) = std::env::var_os("KLAMM_RECORD") {
            files::copy(stopped.path(), Path::new(&directory));
        }
        Self {
            cluster,
            killed,
            stopped,
        }
    }
}

/// Whether a node has made a snapshot: the one that it was formatted with ends at offset 0.
fn has_snapshot(dir: &Path) -> bool {
    let names = std::fs::read_dir(dir).unwrap();
    names.into_iter().any(|entry| {
        let name = entry.unwrap().file_name();
        let name = name.to_string_lossy();
        name.ends_with(".checkpoint") && !name.starts_with(&"0".repeat(20))
    })
}

fn copy_of(dir: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    files::copy(dir, copy.path());
    copy
}

/// The directories of the partitions, in the order of their names.
fn partitions(data: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(data).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut dirs: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    dirs.sort_unstable();
    assert!(
        dirs.len() > 5,
        "{} has few partitions: {dirs:?}",
        data.display()
    );
    dirs
}

fn main() -> ExitCode {
    klamm_suite::run(
        "storage",
        &[
            Test("reads::logs_that_were_closed", reads::closed),
            Test("reads::logs_of_a_killed_node", reads::killed),
            Test("reads::snapshots", reads::snapshots),
            Test("files::come_back_as_they_were", files::come_back),
            Test("copies::are_the_same_files", copies::are_the_same),
            Test("dumps::segments_and_indexes", dumps::segments),
            Test("dumps::snapshots", dumps::snapshots),
            Test("explain::every_record_is_known", whole::records),
            Test("explain::every_byte_is_known", whole::bytes),
            Test("explain::every_kind_of_record_is_there", whole::kinds),
            Test("explain::metadata", compare::metadata),
            Test("explain::metadata_snapshots", compare::snapshots),
            Test("explain::groups", compare::groups),
            Test("explain::transactions", compare::transactions),
            Test("explain::share_states", compare::share_states),
            Test("explain::topics_of_clients", compare::topics),
            Test("takeover::apache_starts_on_copies", takeover::of_copies),
            Test("takeover::of_a_killed_node", takeover::of_a_killed_node),
        ],
        Context::start,
    )
}
