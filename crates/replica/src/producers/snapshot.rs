use bytes::{BufMut, Bytes, BytesMut};
use klamm_protocol::data::storage::producer_snapshot::{ProducerEntry, ProducerSnapshot};
use klamm_protocol::records::NO_SEQUENCE;
use klamm_protocol::{DecodeError, EncodeError, Offset};
use thiserror::Error;

use super::{Producer, ProducerBatch, ProducerId, Producers};

/// A `.snapshot` file of producers cannot be read. An older one, or all records, have to do.
#[derive(Debug, Error)]
pub enum SnapshotError {
    /// Too short for a version and a checksum.
    #[error("a snapshot of producers has {0} bytes, which is too few")]
    Short(usize),
    /// A version that no release of Kafka has written.
    #[error("a snapshot of producers has version {0}; this release reads version {VERSION}")]
    Version(i16),
    /// The checksum is of other bytes.
    #[error("a snapshot of producers has checksum {said}, its bytes have {computed}")]
    Crc {
        /// What the file says.
        said: u32,
        /// What its bytes have.
        computed: u32,
    },
    /// The bytes are no snapshot.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

/// The only version there is.
const VERSION: i16 = 1;
/// The bytes in front of those that the checksum covers: the version and the checksum itself.
const COVERED_FROM: usize = 6;

impl Producers {
    /// Reads Kafka's file `<offset>.snapshot`, which holds what the records before that offset come
    /// to. Of each producer it has the last batch alone.
    pub fn from_snapshot(file: &Bytes, offset: Offset) -> Result<Self, SnapshotError> {
        let (Some(&[a, b]), true) = (file.first_chunk(), file.len() >= COVERED_FROM) else {
            return Err(SnapshotError::Short(file.len()));
        };
        let version = i16::from_be_bytes([a, b]);
        if version != VERSION {
            return Err(SnapshotError::Version(version));
        }
        let body: ProducerSnapshot = klamm_protocol::decode(&file.slice(2..), version)?.value;
        let computed = crc32c::crc32c(&file[COVERED_FROM..]);
        if body.crc != computed {
            return Err(SnapshotError::Crc {
                said: body.crc,
                computed,
            });
        }
        let mut producers = Self::new(offset);
        for entry in &body.producer_entries {
            producers.load(entry);
        }
        Ok(producers)
    }

    fn load(&mut self, entry: &ProducerEntry) {
        let id = ProducerId(entry.producer_id);
        let batch = (entry.last_offset >= 0).then_some(ProducerBatch {
            last_sequence: entry.last_sequence,
            last_offset: Offset(entry.last_offset),
            offset_delta: entry.offset_delta,
            timestamp: entry.timestamp,
        });
        let start = entry.current_txn_first_offset;
        let producer = Producer {
            epoch: entry.epoch,
            coordinator_epoch: entry.coordinator_epoch,
            last_timestamp: entry.timestamp,
            transaction_start: (start >= 0).then_some(Offset(start)),
            batches: batch.into_iter().collect(),
        };
        if let Some(start) = producer.transaction_start {
            self.ongoing.insert(start, id);
        }
        self.known.insert(id, producer);
    }

    /// The bytes of Kafka's file `<end>.snapshot`.
    pub fn to_snapshot(&self) -> Result<Bytes, EncodeError> {
        let body = ProducerSnapshot {
            producer_entries: self
                .iter()
                .map(|(id, producer)| entry(id, producer))
                .collect(),
            ..ProducerSnapshot::default()
        };
        let body = klamm_protocol::encode(&body, VERSION)?;
        let mut file = BytesMut::with_capacity(2 + body.len());
        file.put_i16(VERSION);
        file.put(body);
        let crc = crc32c::crc32c(&file[COVERED_FROM..]);
        file[2..COVERED_FROM].copy_from_slice(&crc.to_be_bytes());
        Ok(file.freeze())
    }
}

fn entry(id: ProducerId, producer: &Producer) -> ProducerEntry {
    let last = producer.batches().last();
    ProducerEntry {
        producer_id: id.0,
        epoch: producer.epoch,
        last_sequence: last.map_or(NO_SEQUENCE, |batch| batch.last_sequence),
        last_offset: last.map_or(-1, |batch| batch.last_offset.0),
        offset_delta: last.map_or(0, |batch| batch.offset_delta),
        timestamp: producer.last_timestamp,
        coordinator_epoch: producer.coordinator_epoch,
        current_txn_first_offset: producer.transaction_start.map_or(-1, |start| start.0),
    }
}
