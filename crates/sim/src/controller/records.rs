//! Metadata records into batches of the log, and back.

use bytes::{Bytes, BytesMut};
use klamm_metadata::{Loader, MetadataVersion, Record};
use klamm_protocol::data::metadata::{BeginTransactionRecord, EndTransactionRecord};
use klamm_protocol::records::{
    BatchBuilder, BatchOptions, DecompressLimit, NewRecord, RecordBatch,
};
use klamm_protocol::{LeaderEpoch, Offset};

use crate::disk::Disk;

/// Where batches go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) base: Offset,
    pub(crate) epoch: LeaderEpoch,
    pub(crate) version: MetadataVersion,
    /// How many records a batch of a transaction has at most.
    pub(crate) max_records: usize,
}

/// Puts records into batches: those that must take effect together into one, or a transaction.
pub(crate) fn batches(records: &[Record], atomic: bool, target: Target) -> Result<Bytes, String> {
    let encode = |record: &Record| record.encode(record.version(target.version));
    let values = records.iter().map(encode).collect::<Result<Vec<_>, _>>();
    let mut values = values.map_err(|error| format!("a record that does not fit: {error}"))?;
    let mut max_records = values.len();
    if atomic && values.len() > target.max_records && target.version.allows_transactions() {
        max_records = target.max_records;
        let fits = "transaction records have no field that does not fit";
        let begin = Record::from(BeginTransactionRecord::default());
        values.insert(0, begin.encode(0).expect(fits));
        let end = Record::from(EndTransactionRecord::default());
        values.push(end.encode(0).expect(fits));
    }
    let mut joined = BytesMut::new();
    let mut base = target.base;
    for values in values.chunks(max_records) {
        let mut builder = BatchBuilder::new(BatchOptions {
            base_offset: base,
            partition_leader_epoch: target.epoch,
            ..BatchOptions::default()
        });
        for value in values {
            let record = NewRecord {
                value: Some(value),
                ..NewRecord::default()
            };
            builder.append(&record).expect("a short record");
        }
        base = builder.next_offset();
        let batch = builder.finish().expect("a batch with records");
        joined.extend_from_slice(batch.bytes());
    }
    Ok(joined.freeze())
}

/// The metadata records of a batch.
pub(crate) fn records_of(batch: &RecordBatch) -> Result<Vec<Record>, String> {
    if batch.header().attributes.is_control() {
        return Ok(Vec::new());
    }
    let unreadable = |error: &dyn std::fmt::Display| format!("a record cannot be read: {error}");
    let records = batch.records(DecompressLimit::DEFAULT);
    let records = records.map_err(|error| unreadable(&error))?;
    let mut found = Vec::new();
    for record in &records {
        let record = record.map_err(|error| unreadable(&error))?;
        let value = record.value_bytes().unwrap_or_default();
        found.push(Record::decode(&value).map_err(|error| unreadable(&error))?);
    }
    Ok(found)
}

/// What a disk's log adds up to before an offset.
pub(crate) fn load(disk: &Disk, end: Offset) -> Result<Loader, String> {
    let mut loader = Loader::default();
    for batch in disk.between(Offset(0), end) {
        for record in records_of(batch)? {
            let applied = loader.apply(record);
            applied.map_err(|error| format!("a record that does not fit: {error}"))?;
        }
    }
    Ok(loader)
}
