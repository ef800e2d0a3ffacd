use core::time::Duration;

use klamm_protocol::Offset;
use klamm_protocol::records::{BatchHeader, Stamp};

use crate::producers::Verdict;
use crate::replica::Role;
use crate::{Brokers, ProduceError, ProducerBatch, Replica, ReplicaError};

/// What a producer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// Nothing: it gets no answer.
    None,
    /// The leader's log.
    Leader,
    /// The logs of all replicas in sync.
    All,
}

impl Acks {
    /// The number on the wire; others are INVALID_REQUIRED_ACKS.
    pub fn from_wire(acks: i16) -> Option<Self> {
        match acks {
            0 => Some(Self::None),
            1 => Some(Self::Leader),
            -1 => Some(Self::All),
            _ => None,
        }
    }
}

/// What to do with a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Write it, and say [`Replica::appended`].
    Append(Prepared),
    /// It is in the log already: the answer is the one of the first time. With acks=all it waits
    /// for the end of that batch.
    Duplicate(ProducerBatch),
}

/// A batch that may be written at the end of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Prepared {
    header: BatchHeader,
    end: Offset,
}

impl Prepared {
    /// The first record's offset.
    pub fn base(&self) -> Offset {
        self.header.base_offset
    }

    /// The end of the log with the batch.
    pub fn end(&self) -> Offset {
        self.end
    }

    /// What is to be written into the batch.
    pub fn stamp(&self) -> Stamp {
        Stamp {
            base_offset: Some(self.header.base_offset),
            partition_leader_epoch: Some(self.header.partition_leader_epoch),
            max_timestamp: None,
        }
    }
}

/// The machine's name for a request that waits for acks=all; a later one is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaiterId(pub u64);

impl Replica {
    /// Decides on a batch of a client, and changes nothing. The caller has checked the records; the
    /// header is as it is written, but for the offset and the leader epoch.
    pub fn admit(&self, batch: &BatchHeader, acks: Acks) -> Result<Admission, ProduceError> {
        self.check(None, true)?;
        let Role::Leader(leader) = &self.role else {
            return Err(ReplicaError::NotLeader.into());
        };
        let (in_sync, needed) = (leader.isr.committed().len(), leader.min_isr(&self.settings));
        if acks == Acks::All && in_sync < needed {
            return Err(ProduceError::NotEnoughReplicas { in_sync, needed });
        }
        if let Verdict::Duplicate(batch) = self.producers.check(batch)? {
            return Ok(Admission::Duplicate(batch));
        }
        let mut header = *batch;
        header.base_offset = self.log.end();
        header.partition_leader_epoch = self.leader_epoch;
        let records = i64::from(header.last_offset_delta).checked_add(1);
        let end = records
            .filter(|records| *records > 0)
            .and_then(|records| header.base_offset.0.checked_add(records))
            .ok_or(ProduceError::Offsets)?;
        let end = Offset(end);
        Ok(Admission::Append(Prepared { header, end }))
    }

    /// The batch is written. Nothing may have happened since [`Replica::admit`].
    pub fn appended(&mut self, prepared: Prepared, now: Duration, brokers: &dyn Brokers) {
        let Prepared { header, end } = prepared;
        assert_eq!(
            (header.base_offset, header.partition_leader_epoch),
            (self.log.end(), self.leader_epoch),
            "a batch is written where it was admitted"
        );
        self.log
            .append(header.partition_leader_epoch, header.base_offset, end);
        self.producers.append(&header);
        self.advance(now, brokers);
    }

    /// Waits until the records before `end` are committed, with an [`Acked`](crate::Acked) as the
    /// answer; `None` where they are. The caller bounds how many wait, and how long.
    pub fn await_commit(&mut self, end: Offset) -> Result<Option<WaiterId>, ProduceError> {
        self.check(None, true)?;
        let Role::Leader(leader) = &mut self.role else {
            return Err(ReplicaError::NotLeader.into());
        };
        if self.log.high_watermark() < end {
            return Ok(Some(leader.waiting.add(end)));
        }
        leader.check_after_append(&self.settings)?;
        Ok(None)
    }

    /// Gives up waiting, since the request's time is over, and says whether it did: there will be
    /// no other answer then.
    pub fn stop_waiting(&mut self, waiter: WaiterId) -> bool {
        match &mut self.role {
            Role::Leader(leader) => leader.waiting.remove(waiter),
            _ => false,
        }
    }
}
