use core::iter::FusedIterator;

use bytes::Bytes;

use super::batch::RecordBatch;
use super::legacy::{self, LegacyBatch};
use super::record::Records;
use super::{BatchHeader, Compression, DecompressLimit, RecordsError};
use crate::Offset;

/// The bytes up to a batch's magic, which is at the same place in every format.
const MAGIC_END: usize = 17;

/// Reads the batches in a records field or in a log segment's bytes, one by one.
///
/// A Fetch response may end in the middle of a batch. That is no error: the iteration ends, and
/// [`Batches::incomplete_tail`] tells what is left. The first error ends the iteration too, since
/// nothing shows where the next batch would start.
#[derive(Clone, Debug)]
pub struct Batches {
    bytes: Bytes,
    position: usize,
    tail: Option<IncompleteTail>,
    failed: bool,
}

impl Batches {
    /// The batches of a records field.
    pub fn new(records: Bytes) -> Self {
        Self {
            bytes: records,
            position: 0,
            tail: None,
            failed: false,
        }
    }

    /// Where the next batch starts, in bytes: how many bytes whole batches have taken so far.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The start of a batch at the end of the bytes, once the iteration came to it.
    pub fn incomplete_tail(&self) -> Option<IncompleteTail> {
        self.tail
    }

    fn read(&mut self) -> Result<Option<Batch>, RecordsError> {
        let rest = &self.bytes[self.position..];
        if rest.is_empty() || self.tail.is_some() {
            return Ok(None);
        }
        let Frame { magic, whole } = frame(rest, self.position)?;
        let len = match whole {
            Some(len) if len <= rest.len() => len,
            needed => {
                let tail = IncompleteTail {
                    position: self.position,
                    len: rest.len(),
                    needed,
                };
                self.tail = Some(tail);
                return Ok(None);
            }
        };
        let bytes = self.bytes.slice(self.position..self.position + len);
        self.position += len;
        Ok(Some(if magic == 2 {
            Batch::V2(RecordBatch::new(bytes))
        } else {
            Batch::Legacy(LegacyBatch::new(bytes))
        }))
    }
}

impl Iterator for Batches {
    type Item = Result<Batch, RecordsError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let item = self.read().transpose();
        self.failed = matches!(item, Some(Err(_)));
        item
    }
}

impl FusedIterator for Batches {}

/// The start of a batch whose rest is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncompleteTail {
    /// Where it starts, in bytes.
    pub position: usize,
    /// How many bytes of it are there.
    pub len: usize,
    /// How many it would have, if the part that is there says so.
    pub needed: Option<usize>,
}

/// A batch of any format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Batch {
    /// Magic 2: what every supported version of Kafka writes.
    V2(RecordBatch),
    /// Magic 0 or 1: a message, with others inside perhaps.
    Legacy(LegacyBatch),
}

impl Batch {
    /// The format: 0, 1 or 2.
    pub fn magic(&self) -> i8 {
        match self {
            Self::V2(_) => 2,
            Self::Legacy(batch) => batch.magic(),
        }
    }

    /// All bytes of the batch.
    pub fn bytes(&self) -> &Bytes {
        match self {
            Self::V2(batch) => batch.bytes(),
            Self::Legacy(batch) => batch.bytes(),
        }
    }

    /// The last offset. The first one of a compressed message of an older format is only known from
    /// its records.
    pub fn last_offset(&self) -> Offset {
        match self {
            Self::V2(batch) => batch.header().last_offset(),
            Self::Legacy(batch) => batch.offset(),
        }
    }

    /// The largest timestamp in milliseconds, or [`NO_TIMESTAMP`](super::NO_TIMESTAMP).
    pub fn max_timestamp(&self) -> i64 {
        match self {
            Self::V2(batch) => batch.header().max_timestamp,
            Self::Legacy(batch) => batch.timestamp(),
        }
    }

    /// How the records are compressed, unless the code has no meaning.
    pub fn compression(&self) -> Result<Compression, RecordsError> {
        match self {
            Self::V2(batch) => batch.header().compression(),
            Self::Legacy(batch) => batch.compression(),
        }
    }

    /// Whether the records are control records, which clients do not see.
    pub fn is_control(&self) -> bool {
        matches!(self, Self::V2(batch) if batch.header().attributes.is_control())
    }

    /// Compares the checksum with the bytes.
    pub fn verify_crc(&self) -> Result<(), RecordsError> {
        match self {
            Self::V2(batch) => batch.verify_crc(),
            Self::Legacy(batch) => batch.verify_crc(),
        }
    }

    /// The records, decompressed to no more than `limit`.
    pub fn records(&self, limit: DecompressLimit) -> Result<Records, RecordsError> {
        match self {
            Self::V2(batch) => batch.records(limit),
            Self::Legacy(batch) => batch.records(limit),
        }
    }
}

/// What the first bytes of a batch say.
pub(super) struct Frame {
    /// The format, as far as `whole` is known.
    pub(super) magic: i8,
    /// The batch's size in bytes, at least its header's; `None` if there are too few bytes to tell.
    pub(super) whole: Option<usize>,
}

/// Reads the length and the magic of the batch that `bytes` start with; `at` is for errors.
pub(super) fn frame(bytes: &[u8], at: usize) -> Result<Frame, RecordsError> {
    let counts_from = BatchHeader::LENGTH_COUNTS_FROM;
    let unknown = Frame {
        magic: 0,
        whole: None,
    };
    let Some((_, [a, b, c, d])) = bytes.get(..counts_from).and_then(|b| b.split_last_chunk())
    else {
        return Ok(unknown);
    };
    let said = i32::from_be_bytes([*a, *b, *c, *d]);
    let check = |least: usize| match usize::try_from(said) {
        Ok(len) if len >= least => Ok(counts_from + len),
        _ => Err(RecordsError::BatchLength { at, said, least }),
    };
    check(legacy::V0_MIN_LEN)?;
    let Some(&magic) = bytes.get(MAGIC_END - 1) else {
        return Ok(unknown);
    };
    let whole = match magic {
        0 => check(legacy::V0_MIN_LEN)?,
        1 => check(legacy::V1_MIN_LEN)?,
        2 => check(BatchHeader::LEN - counts_from)?,
        _ => {
            return Err(RecordsError::Magic {
                at,
                magic: magic as i8,
            });
        }
    };
    Ok(Frame {
        magic: magic as i8,
        whole: Some(whole),
    })
}
