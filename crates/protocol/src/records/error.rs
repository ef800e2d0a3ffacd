use alloc::string::String;

use thiserror::Error;

use super::Compression;
use crate::Offset;
use crate::wire::DecodeError;

/// Why records could not be read. Whoever wrote them is to blame, except for
/// [`RecordsError::NotBuiltIn`] (this build) and [`RecordsError::Limit`] (the reader's own limit).
///
/// `at` in an error of a batch counts from the start of the records field; in an error of a record
/// it counts from the first record of its batch, after decompression. Both are bytes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// A batch's length field is less than its own header needs.
    #[error("batch at byte {at} says that {said} bytes follow its length, at least {least} must")]
    BatchLength {
        /// Where the batch starts.
        at: usize,
        /// Its length field: bytes after that field.
        said: i32,
        /// The least that the field can be.
        least: usize,
    },
    /// A batch of a format that does not exist.
    #[error("batch at byte {at} has magic {magic}, which is none of 0, 1 and 2")]
    Magic {
        /// Where the batch starts.
        at: usize,
        /// The magic byte.
        magic: i8,
    },
    /// Bytes that should be one whole batch are more or less than that.
    #[error("one batch of {needed} bytes was expected in {len} bytes")]
    NotOneBatch {
        /// What the batch's length field and header need.
        needed: usize,
        /// How many bytes there are.
        len: usize,
    },
    /// The checksum does not fit the bytes: they were changed after they were written.
    #[error("batch at offset {offset} carries CRC {said:#010x}, its bytes have {computed:#010x}")]
    Crc {
        /// The batch's base offset, or the offset of a message of an older format.
        offset: Offset,
        /// The checksum in the batch.
        said: u32,
        /// The checksum of its bytes.
        computed: u32,
    },
    /// A compression code without a meaning.
    #[error("compression code {0} does not exist")]
    UnknownCompression(u8),
    /// This build has no codecs: the feature `compression` is off.
    #[error("records are compressed with {0}, which this build leaves out (feature `compression`)")]
    NotBuiltIn(Compression),
    /// The compressed bytes are broken.
    #[error("records are not valid {compression}: {reason}")]
    Decompress {
        /// What the batch says it is compressed with.
        compression: Compression,
        /// What the codec says.
        reason: String,
    },
    /// The records become larger than the reader allows.
    #[error("records decompress from {compression} to more than the limit of {limit} bytes")]
    Limit {
        /// What the batch is compressed with.
        compression: Compression,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A record count that is negative or that the batch's bytes cannot hold.
    #[error("batch claims {count} records in {len} bytes")]
    RecordCount {
        /// The claimed count.
        count: i32,
        /// The bytes of all records, decompressed.
        len: usize,
    },
    /// A record's field is broken or goes past the end of the batch.
    #[error("record {index} of the batch is broken at byte {at}: {fault}")]
    Record {
        /// The record's place in the batch, from 0.
        index: u32,
        /// Where reading stopped.
        at: usize,
        /// What is wrong there.
        #[source]
        fault: DecodeError,
    },
    /// A record took another number of bytes than its length says.
    #[error("record {index} of the batch, at byte {at}, says {said} bytes and takes {taken}")]
    RecordLength {
        /// The record's place in the batch, from 0.
        index: u32,
        /// Where the record starts.
        at: usize,
        /// The bytes after its length field, as that field says.
        said: i32,
        /// The bytes that its fields take.
        taken: usize,
    },
    /// There are bytes after the last record that the batch's count announces.
    #[error("{left} bytes follow the last of {count} records")]
    BytesAfterRecords {
        /// The batch's record count.
        count: u32,
        /// Bytes after the last record.
        left: usize,
    },
    /// A compressed message (magic 0 or 1) without a message inside.
    #[error("compressed message at offset {offset} holds no message")]
    NoInnerMessage {
        /// The compressed message's offset.
        offset: Offset,
    },
    /// A message inside of a compressed message is compressed itself.
    #[error("message {index} inside of a compressed message is compressed itself")]
    NestedCompression {
        /// The inner message's place, from 0.
        index: u32,
    },
    /// A message inside of a compressed message has another format than that.
    #[error("message {index} inside of a compressed message has magic {inner}, not {outer}")]
    InnerMagic {
        /// The inner message's place, from 0.
        index: u32,
        /// Its magic byte.
        inner: i8,
        /// The compressed message's.
        outer: i8,
    },
    /// The relative offsets in a compressed message of magic 1 reach past its own.
    #[error("compressed message has offset {outer}, less than its last relative offset {last}")]
    InnerOffset {
        /// The compressed message's offset.
        outer: i64,
        /// The relative offset of the last message inside.
        last: i64,
    },
    /// A control record without a key, or with one too short for a version and a type.
    #[error("control record key has {0} bytes, not 4")]
    ControlKeyLength(usize),
    /// A control record's key has a version below 0.
    #[error("control record key has version {0}")]
    ControlKeyVersion(i16),
}

/// Why a batch could not be built. The caller is to blame.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An offset that is not after the one before, or too far from the base offset.
    #[error("offset {offset} cannot follow {previous} in a batch with base offset {base}")]
    Offset {
        /// The offset that does not fit.
        offset: Offset,
        /// The last offset so far; one before the base offset in an empty batch.
        previous: i64,
        /// The batch's base offset.
        base: Offset,
    },
    /// A batch, or a record, longer than a length field can say.
    #[error("a batch of {0} bytes is more than its length field can say")]
    TooLong(usize),
    /// A batch without records of which no offset range is known.
    #[error("a batch without records needs a last offset")]
    Empty,
    /// A compression level that the codec does not have.
    #[error("{compression} has no level {level}")]
    Level {
        /// The codec.
        compression: Compression,
        /// The level asked for.
        level: i32,
    },
    /// This build has no codecs: the feature `compression` is off.
    #[error("this build cannot compress with {0} (feature `compression`)")]
    NotBuiltIn(Compression),
    /// A codec failed.
    #[error("compressing with {compression} failed: {reason}")]
    Compress {
        /// The codec.
        compression: Compression,
        /// What it says.
        reason: String,
    },
    /// A control record among others, or another record in a control batch.
    #[error("control records and other records cannot share a batch")]
    ControlMix,
}
