use std::sync::Arc;

use klamm_log::testing::MemDir;
use klamm_log::{Log, LogError, LogOptions, OpenFiles, Recover, Recovery};
use klamm_protocol::records::{BatchBuilder, BatchOptions, Batches, NewRecord, RecordBatch};
use klamm_protocol::{Bytes, LeaderEpoch, Offset};

/// Small segments and many index entries, so that little is needed to get many of both.
pub(crate) const SMALL: LogOptions = LogOptions {
    segment_bytes: 1500,
    segment_ms: None,
    index_interval_bytes: 100,
    index_bytes: 1024 * 1024,
    contiguous: true,
};

/// A batch with `count` records of `len` bytes.
pub(crate) fn batch(
    base: i64,
    epoch: i32,
    count: usize,
    len: usize,
    timestamp: i64,
) -> RecordBatch {
    let mut builder = BatchBuilder::new(BatchOptions {
        base_offset: Offset(base),
        partition_leader_epoch: LeaderEpoch(epoch),
        ..BatchOptions::default()
    });
    // Bytes that are not zero, as those of a hole are, and differ from batch to batch.
    let value: Vec<u8> = (0..len)
        .map(|i| (base as usize * 7 + i) as u8 | 1)
        .collect();
    for _ in 0..count {
        let record = NewRecord {
            timestamp,
            value: Some(&value),
            ..NewRecord::default()
        };
        builder.append(&record).unwrap();
    }
    builder.finish().unwrap()
}

pub(crate) fn open(
    dir: &MemDir,
    options: LogOptions,
    recover: Recover,
) -> Result<(Log, Recovery), LogError> {
    Log::open(
        Arc::new(dir.clone()),
        OpenFiles::new(3),
        options,
        recover,
        Offset(0),
    )
}

/// All batches of a log, read with a limit that is smaller than most.
pub(crate) fn all(log: &Log) -> Vec<RecordBatch> {
    let mut batches = Vec::new();
    let mut next = log.start();
    while next < log.end() {
        let bytes = read(log, next);
        for batch in whole(bytes) {
            next = Offset(batch.header().last_offset().0 + 1);
            batches.push(batch);
        }
    }
    batches
}

pub(crate) fn read(log: &Log, offset: Offset) -> Bytes {
    log.read(offset, log.end(), 150).unwrap().bytes().unwrap()
}

/// The batches that are whole in what was read.
pub(crate) fn whole(bytes: Bytes) -> Vec<RecordBatch> {
    let batches = Batches::new(bytes).map(|batch| match batch.unwrap() {
        klamm_protocol::records::Batch::V2(batch) => {
            batch.verify_crc().unwrap();
            batch
        }
        klamm_protocol::records::Batch::Legacy(_) => unreachable!("none was written"),
    });
    let batches: Vec<RecordBatch> = batches.collect();
    assert!(!batches.is_empty(), "the first batch is always whole");
    batches
}
