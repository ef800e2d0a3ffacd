use alloc::vec::Vec;

use super::{
    Attributes, BatchHeader, BuildError, Codec, Compression, ControlKey, ControlType, Header,
    Headers, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, NO_TIMESTAMP, Record, RecordBatch,
    RecordsError, TimestampType, codec,
};
use crate::wire::{put_varint, put_varlong, varint_len, varlong_len};
use crate::{LeaderEpoch, Offset};

/// The fields of a batch that do not come from its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchOptions {
    /// The base offset: 0 in what a producer sends.
    pub base_offset: Offset,
    /// The last offset, if it is to be later than the last record's, as compaction keeps it.
    pub last_offset: Option<Offset>,
    /// The epoch of the leader that appends the batch; -1 in what a producer sends.
    pub partition_leader_epoch: LeaderEpoch,
    /// How to compress.
    pub codec: Codec,
    /// The idempotent or transactional producer.
    pub producer_id: i64,
    /// The producer's epoch.
    pub producer_epoch: i16,
    /// The sequence number of a record at the base offset.
    pub base_sequence: i32,
    /// Whether the batch belongs to a transaction.
    pub transactional: bool,
    /// Whether the records are control records.
    pub control: bool,
    /// The time of the append in milliseconds, if it is to hold for all records.
    pub append_time: Option<i64>,
    /// When compaction may remove tombstones and markers, in milliseconds (KIP-534).
    pub delete_horizon: Option<i64>,
}

impl Default for BatchOptions {
    /// What a producer without idempotence sends, uncompressed.
    fn default() -> Self {
        Self {
            base_offset: Offset(0),
            last_offset: None,
            partition_leader_epoch: LeaderEpoch(-1),
            codec: Codec::default(),
            producer_id: NO_PRODUCER_ID,
            producer_epoch: NO_PRODUCER_EPOCH,
            base_sequence: NO_SEQUENCE,
            transactional: false,
            control: false,
            append_time: None,
            delete_horizon: None,
        }
    }
}

impl BatchOptions {
    /// The options of a batch that is to replace another: same fields, same offset range, same
    /// compression at its default level.
    pub fn like(header: &BatchHeader) -> Result<Self, RecordsError> {
        Ok(Self {
            base_offset: header.base_offset,
            last_offset: Some(header.last_offset()),
            partition_leader_epoch: header.partition_leader_epoch,
            codec: Codec::new(header.compression()?),
            producer_id: header.producer_id,
            producer_epoch: header.producer_epoch,
            base_sequence: header.base_sequence,
            transactional: header.attributes.is_transactional(),
            control: header.attributes.is_control(),
            append_time: header.append_time(),
            delete_horizon: header.delete_horizon(),
        })
    }
}

/// What a new record carries. Its offset is the next one of the batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewRecord<'a> {
    /// Milliseconds since 1970.
    pub timestamp: i64,
    /// The key.
    pub key: Option<&'a [u8]>,
    /// The value; none makes a tombstone.
    pub value: Option<&'a [u8]>,
    /// The headers.
    pub headers: &'a [Header<'a>],
}

/// Builds a batch of magic 2.
///
/// Records are appended to the buffer that becomes the batch, unless it is compressed: then
/// [`BatchBuilder::finish`] makes one more.
#[derive(Clone, Debug)]
pub struct BatchBuilder {
    options: BatchOptions,
    /// Room for the header, then the records.
    buf: Vec<u8>,
    count: i32,
    /// -1 before the first record.
    last_offset_delta: i32,
    base_timestamp: i64,
    max_timestamp: i64,
}

/// The longest batch, in bytes: its length field is an int32 and leaves 12 bytes out.
const MAX_LEN: usize = i32::MAX as usize + BatchHeader::LENGTH_COUNTS_FROM;

impl BatchBuilder {
    /// A builder without records.
    pub fn new(options: BatchOptions) -> Self {
        Self::with_capacity(options, 0)
    }

    /// A builder with room for records of `len` bytes. A full guess saves every reallocation.
    pub fn with_capacity(options: BatchOptions, len: usize) -> Self {
        let mut buf = Vec::with_capacity(BatchHeader::LEN + len);
        buf.resize(BatchHeader::LEN, 0);
        Self {
            base_timestamp: options.delete_horizon.unwrap_or(NO_TIMESTAMP),
            options,
            buf,
            count: 0,
            last_offset_delta: -1,
            max_timestamp: NO_TIMESTAMP,
        }
    }

    /// The size of the batch so far in bytes, before compression.
    #[expect(clippy::len_without_is_empty, reason = "the header is always there")]
    pub fn len(&self) -> usize {
        self.buf.len()
    }

    /// How many records it has.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// The size in bytes with one more record, before compression.
    pub fn len_with(&self, record: &NewRecord<'_>) -> usize {
        let body = self.delta(self.next_offset()).map_or(usize::MAX, |delta| {
            let headers = HeadersIn::New(record.headers);
            self.body_len(delta, record.timestamp, record.key, record.value, &headers)
        });
        self.len().saturating_add(prefixed_len(body))
    }

    /// The offset of the record that [`BatchBuilder::append`] would append.
    pub fn next_offset(&self) -> Offset {
        let delta = i64::from(self.last_offset_delta) + 1;
        Offset(self.options.base_offset.0.saturating_add(delta))
    }

    /// Appends a record at the next offset.
    pub fn append(&mut self, record: &NewRecord<'_>) -> Result<(), BuildError> {
        self.append_at(self.next_offset(), record)
    }

    /// Appends a record at an offset after the last one.
    pub fn append_at(&mut self, offset: Offset, record: &NewRecord<'_>) -> Result<(), BuildError> {
        if self.options.control {
            return Err(BuildError::ControlMix);
        }
        let headers = HeadersIn::New(record.headers);
        self.push(offset, record.timestamp, record.key, record.value, &headers)
    }

    /// Appends a record of another batch with its offset and timestamp.
    pub fn append_record(&mut self, record: &Record<'_>) -> Result<(), BuildError> {
        if self.options.control && ControlKey::parse(record.key()).is_err() {
            return Err(BuildError::ControlMix);
        }
        let headers = HeadersIn::Read(record.headers());
        self.push(
            record.offset(),
            record.timestamp(),
            record.key(),
            record.value(),
            &headers,
        )
    }

    /// Appends a control record, to a batch whose options say that it has such. `value` is the
    /// message that belongs to the kind, encoded as Kafka's log has it.
    pub fn append_control(
        &mut self,
        kind: ControlType,
        timestamp: i64,
        value: &[u8],
    ) -> Result<(), BuildError> {
        if !self.options.control {
            return Err(BuildError::ControlMix);
        }
        let key = ControlKey::new(kind).to_bytes();
        let headers = HeadersIn::New(&[]);
        self.push(
            self.next_offset(),
            timestamp,
            Some(&key),
            Some(value),
            &headers,
        )
    }

    /// Compresses the records, and writes the header.
    pub fn finish(self) -> Result<RecordBatch, BuildError> {
        let Self {
            options,
            mut buf,
            count,
            last_offset_delta,
            base_timestamp,
            ..
        } = self;
        if count == 0 {
            return Err(BuildError::Empty);
        }
        let last_offset_delta = match options.last_offset {
            None => last_offset_delta,
            Some(offset) => last_delta(&options, offset, last_offset_delta)?,
        };
        options.codec.check()?;
        if options.codec.compression != Compression::None {
            buf = codec::compress(options.codec, &buf[BatchHeader::LEN..], BatchHeader::LEN)?;
        }
        if buf.len() > MAX_LEN {
            return Err(BuildError::TooLong(buf.len()));
        }
        let timestamp_type = match options.append_time {
            Some(_) => TimestampType::LogAppendTime,
            None => TimestampType::CreateTime,
        };
        let mut header = BatchHeader {
            base_offset: options.base_offset,
            batch_length: (buf.len() - BatchHeader::LENGTH_COUNTS_FROM) as i32,
            partition_leader_epoch: options.partition_leader_epoch,
            crc: 0,
            attributes: Attributes::default()
                .with_compression(options.codec.compression)
                .with_timestamp_type(timestamp_type)
                .with_transactional(options.transactional)
                .with_control(options.control)
                .with_delete_horizon(options.delete_horizon.is_some()),
            last_offset_delta,
            base_timestamp,
            max_timestamp: options.append_time.unwrap_or(self.max_timestamp),
            producer_id: options.producer_id,
            producer_epoch: options.producer_epoch,
            base_sequence: options.base_sequence,
            record_count: count,
        };
        buf[..BatchHeader::LEN].copy_from_slice(&header.to_bytes());
        header.crc = crc32c::crc32c(&buf[BatchHeader::CRC_COVERS_FROM..]);
        buf[..BatchHeader::LEN].copy_from_slice(&header.to_bytes());
        Ok(RecordBatch::new(buf.into()))
    }

    fn delta(&self, offset: Offset) -> Result<i32, BuildError> {
        let delta = offset.0.checked_sub(self.options.base_offset.0);
        match delta.and_then(|delta| i32::try_from(delta).ok()) {
            Some(delta) if delta > self.last_offset_delta => Ok(delta),
            _ => Err(bad_offset(&self.options, offset, self.last_offset_delta)),
        }
    }

    fn body_len(
        &self,
        offset_delta: i32,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: &HeadersIn<'_>,
    ) -> usize {
        let len = 1
            + varlong_len(timestamp.wrapping_sub(self.base_timestamp_for(timestamp)))
            + varint_len(offset_delta);
        len.saturating_add(nullable_len(key))
            .saturating_add(nullable_len(value))
            .saturating_add(headers.wire_len())
    }

    fn base_timestamp_for(&self, timestamp: i64) -> i64 {
        // The first record sets what the others are relative to, unless a delete horizon is there.
        match self.count == 0 && self.options.delete_horizon.is_none() {
            true => timestamp,
            false => self.base_timestamp,
        }
    }

    fn push(
        &mut self,
        offset: Offset,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: &HeadersIn<'_>,
    ) -> Result<(), BuildError> {
        let delta = self.delta(offset)?;
        let body_len = self.body_len(delta, timestamp, key, value, headers);
        let record_len = prefixed_len(body_len);
        if record_len > MAX_LEN - self.buf.len() {
            return Err(BuildError::TooLong(
                self.buf.len().saturating_add(record_len),
            ));
        }
        self.base_timestamp = self.base_timestamp_for(timestamp);
        self.max_timestamp = self.max_timestamp.max(timestamp);
        self.last_offset_delta = delta;
        self.count += 1;

        let buf = &mut self.buf;
        buf.reserve(record_len);
        put_varint(buf, body_len as i32);
        buf.push(0);
        put_varlong(buf, timestamp.wrapping_sub(self.base_timestamp));
        put_varint(buf, delta);
        put_nullable(buf, key);
        put_nullable(buf, value);
        headers.put(buf);
        Ok(())
    }
}

fn last_delta(options: &BatchOptions, offset: Offset, last: i32) -> Result<i32, BuildError> {
    let delta = offset.0.checked_sub(options.base_offset.0);
    match delta.and_then(|delta| i32::try_from(delta).ok()) {
        Some(delta) if delta >= last => Ok(delta),
        _ => Err(bad_offset(options, offset, last)),
    }
}

fn bad_offset(options: &BatchOptions, offset: Offset, last: i32) -> BuildError {
    let base = options.base_offset;
    BuildError::Offset {
        offset,
        previous: base.0.saturating_add(last.into()),
        base,
    }
}

/// Headers to write: new ones, or a record's as they are.
enum HeadersIn<'a> {
    New(&'a [Header<'a>]),
    Read(Headers<'a>),
}

impl HeadersIn<'_> {
    fn count(&self) -> usize {
        match self {
            Self::New(headers) => headers.len(),
            Self::Read(headers) => headers.len(),
        }
    }

    fn wire_len(&self) -> usize {
        let len = match self {
            Self::New(headers) => headers.iter().fold(0usize, |len, header| {
                len.saturating_add(nullable_len(Some(header.key)))
                    .saturating_add(nullable_len(header.value))
            }),
            Self::Read(headers) => headers.raw().len(),
        };
        // A count that is cut off here has headers too long for any batch.
        len.saturating_add(varint_len(self.count() as i32))
    }

    fn put(&self, buf: &mut Vec<u8>) {
        put_varint(buf, self.count() as i32);
        match self {
            Self::New(headers) => {
                for header in *headers {
                    put_nullable(buf, Some(header.key));
                    put_nullable(buf, header.value);
                }
            }
            Self::Read(headers) => buf.extend_from_slice(headers.raw()),
        }
    }
}

/// A length and what it counts.
fn prefixed_len(len: usize) -> usize {
    len.saturating_add(varint_len(i32::try_from(len).unwrap_or(i32::MAX)))
}

fn nullable_len(bytes: Option<&[u8]>) -> usize {
    bytes.map_or(1, |bytes| prefixed_len(bytes.len()))
}

fn put_nullable(buf: &mut Vec<u8>, bytes: Option<&[u8]>) {
    match bytes {
        None => put_varint(buf, -1),
        Some(bytes) => {
            put_varint(buf, bytes.len() as i32);
            buf.extend_from_slice(bytes);
        }
    }
}
