use bytes::Bytes;
use klamm_protocol::LeaderEpoch;
use klamm_raft::{ControlRecord, KRaftVersion};

use super::Beginning;
use crate::snapshot::SnapshotBatches;

/// The snapshot that a cluster begins with: what KRaft has to know, then the first records.
pub(super) fn bootstrap(beginning: &Beginning, timestamp_ms: i64) -> [Bytes; 3] {
    let Beginning {
        metadata_version,
        dynamic,
        voters,
        records,
        ..
    } = beginning;
    let kraft_version = dynamic.then_some(ControlRecord::KRaftVersion(KRaftVersion(1)));
    let voters = voters.clone().map(ControlRecord::Voters);
    let control: Vec<ControlRecord> = kraft_version.into_iter().chain(voters).collect();
    let values: Vec<Bytes> = records
        .iter()
        .map(|record| record.encode(record.version(*metadata_version)))
        .collect::<Result<_, _>>()
        .expect("features and credentials fit their versions");
    let epoch = LeaderEpoch(0);
    let (mut batches, begin) = SnapshotBatches::begin(epoch, &control, timestamp_ms, timestamp_ms);
    let records = batches.records(&values);
    let records = records.expect("metadata.version is always among them, and they are few");
    [begin, records, batches.end()]
}
