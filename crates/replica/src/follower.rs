use bytes::Bytes;
use klamm_protocol::records::{Batch, Batches, RecordBatch};
use klamm_protocol::{BrokerId, EpochEnd, ErrorCode, LeaderEpoch, Offset};

use crate::replica::Role;
use crate::{FetchedError, Output, Replica};

/// What a follower keeps.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Fetching,
    /// The leader does not have the offset that comes next here; where its log begins and ends is
    /// to be asked.
    OutOfRange,
    /// The leader is in a later epoch: there will be news in the metadata log.
    Fenced,
}

/// What a follower fetches next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// From whom.
    pub leader: BrokerId,
    /// The leader epoch.
    pub leader_epoch: LeaderEpoch,
    /// The first offset that is missing here.
    pub offset: Offset,
    /// The epoch of the record before that; -1 on the wire for `None`.
    pub last_fetched_epoch: Option<LeaderEpoch>,
    /// Where the log begins here.
    pub log_start: Offset,
}

/// What a leader has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchAnswer {
    /// The partition's error.
    pub error: ErrorCode,
    /// Where the logs part, if they do.
    pub diverging: Option<EpochEnd>,
    /// The leader's high watermark.
    pub high_watermark: Offset,
    /// Where the leader's log begins.
    pub log_start: Offset,
    /// Batches; the last one may be incomplete.
    pub records: Bytes,
}

/// What comes of an answer.
#[derive(Debug)]
pub enum Fetched {
    /// The answer is to another question than the one that is open now.
    Stale,
    /// There were no records; all else is taken over.
    NoRecords,
    /// Write these batches, then say [`Replica::replicated`].
    Append(Replication),
    /// The log is cut, by an output; fetch again. Below the high watermark, records that were
    /// committed are gone: an unclean election.
    Cut {
        /// Whether committed records go.
        below_high_watermark: bool,
    },
    /// Ask the leader for its earliest and latest offset, and say [`Replica::leader_offsets`].
    AskOffsets,
    /// Fetch again after a while.
    Retry(ErrorCode),
    /// Fetch when the metadata log has told something new.
    AwaitMetadata,
}

/// Batches to be written at the end of a follower's log, as they are.
#[derive(Debug)]
#[must_use]
pub struct Replication {
    /// The batches.
    pub bytes: Bytes,
    batches: Vec<RecordBatch>,
    high_watermark: Offset,
    log_start: Offset,
}

/// Where a leader's log begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaderOffsets {
    /// The earliest offset.
    pub start: Offset,
    /// The end of the log.
    pub end: Offset,
}

impl Replica {
    /// What to fetch; `None` for a replica that leads, and while there is nothing to ask.
    pub fn next_fetch(&self) -> Option<Fetch> {
        let fetching = matches!(&self.role, Role::Follower(it) if it.phase == Phase::Fetching);
        let leader = self.leader.filter(|_| fetching)?;
        Some(Fetch {
            leader,
            leader_epoch: self.leader_epoch,
            offset: self.log.end(),
            last_fetched_epoch: self.log.last_epoch(),
            log_start: self.log.start(),
        })
    }

    /// Takes the leader's answer to what [`Replica::next_fetch`] said. An error says what is wrong
    /// with the records; nothing is taken over then, and they are fetched again after a while.
    pub fn fetched(&mut self, asked: &Fetch, answer: FetchAnswer) -> Result<Fetched, FetchedError> {
        if self.next_fetch().as_ref() != Some(asked) {
            return Ok(Fetched::Stale);
        }
        match (answer.error, answer.diverging) {
            (ErrorCode::NONE, None) => self.take_records(asked, answer),
            (ErrorCode::NONE, Some(diverging)) => Ok(self.cut(diverging)),
            (ErrorCode::OFFSET_OUT_OF_RANGE, _) => {
                self.set_phase(Phase::OutOfRange);
                Ok(Fetched::AskOffsets)
            }
            (ErrorCode::FENCED_LEADER_EPOCH, _) => {
                self.set_phase(Phase::Fenced);
                Ok(Fetched::AwaitMetadata)
            }
            (error, _) => Ok(Fetched::Retry(error)),
        }
    }

    fn set_phase(&mut self, phase: Phase) {
        if let Role::Follower(follower) = &mut self.role {
            follower.phase = phase;
        }
    }

    fn cut(&mut self, diverging: EpochEnd) -> Fetched {
        let before = (self.log.end(), self.log.last_epoch());
        let high_watermark = self.log.high_watermark();
        let to = self.log.cut_for(diverging);
        self.truncate(to);
        if before == (self.log.end(), self.log.last_epoch()) {
            // Nothing was cut, so asking at once would get the same answer.
            return Fetched::Retry(ErrorCode::NONE);
        }
        Fetched::Cut {
            below_high_watermark: to < high_watermark,
        }
    }

    fn take_records(
        &mut self,
        asked: &Fetch,
        answer: FetchAnswer,
    ) -> Result<Fetched, FetchedError> {
        let mut batches = Vec::new();
        let mut len = 0;
        let mut walk = Batches::new(answer.records.clone());
        let mut end = self.log.end();
        let mut epoch = self.log.last_epoch().unwrap_or(LeaderEpoch(-1));
        while let Some(batch) = walk.next().transpose()? {
            let Batch::V2(batch) = batch else {
                return Err(FetchedError::Format(batch.magic()));
            };
            let header = batch.header();
            // The leader has gone on to an epoch that this replica does not know: what it has
            // appended since is for a fetch of that epoch.
            if header.partition_leader_epoch > asked.leader_epoch {
                break;
            }
            batch.verify_crc()?;
            let (base, last) = (header.base_offset, header.last_offset());
            // A leader's log may begin within a batch. A log without records begins with it then.
            let contains_start = batches.is_empty() && self.log.start() == end && last >= end;
            if last < base || last.0 == i64::MAX || base < end && !contains_start {
                return Err(FetchedError::Gap { base, last, end });
            }
            if header.partition_leader_epoch < epoch {
                return Err(FetchedError::Epoch {
                    base,
                    epoch: header.partition_leader_epoch,
                    before: epoch,
                });
            }
            epoch = header.partition_leader_epoch;
            end = Offset(last.0 + 1);
            len = walk.position();
            batches.push(batch);
        }
        let replication = Replication {
            bytes: answer.records.slice(..len),
            batches,
            high_watermark: answer.high_watermark,
            log_start: answer.log_start,
        };
        let Some(first) = replication.batches.first() else {
            self.follow_leader(&replication);
            return Ok(Fetched::NoRecords);
        };
        let base = first.header().base_offset;
        if base < self.log.end() {
            self.restart(base);
        }
        Ok(Fetched::Append(replication))
    }

    /// The batches are written. Nothing may have happened since [`Replica::fetched`].
    pub fn replicated(&mut self, replication: Replication) -> Result<(), FetchedError> {
        for batch in &replication.batches {
            let header = batch.header();
            let end = Offset(header.last_offset().0 + 1);
            self.log
                .append(header.partition_leader_epoch, header.base_offset, end);
            self.producers.replay(batch)?;
        }
        self.follow_leader(&replication);
        Ok(())
    }

    /// Takes over the leader's high watermark and the start of its log.
    fn follow_leader(&mut self, replication: &Replication) {
        if self.log.raise_high_watermark(replication.high_watermark) {
            let high_watermark = self.log.high_watermark();
            self.producers.high_watermark(high_watermark);
            self.outputs
                .push_back(Output::HighWatermark(high_watermark));
        }
        let start = replication.log_start.min(self.log.high_watermark());
        if self.log.delete_before(start) {
            self.producers.log_start(start);
            self.outputs.push_back(Output::DeleteBefore(start));
        }
    }

    /// Where the leader's log begins and ends, after [`Fetched::AskOffsets`], or an error that it
    /// answered: then it is asked again after a while.
    pub fn leader_offsets(&mut self, asked: &Fetch, leader: Result<LeaderOffsets, ErrorCode>) {
        let is_open = matches!(&self.role, Role::Follower(it) if it.phase == Phase::OutOfRange);
        if !is_open || asked.leader_epoch != self.leader_epoch {
            return;
        }
        let leader = match leader {
            Ok(leader) => leader,
            Err(ErrorCode::FENCED_LEADER_EPOCH) => return self.set_phase(Phase::Fenced),
            Err(_) => return self.set_phase(Phase::Fetching),
        };
        self.set_phase(Phase::Fetching);
        if leader.end < self.log.end() {
            self.truncate(leader.end);
        } else if leader.start > self.log.end() {
            self.restart(leader.start);
        }
    }

    fn restart(&mut self, at: Offset) {
        self.log.restart(at);
        self.producers = crate::Producers::new(at);
        self.outputs.push_back(Output::Restart(at));
    }
}

#[cfg(test)]
mod tests;
