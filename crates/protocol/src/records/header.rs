use super::{Attributes, Compression, RecordsError, TimestampType};
use crate::{LeaderEpoch, Offset};

/// The timestamp, in milliseconds, that stands for none.
pub const NO_TIMESTAMP: i64 = -1;
/// The producer id that stands for none.
pub const NO_PRODUCER_ID: i64 = -1;
/// The producer epoch that stands for none.
pub const NO_PRODUCER_EPOCH: i16 = -1;
/// The sequence number that stands for none.
pub const NO_SEQUENCE: i32 = -1;

/// The fixed fields in front of the records of a batch with magic 2 (KIP-98).
///
/// Timestamps are in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchHeader {
    /// The offset that the offset deltas of the records count from.
    pub base_offset: Offset,
    /// Bytes after this field: the batch's whole size less 12.
    pub batch_length: i32,
    /// The epoch of the leader that appended the batch; -1 before one did.
    pub partition_leader_epoch: LeaderEpoch,
    /// The CRC-32C of everything from the attributes to the end of the batch.
    pub crc: u32,
    /// Compression and flags.
    pub attributes: Attributes,
    /// The last offset less the base offset. Compaction keeps it when it removes the last record.
    pub last_offset_delta: i32,
    /// What the timestamp deltas count from: the first record's timestamp, or the delete horizon.
    pub base_timestamp: i64,
    /// The largest timestamp, or the append time.
    pub max_timestamp: i64,
    /// The idempotent or transactional producer, or [`NO_PRODUCER_ID`].
    pub producer_id: i64,
    /// The producer's epoch, or [`NO_PRODUCER_EPOCH`].
    pub producer_epoch: i16,
    /// The first record's sequence number, or [`NO_SEQUENCE`].
    pub base_sequence: i32,
    /// How many records the batch has.
    pub record_count: i32,
}

impl BatchHeader {
    /// The header's length, in bytes.
    pub const LEN: usize = 61;
    /// Where the bytes start that the CRC covers.
    pub(super) const CRC_COVERS_FROM: usize = 21;
    /// Where the bytes start that [`BatchHeader::batch_length`] counts.
    pub(super) const LENGTH_COUNTS_FROM: usize = 12;

    /// Reads the fields. Every value is taken as it is; the magic byte is not looked at.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Self {
        Self {
            base_offset: Offset(i64::from_be_bytes(part(bytes, 0))),
            batch_length: i32::from_be_bytes(part(bytes, 8)),
            partition_leader_epoch: LeaderEpoch(i32::from_be_bytes(part(bytes, 12))),
            crc: u32::from_be_bytes(part(bytes, 17)),
            attributes: Attributes::from_bits(i16::from_be_bytes(part(bytes, 21))),
            last_offset_delta: i32::from_be_bytes(part(bytes, 23)),
            base_timestamp: i64::from_be_bytes(part(bytes, 27)),
            max_timestamp: i64::from_be_bytes(part(bytes, 35)),
            producer_id: i64::from_be_bytes(part(bytes, 43)),
            producer_epoch: i16::from_be_bytes(part(bytes, 51)),
            base_sequence: i32::from_be_bytes(part(bytes, 53)),
            record_count: i32::from_be_bytes(part(bytes, 57)),
        }
    }

    /// Writes the fields, with magic 2.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[0..8].copy_from_slice(&self.base_offset.0.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.batch_length.to_be_bytes());
        bytes[12..16].copy_from_slice(&self.partition_leader_epoch.0.to_be_bytes());
        bytes[16] = 2;
        bytes[17..21].copy_from_slice(&self.crc.to_be_bytes());
        bytes[21..23].copy_from_slice(&self.attributes.bits().to_be_bytes());
        bytes[23..27].copy_from_slice(&self.last_offset_delta.to_be_bytes());
        bytes[27..35].copy_from_slice(&self.base_timestamp.to_be_bytes());
        bytes[35..43].copy_from_slice(&self.max_timestamp.to_be_bytes());
        bytes[43..51].copy_from_slice(&self.producer_id.to_be_bytes());
        bytes[51..53].copy_from_slice(&self.producer_epoch.to_be_bytes());
        bytes[53..57].copy_from_slice(&self.base_sequence.to_be_bytes());
        bytes[57..61].copy_from_slice(&self.record_count.to_be_bytes());
        bytes
    }

    /// How the records are compressed, unless the code has no meaning.
    pub fn compression(&self) -> Result<Compression, RecordsError> {
        self.attributes.compression()
    }

    /// What the timestamps say.
    pub fn timestamp_type(&self) -> TimestampType {
        self.attributes.timestamp_type()
    }

    /// The timestamp of every record, where it is the time of the append.
    pub fn append_time(&self) -> Option<i64> {
        (self.timestamp_type() == TimestampType::LogAppendTime).then_some(self.max_timestamp)
    }

    /// When tombstones and transaction markers may be removed, if compaction decided that already.
    pub fn delete_horizon(&self) -> Option<i64> {
        self.attributes
            .has_delete_horizon()
            .then_some(self.base_timestamp)
    }

    /// The last offset of the batch, of a record that is gone perhaps. A hostile batch's wraps
    /// around, as it does in Apache Kafka.
    pub fn last_offset(&self) -> Offset {
        Offset(
            self.base_offset
                .0
                .wrapping_add(i64::from(self.last_offset_delta)),
        )
    }

    /// The sequence number of the last record, if the producer counts.
    pub fn last_sequence(&self) -> Option<i32> {
        self.sequence(self.last_offset_delta)
    }

    /// The sequence number of the record with an offset delta, if the producer counts.
    /// After [`i32::MAX`] comes 0.
    pub fn sequence(&self, offset_delta: i32) -> Option<i32> {
        if self.base_sequence < 0 {
            return None;
        }
        Some(self.base_sequence.wrapping_add(offset_delta) & i32::MAX)
    }
}

/// `N` bytes of the header; both are constants where this is inlined, so nothing is checked then.
#[inline(always)]
fn part<const N: usize>(bytes: &[u8; BatchHeader::LEN], at: usize) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(&bytes[at..at + N]);
    part
}
