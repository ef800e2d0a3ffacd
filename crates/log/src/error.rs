use std::io;
use std::path::PathBuf;

use klamm_protocol::records::RecordsError;
use klamm_protocol::{LeaderEpoch, Offset};
use thiserror::Error;

/// Why a log could not do what it was asked for.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LogError {
    /// The disk, or its file system.
    #[error("cannot {action} {}: {source}", file.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or directory.
        file: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// Bytes of the log that are not what was written, and not just a torn end.
    #[error(
        "{} is corrupt at byte {position}, offset {offset}: {damage}; {after}. Nothing was changed. \
         Restore this directory from another replica or a backup; where no other copy exists, \
         cutting the file at that byte loses every record from that offset on",
        file.display()
    )]
    Corrupt {
        /// The segment's file.
        file: PathBuf,
        /// Where the first bad batch begins, in bytes.
        position: u64,
        /// The offset that is expected there.
        offset: Offset,
        /// What is wrong with it.
        damage: Damage,
        /// Why it is not a torn end.
        after: After,
    },
    /// A file that klamm cannot read, with what is to be done about it.
    #[error("{}: {problem}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What is wrong, and the next step.
        problem: String,
    },
    /// An offset that the log does not have, or does not have any more.
    #[error("offset {offset} is not between the log's start {start} and its end {end}")]
    OffsetOutOfRange {
        /// The offset asked for.
        offset: Offset,
        /// The first offset of the log.
        start: Offset,
        /// The offset that the next record gets.
        end: Offset,
    },
    /// Bytes to append that are no batches.
    #[error("cannot append: {0}")]
    Records(#[from] RecordsError),
    /// Batches to append that do not continue the log.
    #[error("cannot append: {0}")]
    Refused(Damage),
    /// Bytes to append that end within a batch.
    #[error("cannot append {len} bytes of which the last {left} are no whole batch")]
    Incomplete {
        /// All bytes.
        len: usize,
        /// Those after the last whole batch.
        left: usize,
    },
    /// A batch that no segment has room for.
    #[error("a batch of {len} bytes is longer than a segment of {max} bytes (segment.bytes)")]
    BatchTooLarge {
        /// Its length in bytes.
        len: u64,
        /// The most that a segment may have.
        max: u64,
    },
    /// An earlier write, cut or flush failed in a way that leaves unknown what is on the disk.
    #[error(
        "{} had an I/O error before and is out of use until it is opened again",
        dir.display()
    )]
    Failed {
        /// The log's directory.
        dir: PathBuf,
    },
}

impl LogError {
    pub(crate) fn io(action: &'static str, file: PathBuf) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            action,
            file,
            source,
        }
    }
}

/// What shows that bad bytes are not just the torn end of what was written last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum After {
    /// A whole batch of this log comes later in the file.
    #[error("a whole batch with offset {offset} follows at byte {position}")]
    Batch {
        /// Where it begins.
        position: u64,
        /// Its base offset.
        offset: Offset,
    },
    /// There is a later segment.
    #[error("the log goes on in a later segment, at offset {0}")]
    Segment(Offset),
    /// A snapshot is whole when it gets its name.
    #[error("a snapshot has no torn end")]
    Snapshot,
    /// Everything up to an offset was flushed, the caller says.
    #[error("everything before offset {0} was flushed")]
    Flushed(Offset),
}

/// What is wrong with a batch of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Damage {
    /// The file ends within it.
    #[error("the batch is not whole: {there} bytes are there")]
    Incomplete {
        /// Bytes from its start to the end of the file.
        there: u64,
    },
    /// Its length field cannot be right.
    #[error("the batch's length field says {0}")]
    Length(i32),
    /// Its format is unknown, or one before magic 2, which brokers have not written since 2017.
    #[error("the batch has magic {0}, not 2")]
    Magic(i8),
    /// Its checksum does not fit its bytes.
    #[error("the batch's CRC says {said:#010x}, its bytes give {computed:#010x}")]
    Crc {
        /// The checksum in the batch.
        said: u32,
        /// The checksum of its bytes.
        computed: u32,
    },
    /// Its base offset does not continue the log.
    #[error("the batch begins at offset {said}, where {expected} is next")]
    BaseOffset {
        /// The base offset in the batch.
        said: Offset,
        /// The next offset of the log.
        expected: Offset,
    },
    /// Its last offset is before its first, or too far from the segment's base offset.
    #[error("the batch ends at offset {0}, which cannot be")]
    LastOffset(Offset),
    /// Its leader epoch is older than that of the batch before.
    #[error("the batch has leader epoch {said}, after {previous}")]
    Epoch {
        /// The leader epoch in the batch.
        said: LeaderEpoch,
        /// The leader epoch of the batch before it.
        previous: LeaderEpoch,
    },
}
