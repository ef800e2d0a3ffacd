use core::iter::FusedIterator;

use bytes::Bytes;

use super::{BatchHeader, RecordsError, legacy};
use crate::Offset;
use crate::wire::{DecodeError, Reader};

/// The least that a record takes: length, attributes, two deltas, two lengths and a header count.
const RECORD_MIN_LEN: usize = 7;

/// The records of one batch, decompressed but not yet read: [`Records::iter`] reads them one by one
/// and allocates nothing.
#[derive(Clone, Debug)]
pub struct Records {
    body: Bytes,
    layout: Layout,
}

#[derive(Clone, Debug)]
enum Layout {
    /// Magic 2.
    Batch { header: BatchHeader, count: u32 },
    /// Messages of magic 0 or 1, one after the other.
    Messages(legacy::Set),
}

impl Records {
    pub(super) fn of_batch(header: BatchHeader, body: Bytes) -> Result<Self, RecordsError> {
        match u32::try_from(header.record_count) {
            Ok(count) if count as usize <= body.len() / RECORD_MIN_LEN => Ok(Self {
                body,
                layout: Layout::Batch { header, count },
            }),
            _ => Err(RecordsError::RecordCount {
                count: header.record_count,
                len: body.len(),
            }),
        }
    }

    pub(super) fn of_messages(set: legacy::Set, body: Bytes) -> Self {
        Self {
            body,
            layout: Layout::Messages(set),
        }
    }

    /// How many records the batch says it has; `None` in the older formats, which do not say it.
    pub fn declared_count(&self) -> Option<usize> {
        match self.layout {
            Layout::Batch { count, .. } => Some(count as usize),
            Layout::Messages(_) => None,
        }
    }

    /// The bytes of all records, decompressed. Keys, values and headers are parts of it.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Reads the records in order. The first error ends the iteration.
    pub fn iter(&self) -> RecordsIter<'_> {
        RecordsIter {
            records: self,
            reader: Reader::new(&self.body),
            index: 0,
            done: false,
        }
    }

    /// A view, without a copy, on a part of [`Records::body`], such as a header's value. Bytes from
    /// elsewhere are copied.
    pub fn share(&self, part: &[u8]) -> Bytes {
        share(&self.body, part)
    }
}

impl<'a> IntoIterator for &'a Records {
    type Item = Result<Record<'a>, RecordsError>;
    type IntoIter = RecordsIter<'a>;

    fn into_iter(self) -> RecordsIter<'a> {
        self.iter()
    }
}

/// One record, as a view on its batch.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    pub(super) body: &'a Bytes,
    pub(super) offset: Offset,
    pub(super) timestamp: i64,
    pub(super) sequence: Option<i32>,
    pub(super) key: Option<&'a [u8]>,
    pub(super) value: Option<&'a [u8]>,
    pub(super) headers: Headers<'a>,
}

impl<'a> Record<'a> {
    /// The record's offset.
    pub fn offset(&self) -> Offset {
        self.offset
    }

    /// When the record was created, or appended where its batch says so, in milliseconds since 1970.
    /// [`NO_TIMESTAMP`](super::NO_TIMESTAMP) in format 0.
    pub fn timestamp(&self) -> i64 {
        self.timestamp
    }

    /// The sequence number that its producer gave it, if that counts.
    pub fn sequence(&self) -> Option<i32> {
        self.sequence
    }

    /// The key.
    pub fn key(&self) -> Option<&'a [u8]> {
        self.key
    }

    /// The value; none in a tombstone.
    pub fn value(&self) -> Option<&'a [u8]> {
        self.value
    }

    /// The headers (KIP-82), none in the older formats.
    pub fn headers(&self) -> Headers<'a> {
        self.headers
    }

    /// The key as a view, without a copy, that keeps the batch's bytes alive.
    pub fn key_bytes(&self) -> Option<Bytes> {
        self.key.map(|key| share(self.body, key))
    }

    /// The value as a view, without a copy, that keeps the batch's bytes alive.
    pub fn value_bytes(&self) -> Option<Bytes> {
        self.value.map(|value| share(self.body, value))
    }
}

/// The headers of one record, checked already.
#[derive(Clone, Copy, Debug)]
pub struct Headers<'a> {
    body: &'a Bytes,
    start: usize,
    end: usize,
    count: u32,
}

impl<'a> Headers<'a> {
    pub(super) fn none(body: &'a Bytes) -> Self {
        Self {
            body,
            start: 0,
            end: 0,
            count: 0,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The headers in order; a key may occur more than once.
    pub fn iter(&self) -> HeadersIter<'a> {
        let mut reader = Reader::new(self.body);
        let left = if reader.skip(self.start).is_ok() {
            self.count
        } else {
            0
        };
        HeadersIter {
            body: self.body,
            reader,
            left,
        }
    }

    /// The headers without their count, as they are on the wire.
    pub(super) fn raw(&self) -> &'a [u8] {
        &self.body[self.start..self.end]
    }
}

impl<'a> IntoIterator for Headers<'a> {
    type Item = Header<'a>;
    type IntoIter = HeadersIter<'a>;

    fn into_iter(self) -> HeadersIter<'a> {
        self.iter()
    }
}

/// Reads the headers of a record: see [`Headers::iter`].
#[derive(Debug)]
pub struct HeadersIter<'a> {
    body: &'a Bytes,
    reader: Reader<'a>,
    left: u32,
}

impl<'a> Iterator for HeadersIter<'a> {
    type Item = Header<'a>;

    fn next(&mut self) -> Option<Header<'a>> {
        self.left = self.left.checked_sub(1)?;
        // They were read once when their record was: there is no error left to find.
        header(&mut self.reader, self.body).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for HeadersIter<'_> {}

/// One header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// The key: text by contract, but brokers do not check that, so it may be any bytes.
    pub key: &'a [u8],
    /// The value.
    pub value: Option<&'a [u8]>,
}

impl<'a> Header<'a> {
    /// A header with a value.
    pub fn new(key: &'a str, value: &'a [u8]) -> Self {
        Self {
            key: key.as_bytes(),
            value: Some(value),
        }
    }

    /// The key, if it is the text that it should be.
    pub fn key_str(&self) -> Option<&'a str> {
        core::str::from_utf8(self.key).ok()
    }
}

/// Reads the records of a batch: see [`Records::iter`].
#[derive(Debug)]
pub struct RecordsIter<'a> {
    records: &'a Records,
    reader: Reader<'a>,
    index: u32,
    done: bool,
}

impl<'a> RecordsIter<'a> {
    /// How many bytes of [`Records::body`] were read: where the next record starts.
    pub fn position(&self) -> usize {
        self.reader.position()
    }

    #[inline]
    fn read(&mut self) -> Option<Result<Record<'a>, RecordsError>> {
        match &self.records.layout {
            Layout::Batch { header, count } => {
                if self.index < *count {
                    return Some(self.record(header));
                }
                match self.reader.remaining() {
                    0 => None,
                    left => Some(Err(RecordsError::BytesAfterRecords {
                        count: *count,
                        left,
                    })),
                }
            }
            Layout::Messages(set) => set
                .next(&self.records.body, &mut self.reader, self.index)
                .transpose(),
        }
    }

    #[inline]
    fn record(&mut self, header: &BatchHeader) -> Result<Record<'a>, RecordsError> {
        let at = self.reader.position();
        let said = self.reader.varint().map_err(|fault| self.broken(fault))?;
        let start = self.reader.position();
        let record = fields(&mut self.reader, &self.records.body, header)
            .map_err(|fault| self.broken(fault))?;
        let taken = self.reader.position() - start;
        if i64::from(said) != taken as i64 {
            return Err(RecordsError::RecordLength {
                index: self.index,
                at,
                said,
                taken,
            });
        }
        Ok(record)
    }

    #[cold]
    fn broken(&self, fault: DecodeError) -> RecordsError {
        RecordsError::Record {
            index: self.index,
            at: self.reader.position(),
            fault,
        }
    }
}

impl<'a> Iterator for RecordsIter<'a> {
    type Item = Result<Record<'a>, RecordsError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let item = self.read();
        self.done = !matches!(item, Some(Ok(_)));
        self.index = self.index.wrapping_add(1);
        item
    }
}

impl FusedIterator for RecordsIter<'_> {}

/// Reads a record after its length.
#[inline]
fn fields<'a>(
    reader: &mut Reader<'a>,
    body: &'a Bytes,
    batch: &BatchHeader,
) -> Result<Record<'a>, DecodeError> {
    // The attributes of a record have no meaning yet.
    reader.skip(1)?;
    let timestamp_delta = reader.varlong()?;
    let offset_delta = reader.varint()?;
    let key = nullable(reader, body)?;
    let value = nullable(reader, body)?;
    let count = reader.varint()?;
    let count = u32::try_from(count).map_err(|_| DecodeError::NegativeLength(count.into()))?;
    let start = reader.position();
    for _ in 0..count {
        header(reader, body)?;
    }
    Ok(Record {
        body,
        offset: Offset(batch.base_offset.0.wrapping_add(i64::from(offset_delta))),
        timestamp: match batch.append_time() {
            Some(time) => time,
            None => batch.base_timestamp.wrapping_add(timestamp_delta),
        },
        sequence: batch.sequence(offset_delta),
        key,
        value,
        headers: Headers {
            body,
            start,
            end: reader.position(),
            count,
        },
    })
}

#[inline]
fn header<'a>(reader: &mut Reader<'a>, body: &'a Bytes) -> Result<Header<'a>, DecodeError> {
    let key = nullable(reader, body)?.ok_or(DecodeError::Null("header key"))?;
    Ok(Header {
        key,
        value: nullable(reader, body)?,
    })
}

/// Bytes after a varint length. Apache Kafka takes every negative length for null.
#[inline]
fn nullable<'a>(reader: &mut Reader<'a>, body: &'a Bytes) -> Result<Option<&'a [u8]>, DecodeError> {
    let Ok(len) = usize::try_from(reader.varint()?) else {
        return Ok(None);
    };
    let start = reader.position();
    reader.skip(len)?;
    Ok(Some(&body[start..start + len]))
}

fn share(body: &Bytes, part: &[u8]) -> Bytes {
    // `Bytes::slice_ref` panics on bytes from elsewhere.
    let start = (part.as_ptr() as usize).wrapping_sub(body.as_ptr() as usize);
    match start.checked_add(part.len()) {
        Some(end) if end <= body.len() => body.slice(start..end),
        _ => Bytes::copy_from_slice(part),
    }
}
