use core::time::Duration;

use klamm_metadata::BrokerEpoch;
use klamm_protocol::{BrokerId, EpochEnd, LeaderEpoch, Offset};

use crate::progress::FollowerLog;
use crate::replica::Role;
use crate::{Brokers, Output, Replica, ReplicaError};

/// Who fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A broker that follows.
    Replica {
        /// Which.
        id: BrokerId,
        /// Its epoch; `None` for -1, which requests before version 15 have.
        epoch: Option<BrokerEpoch>,
    },
    /// A consumer.
    Consumer {
        /// How far it reads.
        isolation: Isolation,
        /// Whether it may read from a follower (KIP-392).
        any_replica: bool,
    },
}

/// How far a consumer reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Up to the high watermark.
    ReadUncommitted,
    /// Up to the first transaction that is not decided.
    ReadCommitted,
}

/// What a Fetch says of a partition. What is -1 on the wire is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchPosition {
    /// The leader epoch that the reader knows.
    pub current_leader_epoch: Option<LeaderEpoch>,
    /// The first offset it wants.
    pub offset: Offset,
    /// The epoch of the record before that (from version 12 on).
    pub last_fetched_epoch: Option<LeaderEpoch>,
    /// Where a follower's log begins.
    pub log_start: Offset,
}

/// What is answered to a Fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchReply {
    /// What to read, or why there is nothing.
    pub found: Readable,
    /// The high watermark.
    pub high_watermark: Offset,
    /// The end of what is decided.
    pub last_stable: Offset,
    /// Where the log begins.
    pub log_start: Offset,
}

/// What a reader may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readable {
    /// The records from one offset to before another; none where both are the same.
    Records {
        /// The first.
        from: Offset,
        /// The end.
        to: Offset,
    },
    /// The reader's log parts from this one here, at the latest. It has to be cut.
    Diverging(EpochEnd),
}

impl Replica {
    /// Answers a Fetch, and takes note of where a follower is.
    pub fn fetch(
        &mut self,
        position: &FetchPosition,
        reader: Reader,
        now: Duration,
        brokers: &dyn Brokers,
    ) -> Result<FetchReply, ReplicaError> {
        let reply = self.read(position, reader)?;
        if let (Reader::Replica { id, epoch }, Readable::Records { .. }) = (reader, reply.found) {
            self.note_fetch(position, id, epoch, now, brokers)?;
        }
        Ok(reply)
    }

    /// What a reader may read now; notes nothing.
    pub fn read(
        &self,
        position: &FetchPosition,
        reader: Reader,
    ) -> Result<FetchReply, ReplicaError> {
        let leader_only = !matches!(
            reader,
            Reader::Consumer {
                any_replica: true,
                ..
            }
        );
        self.check(position.current_leader_epoch, leader_only)?;
        if let (Role::Leader(leader), Reader::Replica { id, .. }) = (&self.role, reader)
            && !leader.followers.contains_key(&id)
        {
            // With an epoch in the request, this broker does not know of a new assignment yet.
            return Err(match position.current_leader_epoch {
                Some(epoch) => ReplicaError::UnknownReplica(epoch),
                None => ReplicaError::NotLeader,
            });
        }
        let to = match reader {
            Reader::Replica { .. } => self.log.end(),
            Reader::Consumer { isolation, .. } => self.end_for(isolation),
        };
        let from = position.offset;
        let (start, end) = (self.log.start(), self.log.end());
        let out_of_range = ReplicaError::OffsetOutOfRange {
            asked: from,
            start,
            end,
        };
        let mut found = Readable::Records {
            from,
            to: to.max(from),
        };
        if let Some(epoch) = position.last_fetched_epoch {
            let known = self.log.end_of(epoch).ok_or(out_of_range)?;
            if known.epoch < epoch || known.end < from {
                found = Readable::Diverging(known);
            }
        }
        let is_diverging = matches!(found, Readable::Diverging(_));
        if from < start || from > end && !is_diverging {
            return Err(out_of_range);
        }
        Ok(FetchReply {
            found,
            high_watermark: self.log.high_watermark(),
            last_stable: self.last_stable(),
            log_start: start,
        })
    }

    fn note_fetch(
        &mut self,
        position: &FetchPosition,
        id: BrokerId,
        epoch: Option<BrokerEpoch>,
        now: Duration,
        brokers: &dyn Brokers,
    ) -> Result<(), ReplicaError> {
        let Role::Leader(leader) = &mut self.role else {
            return Err(ReplicaError::NotLeader);
        };
        let known = brokers.standing(id).map(|standing| standing.epoch);
        if epoch.is_some_and(|epoch| known.is_some_and(|known| known > epoch)) {
            return Err(ReplicaError::StaleBrokerEpoch);
        }
        let Some(progress) = leader.followers.get_mut(&id) else {
            return Err(ReplicaError::UnknownReplica(self.leader_epoch));
        };
        let follower = FollowerLog {
            start: position.log_start,
            end: position.offset,
            broker_epoch: epoch,
        };
        progress.fetched(follower, self.log.end(), now);
        if leader.is_joining(id, &self.log, brokers) {
            let isr = leader.isr.committed().clone();
            let epochs = (self.leader_epoch, self.partition_epoch);
            let proposal = leader.propose(&isr, Some(id), epochs.0, epochs.1);
            self.outputs.push_back(Output::AlterPartition(proposal));
        }
        self.advance(now, brokers);
        Ok(())
    }

    /// A follower has asked again, at `at`, for what it asked for when [`Replica::fetch`] was called
    /// last, and nothing has changed here since. It suffices to say so before the next batch is
    /// appended: until then a follower that has everything is not behind whenever it asked.
    pub fn asked_again(&mut self, follower: BrokerId, at: Duration) {
        let end = self.log.end();
        if let Role::Leader(leader) = &mut self.role
            && let Some(progress) = leader.followers.get_mut(&follower)
        {
            progress.asked_again(end, at);
        }
    }

    fn end_for(&self, isolation: Isolation) -> Offset {
        match isolation {
            Isolation::ReadUncommitted => self.log.high_watermark(),
            Isolation::ReadCommitted => self.last_stable(),
        }
    }

    /// Where an epoch ends: what OffsetForLeaderEpoch asks. `None` (-1 and -1 on the wire) where
    /// this log does not know.
    pub fn end_of_epoch(
        &self,
        epoch: LeaderEpoch,
        current_leader_epoch: Option<LeaderEpoch>,
    ) -> Result<Option<EpochEnd>, ReplicaError> {
        self.check(current_leader_epoch, true)?;
        Ok(self.log.end_of(epoch))
    }

    /// The latest offset: what ListOffsets asks, of a follower without an isolation level. A
    /// consumer is refused until the leader's high watermark has come to the start of its epoch,
    /// for it would see the offset go back.
    pub fn latest_offset(
        &self,
        isolation: Option<Isolation>,
        current_leader_epoch: Option<LeaderEpoch>,
    ) -> Result<Offset, ReplicaError> {
        self.check(current_leader_epoch, true)?;
        match (&self.role, isolation) {
            (Role::Leader(leader), Some(_)) if leader.epoch_start > self.log.high_watermark() => {
                Err(ReplicaError::OffsetNotAvailable(self.leader_epoch))
            }
            (_, Some(isolation)) => Ok(self.end_for(isolation)),
            (_, None) => Ok(self.log.end()),
        }
    }

    /// Deletes the records before an offset, none but committed ones: what DeleteRecords asks, with
    /// `None` for all that are committed. It is done when [`Replica::low_watermark`] is there.
    pub fn delete_records(&mut self, before: Option<Offset>) -> Result<Offset, ReplicaError> {
        self.check(None, true)?;
        let (start, end) = (self.log.start(), self.log.high_watermark());
        let to = before.unwrap_or(end);
        if to > end || to < Offset(0) {
            return Err(ReplicaError::OffsetOutOfRange {
                asked: to,
                start,
                end,
            });
        }
        if self.log.delete_before(to) {
            self.producers.log_start(to);
            self.outputs.push_back(Output::DeleteBefore(to));
        }
        Ok(to)
    }

    /// The least first offset of all replicas on brokers that are not fenced.
    pub fn low_watermark(&self, brokers: &dyn Brokers) -> Result<Offset, ReplicaError> {
        let Role::Leader(leader) = &self.role else {
            return Err(ReplicaError::NotLeader);
        };
        let followers = leader.followers.iter();
        let starts = followers
            .filter(|(id, _)| brokers.standing(**id).is_some())
            .map(|(_, progress)| progress.log.map_or(Offset(-1), |log| log.start));
        Ok(starts.fold(self.log.start(), Offset::min))
    }
}
