//! Metadata records into batches of the log.

use bytes::{Bytes, BytesMut};
use klamm_metadata::{MetadataVersion, Record};
use klamm_protocol::data::metadata::{BeginTransactionRecord, EndTransactionRecord};
use klamm_protocol::records::{BatchBuilder, BatchOptions, BuildError, NewRecord};
use klamm_protocol::{EncodeError, LeaderEpoch, Offset};
use thiserror::Error;

/// How many records a batch may have, as in Apache Kafka.
const MAX_BATCH_RECORDS: usize = 10_000;
/// How long a batch gets where there can be several.
const BATCH_BYTES: usize = 1 << 20;

/// Records that the log cannot take. The handler that made them is to blame.
#[derive(Debug, Error)]
pub(crate) enum BatchError {
    /// A record does not fit its version.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// A batch cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// There are more than a batch may have, and this `metadata.version` has no transactions.
    #[error(
        "{records} records must take effect together, which needs metadata.version 3.6-IV1 or later"
    )]
    NoTransactions {
        /// How many there are.
        records: usize,
    },
}

/// Where batches go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The first record's offset.
    pub(crate) base: Offset,
    /// The epoch of the leader that appends them.
    pub(crate) epoch: LeaderEpoch,
    /// The finalized `metadata.version`; `None` in a log that begins.
    pub(crate) version: Option<MetadataVersion>,
    /// Milliseconds since 1970.
    pub(crate) timestamp_ms: i64,
    /// `internal.metadata.max.batch.size.in.bytes`. A record that is longer is a batch of its own.
    pub(crate) max_batch_bytes: usize,
}

/// Puts records into batches. Those that must take effect together are in one batch, or in a
/// transaction.
pub(crate) fn batches(
    records: &[Record],
    atomic: bool,
    target: Target,
) -> Result<Bytes, BatchError> {
    let mut values = Vec::with_capacity(records.len());
    let mut version = target.version;
    for record in records {
        if let Record::FeatureLevel(level) = record
            && *level.name == *MetadataVersion::FEATURE
        {
            version = MetadataVersion::from_level(level.feature_level).or(version);
        }
        let version = version.unwrap_or(MetadataVersion::MINIMUM);
        values.push(record.encode(record.version(version))?);
    }
    let len: usize = values
        .iter()
        .map(|value| value.len() + RECORD_OVERHEAD)
        .sum();
    let shared = BATCH_BYTES.min(target.max_batch_bytes);
    let fits_one = values.len() <= MAX_BATCH_RECORDS && len <= target.max_batch_bytes;
    if !atomic || fits_one {
        let limit = if atomic { usize::MAX } else { shared };
        return Ok(build(&values, limit, target)?);
    }
    if !version.is_some_and(MetadataVersion::allows_transactions) {
        let records = values.len();
        return Err(BatchError::NoTransactions { records });
    }
    let begin = Record::from(BeginTransactionRecord {
        name: Some("klamm".into()),
        ..BeginTransactionRecord::default()
    });
    values.insert(0, begin.encode(0)?);
    values.push(Record::from(EndTransactionRecord::default()).encode(0)?);
    Ok(build(&values, shared, target)?)
}

/// The most bytes that a record has besides its value.
const RECORD_OVERHEAD: usize = 32;

fn build(values: &[Bytes], max_bytes: usize, target: Target) -> Result<Bytes, BuildError> {
    let mut joined = BytesMut::new();
    let mut base = target.base;
    let mut rest = values;
    while !rest.is_empty() {
        let mut builder = BatchBuilder::new(BatchOptions {
            base_offset: base,
            partition_leader_epoch: target.epoch,
            ..BatchOptions::default()
        });
        for value in rest {
            let record = NewRecord {
                timestamp: target.timestamp_ms,
                value: Some(value),
                ..NewRecord::default()
            };
            let is_full = builder.count() >= MAX_BATCH_RECORDS
                || builder.count() > 0 && builder.len_with(&record) > max_bytes;
            if is_full {
                break;
            }
            builder.append(&record)?;
        }
        rest = &rest[builder.count()..];
        base = builder.next_offset();
        joined.extend_from_slice(builder.finish()?.bytes());
    }
    Ok(joined.freeze())
}

#[cfg(test)]
mod tests;
