//! Records out of batches, and back into the image.

use bytes::Bytes;
use klamm_metadata::{ApplyError, Loader, Record, RecordError};
use klamm_protocol::Offset;
use klamm_protocol::records::{Batch, Batches, DecompressLimit, RecordBatch, RecordsError};
use thiserror::Error;

/// A batch of the metadata log has something that this release cannot act on.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The batch is damaged, or of an old format.
    #[error("the batch at offset {offset} cannot be read: {source}")]
    Batch {
        /// The batch's first offset.
        offset: Offset,
        /// What is wrong.
        source: RecordsError,
    },
    /// The batch is of a format that the metadata log never has.
    #[error("a batch of format {0}, which the metadata log never has")]
    Format(i8),
    /// A record is none that this release knows.
    #[error("the record at offset {offset} cannot be read: {source}")]
    Record {
        /// The record's offset.
        offset: Offset,
        /// What is wrong.
        source: RecordError,
    },
    /// A record does not fit those before it.
    #[error("the record at offset {offset} does not fit those before it: {source}")]
    Apply {
        /// The record's offset.
        offset: Offset,
        /// What is wrong.
        source: ApplyError,
    },
}

/// The whole batches among bytes.
pub(crate) fn batches(bytes: Bytes) -> impl Iterator<Item = Result<RecordBatch, ReplayError>> {
    Batches::new(bytes).map(|batch| match batch {
        Ok(Batch::V2(batch)) => Ok(batch),
        Ok(Batch::Legacy(batch)) => Err(ReplayError::Format(batch.magic())),
        Err(source) => Err(ReplayError::Batch {
            offset: Offset(-1),
            source,
        }),
    })
}

/// The metadata records of a batch. A control batch has none.
pub(crate) fn records(batch: &RecordBatch) -> Result<Vec<(Offset, Record)>, ReplayError> {
    let header = batch.header();
    if header.attributes.is_control() {
        return Ok(Vec::new());
    }
    let unreadable = |source| ReplayError::Batch {
        offset: header.base_offset,
        source,
    };
    let records = batch
        .records(DecompressLimit::DEFAULT)
        .map_err(unreadable)?;
    let mut found = Vec::new();
    for record in &records {
        let record = record.map_err(unreadable)?;
        let offset = record.offset();
        let value = record.value_bytes().unwrap_or_default();
        let record = Record::decode(&value);
        let record = record.map_err(|source| ReplayError::Record { offset, source })?;
        found.push((offset, record));
    }
    Ok(found)
}

/// Applies a batch's records.
pub(crate) fn apply(loader: &mut Loader, batch: &RecordBatch) -> Result<(), ReplayError> {
    for (offset, record) in records(batch)? {
        let applied = loader.apply(record);
        applied.map_err(|source| ReplayError::Apply { offset, source })?;
    }
    Ok(())
}
