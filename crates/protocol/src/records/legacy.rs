//! Message sets: the formats 0 (before Kafka 0.10) and 1 (KIP-31, KIP-32), which are read only.

use bytes::Bytes;

use super::codec;
use super::record::{Headers, Record, Records};
use super::{Attributes, Compression, DecompressLimit, NO_TIMESTAMP, RecordsError, TimestampType};
use crate::Offset;
use crate::wire::{DecodeError, Reader};

/// Offset and length in front of every message.
const PREFIX_LEN: usize = 12;
/// CRC, magic, attributes and the lengths of key and value.
pub(super) const V0_MIN_LEN: usize = 14;
/// The same with a timestamp.
pub(super) const V1_MIN_LEN: usize = 22;

/// A message of magic 0 or 1: one record, or several compressed in its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegacyBatch {
    bytes: Bytes,
    offset: Offset,
    crc: u32,
    magic: i8,
    attributes: Attributes,
    timestamp: i64,
}

impl LegacyBatch {
    /// Takes over one whole message with its prefix, whose length and magic were checked.
    pub(super) fn new(bytes: Bytes) -> Self {
        Self::read(bytes).expect("the length was checked")
    }

    fn read(bytes: Bytes) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(&bytes);
        let offset = Offset(reader.i64()?);
        reader.skip(4)?;
        let crc = reader.u32()?;
        let magic = reader.i8()?;
        let attributes = Attributes::from_bits(i16::from(reader.i8()?));
        let timestamp = if magic == 0 {
            NO_TIMESTAMP
        } else {
            reader.i64()?
        };
        Ok(Self {
            bytes,
            offset,
            crc,
            magic,
            attributes,
            timestamp,
        })
    }

    /// All bytes, from the offset to the end of the value.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The offset: of the last message inside, if it is compressed.
    pub fn offset(&self) -> Offset {
        self.offset
    }

    /// The format: 0 or 1.
    pub fn magic(&self) -> i8 {
        self.magic
    }

    /// The CRC-32 that the message carries, over everything after it.
    pub fn crc(&self) -> u32 {
        self.crc
    }

    /// How the messages inside are compressed; [`Compression::None`] where it is a record itself.
    pub fn compression(&self) -> Result<Compression, RecordsError> {
        self.attributes.compression()
    }

    /// What the timestamp says; none in format 0.
    pub fn timestamp_type(&self) -> Option<TimestampType> {
        (self.magic > 0).then(|| self.attributes.timestamp_type())
    }

    /// The timestamp in milliseconds since 1970, the largest of those inside if it is compressed;
    /// [`NO_TIMESTAMP`] in format 0.
    pub fn timestamp(&self) -> i64 {
        self.timestamp
    }

    /// Compares the CRC-32 with the bytes. The messages inside of a compressed one have their own,
    /// which are compared when they are read.
    pub fn verify_crc(&self) -> Result<(), RecordsError> {
        verify(self.offset, self.crc, &self.bytes[PREFIX_LEN..])
    }

    /// The record, or the records inside, decompressed.
    pub fn records(&self, limit: DecompressLimit) -> Result<Records, RecordsError> {
        let set = Set {
            magic: self.magic,
            outer: None,
        };
        let compression = self.compression()?;
        if compression == Compression::None {
            return Ok(Records::of_messages(set, self.bytes.clone()));
        }
        let wrapper = set.next(&self.bytes, &mut Reader::new(&self.bytes), 0)?;
        let value = wrapper.and_then(|wrapper| wrapper.value());
        let value = value.ok_or(RecordsError::NoInnerMessage {
            offset: self.offset,
        })?;
        let body = Bytes::from(codec::decompress(compression, self.magic, value, limit)?);
        let base = self.inner_base(&body)?;
        // KIP-32: if the broker set the time of the append, it did so in the outer message only.
        let append_time =
            (self.timestamp_type() == Some(TimestampType::LogAppendTime)).then_some(self.timestamp);
        let outer = Some(Outer { base, append_time });
        Ok(Records::of_messages(
            Set {
                magic: self.magic,
                outer,
            },
            body,
        ))
    }

    /// What to add to the offsets inside. In format 0 they are absolute. In format 1 they are
    /// relative, and the outer offset belongs to the last one.
    fn inner_base(&self, body: &Bytes) -> Result<i64, RecordsError> {
        let mut last = None;
        let mut reader = Reader::new(body);
        while let Some((offset, len)) = prefix(&mut reader)? {
            last = Some(offset);
            if reader.skip(len).is_err() {
                break;
            }
        }
        let last = last.ok_or(RecordsError::NoInnerMessage {
            offset: self.offset,
        })?;
        // Some versions of librdkafka produce with an outer offset of 0 (as Apache Kafka notes).
        if self.magic == 0 || self.offset.0 == 0 {
            return Ok(0);
        }
        match self.offset.0.checked_sub(last) {
            Some(base) if base >= 0 => Ok(base),
            _ => Err(RecordsError::InnerOffset {
                outer: self.offset.0,
                last,
            }),
        }
    }
}

/// How to read the messages in a run of bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Set {
    magic: i8,
    /// Set if they were in a compressed message.
    outer: Option<Outer>,
}

#[derive(Clone, Copy, Debug)]
struct Outer {
    base: i64,
    append_time: Option<i64>,
}

impl Set {
    pub(super) fn next<'a>(
        &self,
        body: &'a Bytes,
        reader: &mut Reader<'a>,
        index: u32,
    ) -> Result<Option<Record<'a>>, RecordsError> {
        let at = reader.position();
        let Some((offset, len)) = prefix(reader)? else {
            return Ok(None);
        };
        let start = reader.position();
        let mut record = match self.fields(body, reader, index, (offset, len)) {
            Ok(record) => record?,
            Err(fault) => {
                return Err(RecordsError::Record {
                    index,
                    at: reader.position(),
                    fault,
                });
            }
        };
        let taken = reader.position() - start;
        if taken != len {
            return Err(RecordsError::RecordLength {
                index,
                at,
                said: len as i32,
                taken,
            });
        }
        if let Some(outer) = self.outer {
            record.offset = Offset(outer.base.wrapping_add(offset));
            record.timestamp = outer.append_time.unwrap_or(record.timestamp);
        }
        Ok(Some(record))
    }

    fn fields<'a>(
        &self,
        body: &'a Bytes,
        reader: &mut Reader<'a>,
        index: u32,
        (offset, len): (i64, usize),
    ) -> Result<Result<Record<'a>, RecordsError>, DecodeError> {
        let start = reader.position();
        let crc = reader.u32()?;
        let magic = reader.i8()?;
        let attributes = Attributes::from_bits(i16::from(reader.i8()?));
        if self.outer.is_some() {
            if magic != self.magic {
                let outer = self.magic;
                return Ok(Err(RecordsError::InnerMagic {
                    index,
                    inner: magic,
                    outer,
                }));
            }
            if let Err(error) = verify(Offset(offset), crc, &body[start..start + len]) {
                return Ok(Err(error));
            }
            if attributes.compression() != Ok(Compression::None) {
                return Ok(Err(RecordsError::NestedCompression { index }));
            }
        }
        let timestamp = if magic == 0 {
            NO_TIMESTAMP
        } else {
            reader.i64()?
        };
        let key = nullable(reader, body)?;
        let value = nullable(reader, body)?;
        Ok(Ok(Record {
            body,
            offset: Offset(offset),
            timestamp,
            sequence: None,
            key,
            value,
            headers: Headers::none(body),
        }))
    }
}

/// Reads the offset and the length in front of a message. `None` at the end, and where the rest is
/// no whole message: Apache Kafka's readers stop there without an error as well.
fn prefix(reader: &mut Reader<'_>) -> Result<Option<(i64, usize)>, RecordsError> {
    let at = reader.position();
    let (Ok(offset), Ok(said)) = (reader.i64(), reader.i32()) else {
        return Ok(None);
    };
    match usize::try_from(said) {
        Ok(len) if len > reader.remaining() => Ok(None),
        Ok(len) if len >= V0_MIN_LEN => Ok(Some((offset, len))),
        _ => Err(RecordsError::BatchLength {
            at,
            said,
            least: V0_MIN_LEN,
        }),
    }
}

/// `message` starts with its CRC, which covers the rest.
fn verify(offset: Offset, said: u32, message: &[u8]) -> Result<(), RecordsError> {
    let computed = crc32fast::hash(&message[4..]);
    if said == computed {
        Ok(())
    } else {
        Err(RecordsError::Crc {
            offset,
            said,
            computed,
        })
    }
}

fn nullable<'a>(reader: &mut Reader<'a>, body: &'a Bytes) -> Result<Option<&'a [u8]>, DecodeError> {
    let Ok(len) = usize::try_from(reader.i32()?) else {
        return Ok(None);
    };
    let start = reader.position();
    reader.skip(len)?;
    Ok(Some(&body[start..start + len]))
}
