//! The metadata log of a controller, followed by Fetch.

use std::collections::BTreeSet;

use bytes::Bytes;
use klamm_explain::{Contents, Options, decode};
use klamm_metadata::{Image, Loader, Record};
use klamm_protocol::messages::fetch::{FetchPartition, FetchRequest, FetchTopic, ReplicaState};
use klamm_protocol::records::{Batch, Batches, DecompressLimit};
use klamm_protocol::{ErrorCode, Request, Uuid};
use klamm_raft::METADATA_TOPIC_ID;
use serde_json::{Value, json};

use crate::wire::{Wire, fields};

/// Enough for any one answer; the log is asked for until nothing comes.
const MAX_BYTES: i32 = 8 << 20;

/// How far a log is known, and what it adds up to.
#[derive(Default)]
pub(crate) struct Log {
    leader_epoch: i32,
    last_epoch: i32,
    /// The offset after the last record.
    pub(crate) end: i64,
    /// The directories that replicas of deleted topics were in while nobody was in sync: Apache Kafka's
    /// controller keeps those in its index.
    pub(crate) left_dirs: BTreeSet<Uuid>,
    loader: Loader,
}

impl Log {
    pub(crate) fn image(&self) -> &Image {
        self.loader.image()
    }

    /// The records since the last time. What was answered is committed, and so is here.
    pub(crate) fn news(&mut self, wire: &mut Wire) -> Result<Vec<Entry>, ErrorCode> {
        let mut news = Vec::new();
        while self.fetch(wire, &mut news)? {}
        Ok(news)
    }

    /// Asks for what comes next, and says whether there is more.
    fn fetch(&mut self, wire: &mut Wire, news: &mut Vec<Entry>) -> Result<bool, ErrorCode> {
        let request = FetchRequest {
            replica_state: ReplicaState {
                replica_id: -1,
                ..Default::default()
            },
            max_bytes: MAX_BYTES,
            topics: vec![FetchTopic {
                topic_id: METADATA_TOPIC_ID,
                partitions: vec![FetchPartition {
                    current_leader_epoch: self.leader_epoch,
                    fetch_offset: self.end,
                    last_fetched_epoch: self.last_epoch,
                    partition_max_bytes: MAX_BYTES,
                    replica_directory_id: Uuid::ZERO,
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        };
        let answer = wire.ask(FetchRequest::STABLE.max, &request);
        let mut answer = answer.ok().flatten().expect("a Fetch is answered");
        let mut topic = answer.responses.pop().expect("the metadata log");
        let partition = topic.partitions.pop().expect("its only partition");
        let leader = partition.current_leader.leader_epoch;
        if leader > self.leader_epoch {
            self.leader_epoch = leader;
        }
        let code = ErrorCode(partition.error_code);
        let is_old = code == ErrorCode::FENCED_LEADER_EPOCH;
        if !is_old && code != ErrorCode::NONE {
            return Err(code);
        }
        assert_eq!(
            partition.snapshot_id.end_offset, -1,
            "no snapshot is needed"
        );
        for batch in Batches::new(partition.records.unwrap_or_default()) {
            let Batch::V2(batch) = batch.expect("a whole batch") else {
                panic!("a batch of an old format");
            };
            self.end = batch.header().last_offset().0 + 1;
            self.last_epoch = batch.header().partition_leader_epoch.0;
            if batch.header().attributes.is_control() {
                continue;
            }
            let records = batch.records(DecompressLimit::DEFAULT).expect("records");
            for record in &records {
                let value = record.ok().and_then(|record| record.value_bytes());
                let value = value.expect("a record with a value");
                let record = Record::decode(&value).expect("a metadata record");
                let entry = Entry { record, value };
                self.left_dirs.extend(self.dirs_left_by(&entry.record));
                let fits = self.loader.apply(entry.record.clone());
                fits.unwrap_or_else(|e| panic!("{e}: {}", entry.shown()));
                news.push(entry);
            }
        }
        Ok(is_old || self.end < partition.high_watermark)
    }

    fn dirs_left_by(&self, record: &Record) -> Vec<Uuid> {
        let Record::RemoveTopic(removed) = record else {
            return Vec::new();
        };
        let topic = self.image().topics().by_id(removed.topic_id);
        let partitions = topic.into_iter().flat_map(|topic| topic.partitions());
        let partitions = partitions.filter(|(_, partition)| partition.isr().is_empty());
        partitions
            .flat_map(|(_, partition)| partition.directories())
            .collect()
    }
}

/// A record as it is in the log.
pub(crate) struct Entry {
    pub(crate) record: Record,
    pub(crate) value: Bytes,
}

impl Entry {
    /// As JSON: its fields under its name and version.
    pub(crate) fn shown(&self) -> Value {
        // Frame version, type and version are one byte each.
        const FRAME: usize = 3;
        let (key, name) = self.record.kind();
        let kind = Contents::Metadata
            .record_type(key.into())
            .expect("a known type");
        let version = self.value[FRAME - 1];
        let options = Options {
            show_secrets: true,
            ..Default::default()
        };
        let body = self.value.slice(FRAME..);
        let tree = decode::message(body, kind.value, version.into(), &options);
        json!({ format!("{name} v{version}"): fields(&tree, "values") })
    }
}
