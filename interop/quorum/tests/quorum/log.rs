//! The controller's metadata log, as Apache Kafka's tool reads it.

use std::path::PathBuf;

use klamm_cluster::Cluster;
use klamm_java_peer::{Value, parse};

use crate::CONTROLLER;

/// A record of the metadata log.
#[derive(Debug)]
pub(crate) struct Logged {
    pub(crate) offset: i64,
    /// When it was appended.
    pub(crate) time_ms: i64,
    /// `PARTITION_CHANGE_RECORD` and the like.
    pub(crate) kind: String,
    pub(crate) data: Value,
}

impl Logged {
    /// Whether a broker is fenced by it.
    pub(crate) fn fences(&self, broker: i32) -> bool {
        self.changes_broker(broker) && self.data["fenced"] == 1
    }

    /// Whether a broker comes into service by it.
    pub(crate) fn unfences(&self, broker: i32) -> bool {
        self.changes_broker(broker) && self.data["fenced"] == -1
    }

    /// Whether a run of a broker is registered by it.
    pub(crate) fn registers(&self, broker: i32) -> bool {
        self.kind == "REGISTER_BROKER_RECORD" && self.data["brokerId"] == broker
    }

    pub(crate) fn changes_broker(&self, broker: i32) -> bool {
        self.kind == "BROKER_REGISTRATION_CHANGE_RECORD" && self.data["brokerId"] == broker
    }

    /// The leader that a partition of a topic gets; `None` if it is not changed.
    pub(crate) fn new_leader(&self, topic_id: &str) -> Option<i64> {
        let changes = self.kind == "PARTITION_CHANGE_RECORD" && self.data["topicId"] == topic_id;
        self.data["leader"].as_i64().filter(|_| changes)
    }
}

/// The files of the metadata log with an extension, in the order of their offsets.
pub(crate) fn files(cluster: &Cluster, extension: &str) -> Vec<PathBuf> {
    let dir = cluster.data_dir(CONTROLLER).join("__cluster_metadata-0");
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|of_file| of_file == extension))
        .collect();
    files.sort_unstable();
    files
}

/// What Apache Kafka's tool prints of files.
pub(crate) fn dump(cluster: &Cluster, files: &[PathBuf]) -> String {
    assert!(!files.is_empty(), "no files to dump");
    let files: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let args = ["--cluster-metadata-decoder", "--files", &files.join(",")];
    let (status, said) = cluster.offline_tool("DumpLogSegments", &args);
    assert_eq!(status, 0, "{said}");
    said
}

/// The records from an offset on.
pub(crate) fn since(cluster: &Cluster, offset: i64) -> Vec<Logged> {
    let dumped = dump(cluster, &files(cluster, "log"));
    let records = dumped.lines().filter_map(record);
    records.filter(|record| record.offset >= offset).collect()
}

/// The offset after the last record.
pub(crate) fn end(cluster: &Cluster) -> i64 {
    since(cluster, 0).last().map_or(0, |last| last.offset + 1)
}

/// The id of a topic, from the record that made it.
pub(crate) fn topic_id(cluster: &Cluster, name: &str) -> String {
    let records = since(cluster, 0);
    let made = |record: &&Logged| record.kind == "TOPIC_RECORD" && record.data["name"] == name;
    let record = records.iter().find(made);
    let record = record.unwrap_or_else(|| panic!("no record made {name}"));
    record.data["topicId"].as_str().unwrap().to_owned()
}

/// `| offset: 7 CreateTime: 1700000000000 ... payload: {"type":...,"version":...,"data":{...}}`
fn record(line: &str) -> Option<Logged> {
    let (head, payload) = line.split_once(" payload: ")?;
    let number_after = |name: &str| {
        let (_, rest) = head.split_once(name)?;
        rest.split_whitespace().next()?.parse().ok()
    };
    let mut payload = parse(payload);
    Some(Logged {
        offset: number_after("offset: ")?,
        time_ms: number_after("CreateTime: ")?,
        kind: payload["type"].as_str()?.to_owned(),
        data: payload["data"].take(),
    })
}
