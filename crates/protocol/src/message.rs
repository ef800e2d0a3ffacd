use core::fmt;

use bytes::Bytes;

use crate::wire::{DecodeError, EncodeError, Reader, Segments, Writer};
use crate::{ApiKey, ApiVersion};

/// The versions of a message, from the first to the last, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VersionRange {
    /// The first version.
    pub min: i16,
    /// The last version; less than `min` where there is none.
    pub max: i16,
}

impl VersionRange {
    /// No version at all.
    pub const NONE: Self = Self { min: 0, max: -1 };

    /// The range from `min` to `max`, both included.
    pub const fn new(min: i16, max: i16) -> Self {
        Self { min, max }
    }

    /// Whether `version` is in the range.
    pub const fn contains(self, version: i16) -> bool {
        self.min <= version && version <= self.max
    }

    /// Whether there is no version in the range.
    pub const fn is_empty(self) -> bool {
        self.max < self.min
    }

    /// The versions in both ranges.
    pub fn intersect(self, other: Self) -> Self {
        Self {
            min: self.min.max(other.min),
            max: self.max.min(other.max),
        }
    }

    /// The versions in order.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = i16> {
        self.min..=self.max
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            f.write_str("none")
        } else if self.min == self.max {
            write!(f, "{}", self.min)
        } else {
            write!(f, "{}-{}", self.min, self.max)
        }
    }
}

/// A message of a schema: a request, a response, a header, or what Kafka keeps in its logs.
pub trait Message: Clone + Default + fmt::Debug + PartialEq + Send + Sync + 'static {
    /// The schema's name, such as `ElectLeadersRequest`.
    const NAME: &'static str;
    /// Every version that is coded, an unstable latest one included.
    const VERSIONS: VersionRange;
    /// The versions with compact lengths and tagged fields (KIP-482).
    const FLEXIBLE: VersionRange;

    /// Writes this value in a version, and refuses what the version cannot carry. Long byte arrays and
    /// records are shared. The version is one of [`Message::VERSIONS`]; [`encode`] checks that.
    fn write<'w, 'm>(&'m self, version: i16, writer: Writer<'w, 'm>) -> Writer<'w, 'm>;

    /// Reads into this value, which is the default still; bytes after it stay in the reader.
    /// The version is one of [`Message::VERSIONS`]; [`decode`] checks that.
    fn read(&mut self, reader: &mut Reader<'_>, version: i16) -> Result<(), DecodeError>;
}

/// A request, which names its API and the response that belongs to it.
pub trait Request: Message {
    /// The API's key.
    const KEY: ApiKey;
    /// The versions that may be offered: [`Message::VERSIONS`] without an unstable latest one.
    const STABLE: VersionRange;
    /// The response, which is always in the request's version.
    type Response: Message;

    /// This API in a version, for headers and messages.
    fn api_version(version: i16) -> ApiVersion {
        ApiVersion {
            key: Self::KEY,
            version,
        }
    }
}

/// A value, and how many bytes were left after it.
///
/// Apache Kafka ignores bytes after a body, so a server does; a test calls them an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded<T> {
    /// The value.
    pub value: T,
    /// Bytes that follow it in the frame.
    pub left: usize,
}

/// Encodes a message into one buffer of exactly its size.
pub fn encode<M: Message>(message: &M, version: i16) -> Result<Bytes, EncodeError> {
    Segments::write_joined(|writer| write_checked(message, version, writer))
}

/// Encodes a message into segments: long byte arrays and records are shared, not copied.
pub fn encode_segments<M: Message>(message: &M, version: i16) -> Result<Segments, EncodeError> {
    Segments::write(|writer| write_checked(message, version, writer))
}

/// Writes a message, or refuses a version that it does not have.
pub fn write_checked<'w, 'm, M: Message>(
    message: &'m M,
    version: i16,
    mut writer: Writer<'w, 'm>,
) -> Writer<'w, 'm> {
    if M::VERSIONS.contains(version) {
        return message.write(version, writer);
    }
    writer.refuse(EncodeError::UnsupportedVersion {
        message: M::NAME,
        version,
    });
    writer
}

/// Decodes a message from the start of a buffer. Strings and bytes are views on it.
pub fn decode<M: Message>(bytes: &Bytes, version: i16) -> Result<Decoded<M>, DecodeError> {
    let mut reader = Reader::new(bytes);
    let value = read_checked(&mut reader, version)?;
    Ok(Decoded {
        value,
        left: reader.remaining(),
    })
}

#[inline(always)]
pub(crate) fn read_checked<M: Message>(
    reader: &mut Reader<'_>,
    version: i16,
) -> Result<M, DecodeError> {
    if !M::VERSIONS.contains(version) {
        return Err(DecodeError::UnsupportedVersion {
            message: M::NAME,
            version,
        });
    }
    let mut message = M::default();
    message.read(reader, version)?;
    Ok(message)
}
