use core::fmt;

use super::RecordsError;

/// How a batch's records are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// gzip, RFC 1952.
    Gzip,
    /// Snappy, in the framing of snappy-java or as one raw block.
    Snappy,
    /// The LZ4 frame format.
    Lz4,
    /// Zstandard, RFC 8878.
    Zstd,
}

impl Compression {
    /// Every kind, in the order of the codes.
    pub const ALL: [Self; 5] = [Self::None, Self::Gzip, Self::Snappy, Self::Lz4, Self::Zstd];

    /// The code in the lowest three bits of the attributes.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The kind with a code.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The name in Kafka's configs, such as `compression.type`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What the timestamps of records say (KIP-32).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimestampType {
    /// When the producer created each record.
    #[default]
    CreateTime,
    /// When the leader appended the batch: the batch's largest timestamp holds for all its records.
    LogAppendTime,
}

const COMPRESSION: i16 = 0b111;
const LOG_APPEND_TIME: i16 = 1 << 3;
const TRANSACTIONAL: i16 = 1 << 4;
const CONTROL: i16 = 1 << 5;
const DELETE_HORIZON: i16 = 1 << 6;

/// The attributes of a batch: compression in three bits, then flags.
///
/// Bits without a meaning are kept.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Attributes(i16);

impl Attributes {
    /// The attributes with these bits.
    pub const fn from_bits(bits: i16) -> Self {
        Self(bits)
    }

    /// All bits.
    pub const fn bits(self) -> i16 {
        self.0
    }

    /// How the records are compressed, unless the code has no meaning.
    pub fn compression(self) -> Result<Compression, RecordsError> {
        let code = (self.0 & COMPRESSION) as u8;
        Compression::from_code(code).ok_or(RecordsError::UnknownCompression(code))
    }

    /// What the timestamps say.
    pub const fn timestamp_type(self) -> TimestampType {
        if self.has(LOG_APPEND_TIME) {
            TimestampType::LogAppendTime
        } else {
            TimestampType::CreateTime
        }
    }

    /// Whether the batch belongs to a transaction.
    pub const fn is_transactional(self) -> bool {
        self.has(TRANSACTIONAL)
    }

    /// Whether the records are control records, which clients do not see.
    pub const fn is_control(self) -> bool {
        self.has(CONTROL)
    }

    /// Whether the base timestamp is the time at which tombstones may go (KIP-534).
    pub const fn has_delete_horizon(self) -> bool {
        self.has(DELETE_HORIZON)
    }

    /// The same with another compression.
    pub const fn with_compression(self, compression: Compression) -> Self {
        Self(self.0 & !COMPRESSION | compression.code() as i16)
    }

    /// The same with another type of timestamps.
    pub const fn with_timestamp_type(self, timestamp_type: TimestampType) -> Self {
        self.with(
            LOG_APPEND_TIME,
            matches!(timestamp_type, TimestampType::LogAppendTime),
        )
    }

    /// The same, in a transaction or not.
    pub const fn with_transactional(self, transactional: bool) -> Self {
        self.with(TRANSACTIONAL, transactional)
    }

    /// The same, with control records or not.
    pub const fn with_control(self, control: bool) -> Self {
        self.with(CONTROL, control)
    }

    /// The same, with a delete horizon or not.
    pub const fn with_delete_horizon(self, delete_horizon: bool) -> Self {
        self.with(DELETE_HORIZON, delete_horizon)
    }

    const fn has(self, flag: i16) -> bool {
        self.0 & flag != 0
    }

    const fn with(self, flag: i16, on: bool) -> Self {
        Self(if on { self.0 | flag } else { self.0 & !flag })
    }
}

impl fmt::Debug for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Attributes({:#b})", self.0)
    }
}
