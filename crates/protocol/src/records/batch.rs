use bytes::Bytes;

use super::record::Records;
use super::{
    BatchHeader, Compression, DecompressLimit, NO_TIMESTAMP, RecordsError, TimestampType, batches,
    codec,
};
use crate::{LeaderEpoch, Offset};

/// A batch of magic 2, as a view on the bytes it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordBatch {
    header: BatchHeader,
    bytes: Bytes,
}

impl RecordBatch {
    /// Reads the header of bytes that are exactly one batch.
    pub fn parse(bytes: Bytes) -> Result<Self, RecordsError> {
        let frame = batches::frame(&bytes, 0)?;
        match frame.whole {
            Some(needed) if needed != bytes.len() => Err(RecordsError::NotOneBatch {
                needed,
                len: bytes.len(),
            }),
            Some(_) if frame.magic == 2 => Ok(Self::new(bytes)),
            Some(_) => Err(RecordsError::Magic {
                at: 0,
                magic: frame.magic,
            }),
            None => Err(RecordsError::NotOneBatch {
                needed: BatchHeader::LEN,
                len: bytes.len(),
            }),
        }
    }

    /// Takes over one whole batch, whose length and magic were checked.
    pub(super) fn new(bytes: Bytes) -> Self {
        let header = bytes.first_chunk().map(BatchHeader::from_bytes);
        Self {
            header: header.expect("the length was checked"),
            bytes,
        }
    }

    /// The fields in front of the records.
    pub fn header(&self) -> &BatchHeader {
        &self.header
    }

    /// All bytes of the batch.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The bytes of the batch.
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// The records as they are in the batch: compressed, if they are.
    pub fn body(&self) -> Bytes {
        self.bytes.slice(BatchHeader::LEN..)
    }

    /// Compares the CRC-32C with the bytes.
    pub fn verify_crc(&self) -> Result<(), RecordsError> {
        let computed = crc32c::crc32c(&self.bytes[BatchHeader::CRC_COVERS_FROM..]);
        let BatchHeader {
            base_offset: offset,
            crc: said,
            ..
        } = self.header;
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

    /// The records. Uncompressed ones are views on the batch's own bytes, others on one new buffer.
    pub fn records(&self, limit: DecompressLimit) -> Result<Records, RecordsError> {
        let body = match self.header.compression()? {
            Compression::None => self.body(),
            // Compaction may leave no records, and then there is nothing to decompress.
            _ if self.bytes.len() == BatchHeader::LEN => Bytes::new(),
            compression => {
                let input = &self.bytes[BatchHeader::LEN..];
                Bytes::from(codec::decompress(compression, 2, input, limit)?)
            }
        };
        Records::of_batch(self.header, body)
    }

    /// The batch that remains when compaction removes all records, with its offset range and what
    /// is known of its producer, so that sequence numbers are not forgotten.
    pub fn without_records(&self) -> Self {
        let mut header = self.header;
        header.batch_length = (BatchHeader::LEN - BatchHeader::LENGTH_COUNTS_FROM) as i32;
        header.attributes = header
            .attributes
            .with_compression(Compression::None)
            .with_delete_horizon(false);
        header.base_timestamp = NO_TIMESTAMP;
        header.record_count = 0;
        header.crc = crc32c::crc32c(&header.to_bytes()[BatchHeader::CRC_COVERS_FROM..]);
        Self {
            header,
            bytes: Bytes::copy_from_slice(&header.to_bytes()),
        }
    }

    /// The header with a stamp, to be written in front of [`RecordBatch::body`] without a copy.
    pub fn stamped_header(&self, stamp: &Stamp) -> [u8; BatchHeader::LEN] {
        let mut header = self.header;
        if !stamp.apply(&mut header) {
            return header.to_bytes();
        }
        let covered = &header.to_bytes()[BatchHeader::CRC_COVERS_FROM..];
        header.crc =
            crc32c::crc32c_append(crc32c::crc32c(covered), &self.bytes[BatchHeader::LEN..]);
        header.to_bytes()
    }

    /// The batch with a stamp: in place if nothing else holds its bytes, else a copy.
    pub fn restamped(self, stamp: &Stamp) -> Self {
        let header = self.stamped_header(stamp);
        let bytes = match self.bytes.try_into_mut() {
            Ok(mut bytes) => {
                bytes[..header.len()].copy_from_slice(&header);
                bytes.freeze()
            }
            Err(bytes) => Bytes::from([&header, &bytes[header.len()..]].concat()),
        };
        Self::new(bytes)
    }
}

/// What a leader sets in a batch when it appends it; `None` keeps what the batch has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The first record's offset.
    pub base_offset: Option<Offset>,
    /// The leader's epoch.
    pub partition_leader_epoch: Option<LeaderEpoch>,
    /// The largest timestamp of the records, or the time of the append, in milliseconds. Only this
    /// changes bytes that the CRC covers.
    pub max_timestamp: Option<(TimestampType, i64)>,
}

impl Stamp {
    /// Sets the fields, and says whether the CRC covers one that changed.
    fn apply(&self, header: &mut BatchHeader) -> bool {
        header.base_offset = self.base_offset.unwrap_or(header.base_offset);
        header.partition_leader_epoch = self
            .partition_leader_epoch
            .unwrap_or(header.partition_leader_epoch);
        let before = (header.attributes, header.max_timestamp);
        if let Some((timestamp_type, timestamp)) = self.max_timestamp {
            header.attributes = header.attributes.with_timestamp_type(timestamp_type);
            header.max_timestamp = timestamp;
        }
        before != (header.attributes, header.max_timestamp)
    }
}
