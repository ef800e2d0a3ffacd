use core::fmt;
use std::collections::BTreeMap;

use klamm_protocol::Offset;
use klamm_protocol::records::{
    BatchHeader, ControlKey, ControlType, DecompressLimit, NO_PRODUCER_ID, RecordBatch,
    RecordsError,
};

use crate::ProduceError;

mod producer;
mod snapshot;

pub use producer::{Producer, ProducerBatch};
pub use snapshot::SnapshotError;

/// The id of an idempotent or transactional producer, 0 or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProducerId(pub i64);

impl ProducerId {
    /// The producer of a batch, if it has one.
    pub fn of(header: &BatchHeader) -> Option<Self> {
        (header.producer_id > NO_PRODUCER_ID).then_some(Self(header.producer_id))
    }
}

impl fmt::Display for ProducerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What the producers of a partition have written last (KIP-98): who repeats a batch is answered
/// with the first one's offset, who leaves one out is refused.
///
/// It is what the log's records make of it, in order. It is recovered from a snapshot and the
/// records after that. A producer that it does not know may begin with any sequence number, since
/// its records may be gone: Apache Kafka 4 answers none with UNKNOWN_PRODUCER_ID.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Producers {
    known: BTreeMap<ProducerId, Producer>,
    /// Transactions that go on, by their first offset.
    ongoing: BTreeMap<Offset, ProducerId>,
    /// Transactions that have ended above the high watermark: first offset, offset of the marker.
    undecided: BTreeMap<Offset, Offset>,
    end: Offset,
}

/// What to do with a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Append,
    /// It is in the log already.
    Duplicate(ProducerBatch),
}

impl Producers {
    /// No producers, of a log whose records before `end` are not told of.
    pub fn new(end: Offset) -> Self {
        Self {
            end,
            ..Self::default()
        }
    }

    /// The end of the records that this is made of.
    pub fn end(&self) -> Offset {
        self.end
    }

    /// The producers, by id.
    pub fn iter(&self) -> impl Iterator<Item = (ProducerId, &Producer)> {
        self.known.iter().map(|(id, producer)| (*id, producer))
    }

    /// What is known of a producer.
    pub fn producer(&self, id: ProducerId) -> Option<&Producer> {
        self.known.get(&id)
    }

    /// The first offset of a transaction that has not ended, or whose end is not committed.
    /// Consumers that read committed records alone read no further.
    pub fn first_unstable(&self) -> Option<Offset> {
        let first = [self.ongoing.keys().next(), self.undecided.keys().next()];
        first.into_iter().flatten().min().copied()
    }

    /// Takes note of a batch of the log, with its offset: for recovery, and of what a leader sent.
    /// Nothing is checked, for the leader has done so.
    pub fn replay(&mut self, batch: &RecordBatch) -> Result<(), RecordsError> {
        let header = batch.header();
        let marker = match ProducerId::of(header) {
            Some(id) if header.attributes.is_control() => Marker::read(batch)?.map(|m| (id, m)),
            _ => None,
        };
        match marker {
            Some((id, marker)) => self.end_transaction(id, header, marker),
            None if header.attributes.is_control() => {}
            None => self.append(header),
        }
        self.end = header.last_offset().next();
        Ok(())
    }

    /// Checks a batch of a client.
    pub(crate) fn check(&self, header: &BatchHeader) -> Result<Verdict, ProduceError> {
        let Some(id) = ProducerId::of(header) else {
            return Ok(Verdict::Append);
        };
        match self.known.get(&id) {
            Some(producer) => producer.check(id, header),
            None => Ok(Verdict::Append),
        }
    }

    /// Takes note of a batch that is no control batch, with its offset.
    pub(crate) fn append(&mut self, header: &BatchHeader) {
        self.end = header.last_offset().next();
        let Some(id) = ProducerId::of(header) else {
            return;
        };
        let producer = self.known.entry(id).or_default();
        producer.append(header);
        if header.attributes.is_transactional() && producer.transaction_start.is_none() {
            producer.transaction_start = Some(header.base_offset);
            self.ongoing.insert(header.base_offset, id);
        }
    }

    fn end_transaction(&mut self, id: ProducerId, header: &BatchHeader, marker: Marker) {
        let producer = self.known.entry(id).or_default();
        if let Some(start) = producer.transaction_start.take() {
            self.ongoing.remove(&start);
            self.undecided.insert(start, header.base_offset);
        }
        producer.end_transaction(header, marker.coordinator_epoch, marker.timestamp);
    }

    /// Transactions whose end is committed hold back nobody any more.
    pub(crate) fn high_watermark(&mut self, offset: Offset) {
        self.undecided.retain(|_, marker| *marker >= offset);
    }

    /// The log begins later than it did.
    pub(crate) fn log_start(&mut self, offset: Offset) {
        self.undecided.retain(|_, marker| *marker >= offset);
        self.end = self.end.max(offset);
    }

    /// Forgets producers that have written nothing for `expiration_ms`
    /// (`producer.id.expiration.ms`) at a time in milliseconds since 1970.
    pub fn expire(&mut self, now_ms: i64, expiration_ms: i64) {
        self.known.retain(|_, producer| {
            let idle_ms = now_ms.saturating_sub(producer.last_timestamp);
            producer.transaction_start.is_some() || idle_ms < expiration_ms
        });
    }
}

/// What follows an offset.
trait Next {
    fn next(self) -> Self;
}

impl Next for Offset {
    fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// What a marker at the end of a transaction says beside how it ended.
#[derive(Clone, Copy, Debug)]
struct Marker {
    coordinator_epoch: i32,
    timestamp: i64,
}

impl Marker {
    /// A marker has a few bytes.
    const LIMIT: usize = 64 * 1024;

    /// The marker in a control batch; `None` where compaction has removed it, and in control
    /// batches of KRaft.
    fn read(batch: &RecordBatch) -> Result<Option<Self>, RecordsError> {
        let limit = DecompressLimit(Self::LIMIT);
        let records = batch.records(limit)?;
        let Some(record) = (&records).into_iter().next().transpose()? else {
            return Ok(None);
        };
        let key = ControlKey::parse(record.key())?;
        if !matches!(key.kind, ControlType::Abort | ControlType::Commit) {
            return Ok(None);
        }
        // A version in two bytes, then the epoch; later versions may have more.
        let epoch = record
            .value()
            .and_then(|value| value.get(2..6)?.first_chunk());
        Ok(Some(Self {
            coordinator_epoch: epoch.map_or(-1, |bytes| i32::from_be_bytes(*bytes)),
            timestamp: record.timestamp(),
        }))
    }
}

#[cfg(test)]
mod tests;
