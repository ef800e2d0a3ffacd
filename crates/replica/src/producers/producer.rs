use klamm_protocol::records::{BatchHeader, NO_PRODUCER_EPOCH, NO_SEQUENCE, NO_TIMESTAMP};
use klamm_protocol::{Offset, SmallVec};

use super::{ProducerId, Verdict};
use crate::ProduceError;

/// What is known of a producer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Producer {
    /// Its epoch; a batch of an earlier one is refused.
    pub epoch: i16,
    /// The epoch of the coordinator that ended its last transaction; -1 for none.
    pub coordinator_epoch: i32,
    /// When it has written last, in milliseconds since 1970.
    pub last_timestamp: i64,
    /// Where its transaction begins, if one goes on.
    pub transaction_start: Option<Offset>,
    /// Its last batches, the latest one last. Kafka's clients have five on their way at most.
    pub(super) batches: SmallVec<[ProducerBatch; 1]>,
}

/// A batch that a producer has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerBatch {
    /// The last record's sequence number.
    pub last_sequence: i32,
    /// The last record's offset.
    pub last_offset: Offset,
    /// The last record's offset less the first one's.
    pub offset_delta: i32,
    /// The largest timestamp, in milliseconds since 1970.
    pub timestamp: i64,
}

impl ProducerBatch {
    fn of(header: &BatchHeader) -> Self {
        Self {
            last_sequence: header.last_sequence().unwrap_or(NO_SEQUENCE),
            last_offset: header.last_offset(),
            offset_delta: header.last_offset_delta,
            timestamp: header.max_timestamp,
        }
    }

    /// The first record's offset.
    pub fn first_offset(&self) -> Offset {
        Offset(self.last_offset.0 - i64::from(self.offset_delta))
    }

    /// The first record's sequence number: after [`i32::MAX`] comes 0.
    pub fn first_sequence(&self) -> i32 {
        self.last_sequence.wrapping_sub(self.offset_delta) & i32::MAX
    }
}

impl Default for Producer {
    fn default() -> Self {
        Self {
            epoch: NO_PRODUCER_EPOCH,
            coordinator_epoch: -1,
            last_timestamp: NO_TIMESTAMP,
            transaction_start: None,
            batches: SmallVec::new(),
        }
    }
}

impl Producer {
    /// How many batches are remembered.
    pub const BATCHES: usize = 5;

    /// Its last batches, the latest one last.
    pub fn batches(&self) -> &[ProducerBatch] {
        &self.batches
    }

    pub(super) fn check(
        &self,
        id: ProducerId,
        header: &BatchHeader,
    ) -> Result<Verdict, ProduceError> {
        if let Some(duplicate) = self.duplicate(header) {
            return Ok(Verdict::Duplicate(duplicate));
        }
        if header.producer_epoch < self.epoch {
            return Err(ProduceError::InvalidProducerEpoch {
                producer: id,
                epoch: header.producer_epoch,
                current: self.epoch,
            });
        }
        let last = match self.batches.last() {
            Some(batch) if header.producer_epoch == self.epoch => batch.last_sequence,
            _ => NO_SEQUENCE,
        };
        // An epoch begins at 0, which is what follows -1 and the last number too.
        let follows = last.wrapping_add(1) & i32::MAX;
        if header.base_sequence != follows && self.epoch != NO_PRODUCER_EPOCH {
            return Err(ProduceError::OutOfOrderSequence {
                producer: id,
                sequence: header.base_sequence,
                last,
            });
        }
        if self.transaction_start.is_some() && !header.attributes.is_transactional() {
            return Err(ProduceError::InvalidTransactionState(id));
        }
        Ok(Verdict::Append)
    }

    fn duplicate(&self, header: &BatchHeader) -> Option<ProducerBatch> {
        if header.producer_epoch != self.epoch {
            return None;
        }
        let (first, last) = (header.base_sequence, header.last_sequence()?);
        let mut batches = self.batches.iter();
        batches
            .find(|batch| batch.last_sequence == last && batch.first_sequence() == first)
            .copied()
    }

    pub(super) fn append(&mut self, header: &BatchHeader) {
        self.begin_epoch(header.producer_epoch);
        if self.batches.len() == Self::BATCHES {
            self.batches.remove(0);
        }
        self.batches.push(ProducerBatch::of(header));
        self.last_timestamp = header.max_timestamp;
    }

    pub(super) fn end_transaction(
        &mut self,
        header: &BatchHeader,
        coordinator_epoch: i32,
        timestamp: i64,
    ) {
        self.begin_epoch(header.producer_epoch);
        self.coordinator_epoch = coordinator_epoch;
        self.last_timestamp = timestamp;
    }

    fn begin_epoch(&mut self, epoch: i16) {
        if self.epoch != epoch {
            self.epoch = epoch;
            self.batches.clear();
        }
    }
}
