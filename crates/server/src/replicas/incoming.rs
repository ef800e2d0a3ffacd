//! What a producer sends, checked as Apache Kafka checks it: pure, so that every rule is tested.

use bytes::Bytes;
use klamm_protocol::ErrorCode;
use klamm_protocol::records::{
    Batch, BatchBuilder, BatchHeader, BatchOptions, Batches, BuildError, Compression,
    DecompressLimit, NO_PRODUCER_ID, NO_TIMESTAMP, RecordBatch, RecordsError, Stamp, TimestampType,
};
use thiserror::Error;

use super::topic::TopicSettings;

/// The first version of Produce that may bring zstd.
const WITH_ZSTD: i16 = 7;

/// Why what a producer sends is not taken.
#[derive(Debug, Error)]
pub(super) enum Invalid {
    /// There is no batch, or more than one.
    #[error("a partition's records are one batch of magic 2, and these are {0}")]
    NotOneBatch(&'static str),
    /// The bytes are no batch, or its records cannot be read.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// A batch is too large.
    #[error("a batch of {len} bytes is longer than max.message.bytes, which is {max}")]
    TooLarge { len: usize, max: usize },
    /// The numbers in a batch's header do not go together.
    #[error("{0}")]
    Header(&'static str),
    /// A batch of a transaction, and nobody here coordinates one.
    #[error("transactions are not supported by this broker")]
    Transactional,
    /// A codec that this version of the request does not allow.
    #[error("zstd needs version 7 of Produce or a later one")]
    Codec,
    /// Records are wrong, one by one: their places in the batch.
    #[error("{what}")]
    Some {
        code: ErrorCode,
        what: &'static str,
        records: Vec<i32>,
    },
    /// The batch cannot be written in the topic's compression.
    #[error("the batch cannot be compressed as compression.type says: {0}")]
    Build(#[from] BuildError),
}

impl Invalid {
    pub(super) fn code(&self) -> ErrorCode {
        match self {
            Self::NotOneBatch(_) | Self::Header(_) | Self::Build(_) => ErrorCode::INVALID_RECORD,
            Self::Records(
                RecordsError::UnknownCompression(_)
                | RecordsError::NotBuiltIn(_)
                | RecordsError::Limit { .. },
            ) => ErrorCode::INVALID_RECORD,
            Self::Records(_) => ErrorCode::CORRUPT_MESSAGE,
            Self::TooLarge { .. } => ErrorCode::MESSAGE_TOO_LARGE,
            Self::Transactional => ErrorCode::INVALID_TXN_STATE,
            Self::Codec => ErrorCode::UNSUPPORTED_COMPRESSION_TYPE,
            Self::Some { code, .. } => *code,
        }
    }

    /// The records that are wrong, by their places in the batch.
    pub(super) fn records(&self) -> &[i32] {
        match self {
            Self::Some { records, .. } => records,
            _ => &[],
        }
    }
}

/// Checks what a producer sends for a partition: the batch as it is to be written, but for its
/// offset and leader epoch.
pub(super) fn check(
    records: Option<Bytes>,
    topic: &TopicSettings,
    version: i16,
    now_ms: i64,
) -> Result<RecordBatch, Invalid> {
    let batch = only_batch(records.unwrap_or_default())?;
    let len = batch.bytes().len();
    if len > topic.max_batch_bytes {
        let max = topic.max_batch_bytes;
        return Err(Invalid::TooLarge { len, max });
    }
    batch.verify_crc()?;
    let header = *batch.header();
    check_header(&header)?;
    if header.compression()? == Compression::Zstd && version < WITH_ZSTD {
        return Err(Invalid::Codec);
    }
    let max_timestamp = check_records(&batch, topic, now_ms)?;
    let stamp = match topic.append_time {
        true => (TimestampType::LogAppendTime, now_ms),
        false => (TimestampType::CreateTime, max_timestamp),
    };
    if let Some(codec) = topic.codec
        && codec.compression != header.compression()?
    {
        let options = BatchOptions {
            codec,
            append_time: topic.append_time.then_some(now_ms),
            ..BatchOptions::like(&header)?
        };
        let records = batch.records(DecompressLimit::DEFAULT)?;
        let mut builder = BatchBuilder::with_capacity(options, len);
        for record in &records {
            builder.append_record(&record?)?;
        }
        return Ok(builder.finish()?);
    }
    if (header.timestamp_type(), header.max_timestamp) == stamp {
        return Ok(batch);
    }
    let max_timestamp = Some(stamp);
    Ok(batch.restamped(&Stamp {
        max_timestamp,
        ..Stamp::default()
    }))
}

fn only_batch(records: Bytes) -> Result<RecordBatch, Invalid> {
    let mut batches = Batches::new(records);
    let first = match batches.next().transpose()? {
        Some(Batch::V2(batch)) => batch,
        Some(Batch::Legacy(_)) => return Err(Invalid::NotOneBatch("of an older format")),
        None if batches.incomplete_tail().is_some() => {
            return Err(Invalid::NotOneBatch("not whole"));
        }
        None => return Err(Invalid::NotOneBatch("none")),
    };
    match batches.next().transpose()? {
        None if batches.incomplete_tail().is_none() => Ok(first),
        _ => Err(Invalid::NotOneBatch("more")),
    }
}

fn check_header(header: &BatchHeader) -> Result<(), Invalid> {
    if header.attributes.is_control() {
        return Err(Invalid::Header("clients may not write control batches"));
    }
    if header.record_count < 1 {
        return Err(Invalid::Header("a batch has at least one record"));
    }
    if header.last_offset_delta != header.record_count - 1 {
        return Err(Invalid::Header(
            "the last offset of a batch goes with the number of its records",
        ));
    }
    if header.attributes.is_transactional() {
        return Err(Invalid::Transactional);
    }
    if header.producer_id != NO_PRODUCER_ID {
        if header.producer_id < 0 || header.producer_epoch < 0 {
            return Err(Invalid::Header("an idempotent producer has an epoch"));
        }
        if header.base_sequence < 0 {
            return Err(Invalid::Header("an idempotent producer counts its batches"));
        }
    }
    Ok(())
}

/// Checks the records one by one: the largest timestamp.
fn check_records(batch: &RecordBatch, topic: &TopicSettings, now_ms: i64) -> Result<i64, Invalid> {
    let header = batch.header();
    let mut max_timestamp = NO_TIMESTAMP;
    let mut count = 0;
    let (mut without_key, mut out_of_time) = (Vec::new(), Vec::new());
    let records = batch.records(DecompressLimit::DEFAULT)?;
    for record in &records {
        let record = record?;
        if record.offset().0 != header.base_offset.0 + i64::from(count) {
            return Err(Invalid::Header("the offsets of a batch have no gaps"));
        }
        if topic.compacts && record.key().is_none() {
            without_key.push(count);
        }
        let timestamp = record.timestamp();
        max_timestamp = max_timestamp.max(timestamp);
        let (before, after) = (
            now_ms.saturating_sub(timestamp),
            timestamp.saturating_sub(now_ms),
        );
        let limits = topic.timestamps;
        if !topic.append_time
            && timestamp != NO_TIMESTAMP
            && (before > limits.before_max_ms || after > limits.after_max_ms)
        {
            out_of_time.push(count);
        }
        count += 1;
    }
    if count != header.record_count {
        return Err(Invalid::Header("a batch has as many records as it says"));
    }
    if !without_key.is_empty() {
        return Err(Invalid::Some {
            code: ErrorCode::INVALID_RECORD,
            what: "records of a compacted topic have keys",
            records: without_key,
        });
    }
    if !out_of_time.is_empty() {
        return Err(Invalid::Some {
            code: ErrorCode::INVALID_TIMESTAMP,
            what: "timestamps are further from the broker's clock than message.timestamp.before.max.ms \
                   or message.timestamp.after.max.ms allow",
            records: out_of_time,
        });
    }
    Ok(max_timestamp)
}

#[cfg(test)]
mod tests;
