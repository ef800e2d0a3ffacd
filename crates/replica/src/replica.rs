use core::time::Duration;
use std::collections::VecDeque;

use klamm_metadata::{Partition, Replicas};
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, Offset, PartitionEpoch};

use crate::follower::Follower;
use crate::leader::Leader;
use crate::{
    Brokers, CommittedIsr, LogState, Output, Producers, ProposalId, ReplicaError, Settings,
};

/// This broker's replica of a partition.
///
/// # Contract
///
/// Inputs are methods that change the replica; each may leave outputs, which the caller carries out
/// in order ([`Replica::poll_output`]) before the next input. One input at a time: the caller holds
/// the partition meanwhile. Times are durations since an arbitrary start that never go back.
///
/// - [`Replica::update`] takes the partition's state from the metadata log, whoever leads it.
/// - A leader: [`Replica::admit`], write the batch, [`Replica::appended`]; for acks=all
///   [`Replica::await_commit`]. Where the write fails nothing has changed, and the caller says
///   [`Replica::fail`]. [`Replica::fetch`] for a Fetch that comes in, [`Replica::read`] when one
///   that waited is looked at again, [`Replica::asked_again`] for those that were not looked at since
///   nothing had changed. [`Replica::tick`] twice in `replica.lag.time.max.ms`.
///   [`Replica::isr_answered`] with the controller's answer.
/// - A follower: [`Replica::next_fetch`], [`Replica::fetched`], write, [`Replica::replicated`].
/// - What a batch is before it is written does not count: a record that is in no file is not
///   acknowledged. Kafka's replication does not wait for flushes, and neither does this.
#[derive(Debug)]
pub struct Replica {
    broker: BrokerId,
    pub(crate) settings: Settings,
    pub(crate) log: LogState,
    pub(crate) producers: Producers,
    pub(crate) role: Role,
    pub(crate) leader: Option<BrokerId>,
    pub(crate) leader_epoch: LeaderEpoch,
    pub(crate) partition_epoch: PartitionEpoch,
    pub(crate) outputs: VecDeque<Output>,
}

#[derive(Debug)]
pub(crate) enum Role {
    Offline,
    Follower(Follower),
    Leader(Leader),
}

/// What a replica does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleKind {
    /// Nothing: its log directory has failed.
    Offline,
    /// It follows the leader, if there is one.
    Follower,
    /// It leads.
    Leader,
}

impl Replica {
    /// A replica with the log that is on the disk, before its role is known. `producers` are those
    /// of all records of the log.
    pub fn new(broker: BrokerId, log: LogState, producers: Producers, settings: Settings) -> Self {
        Self {
            broker,
            settings,
            log,
            producers,
            role: Role::Follower(Follower::default()),
            leader: None,
            leader_epoch: LeaderEpoch(-1),
            partition_epoch: PartitionEpoch(-1),
            outputs: VecDeque::new(),
        }
    }

    /// The next thing to be done.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// What the replica does.
    pub fn role(&self) -> RoleKind {
        match self.role {
            Role::Offline => RoleKind::Offline,
            Role::Follower(_) => RoleKind::Follower,
            Role::Leader(_) => RoleKind::Leader,
        }
    }

    /// The leader, if there is one.
    pub fn leader(&self) -> Option<BrokerId> {
        self.leader
    }

    /// The leader epoch; -1 before anything is known of the partition.
    pub fn leader_epoch(&self) -> LeaderEpoch {
        self.leader_epoch
    }

    /// The partition epoch; -1 before anything is known of the partition.
    pub fn partition_epoch(&self) -> PartitionEpoch {
        self.partition_epoch
    }

    /// What is known of the log.
    pub fn log(&self) -> &LogState {
        &self.log
    }

    /// What is known of producers.
    pub fn producers(&self) -> &Producers {
        &self.producers
    }

    /// The ISR that the controller has committed; none where this replica does not lead.
    pub fn isr(&self) -> &[BrokerId] {
        match &self.role {
            Role::Leader(leader) => leader.isr.committed(),
            _ => &[],
        }
    }

    /// The end of what consumers see that read committed records alone.
    pub fn last_stable(&self) -> Offset {
        let high_watermark = self.log.high_watermark();
        let unstable = self.producers.first_unstable();
        unstable.map_or(high_watermark, |first| first.min(high_watermark))
    }

    /// New values of the configuration. They count from the next input on.
    pub fn set_settings(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// Producers made anew, as [`Output::RebuildProducers`] asks.
    pub fn set_producers(&mut self, producers: Producers) {
        self.producers = producers;
        self.producers.high_watermark(self.log.high_watermark());
    }

    /// Forgets producers as [`Producers::expire`] does.
    pub fn expire_producers(&mut self, now_ms: i64, expiration_ms: i64) {
        self.producers.expire(now_ms, expiration_ms);
    }

    /// Takes over the partition's state from the metadata log, and says whether it did: a state
    /// older than what the controller has answered to this leader meanwhile is passed over.
    pub fn update(&mut self, partition: &Partition, now: Duration, brokers: &dyn Brokers) -> bool {
        let is_stale = partition.partition_epoch() < self.partition_epoch
            || partition.leader_epoch() < self.leader_epoch;
        if is_stale || matches!(self.role, Role::Offline) {
            return false;
        }
        let is_new_epoch = partition.leader_epoch() > self.leader_epoch;
        // The controller's answer has told this ISR already, and the leader may have asked for the
        // next one since: that has to count until it is answered.
        let is_known_isr = partition.partition_epoch() == self.partition_epoch;
        self.leader = partition.leader().known();
        self.leader_epoch = partition.leader_epoch();
        self.partition_epoch = partition.partition_epoch();
        if self.leader == Some(self.broker) {
            self.lead(partition, is_new_epoch, is_known_isr, now);
            self.advance(now, brokers);
        } else {
            self.follow(is_new_epoch);
        }
        true
    }

    fn lead(
        &mut self,
        partition: &Partition,
        is_new_epoch: bool,
        is_known_isr: bool,
        now: Duration,
    ) {
        let others = partition.replicas().filtered(|id| id != self.broker);
        let start = self.log.end();
        let is_new = !matches!(self.role, Role::Leader(_));
        if is_new {
            self.role = Role::Leader(Leader::new(start));
        }
        let Role::Leader(leader) = &mut self.role else {
            return;
        };
        leader.set_followers(&others);
        if is_new || !is_known_isr {
            leader.commit(partition.isr().clone());
        }
        if is_new || is_new_epoch {
            leader.begin(start, is_new, now);
            let epoch = self.leader_epoch;
            if self.log.begin_epoch(epoch) {
                self.outputs.push_back(Output::BeginEpoch { epoch, start });
            }
        }
    }

    fn follow(&mut self, is_new_epoch: bool) {
        self.refuse_waiters(ReplicaError::NotLeader);
        if is_new_epoch || !matches!(self.role, Role::Follower(_)) {
            self.role = Role::Follower(Follower::default());
        }
        // Without epochs nothing tells where logs part: only what is committed can be kept.
        if is_new_epoch && self.log.last_epoch().is_none() {
            self.truncate(self.log.high_watermark());
        }
    }

    /// The log directory has failed, or a write has: the replica does nothing any more.
    pub fn fail(&mut self) {
        self.refuse_waiters(ReplicaError::Offline);
        self.role = Role::Offline;
        self.leader = None;
    }

    fn refuse_waiters(&mut self, error: ReplicaError) {
        if let Role::Leader(leader) = &mut self.role {
            leader.waiting.refuse(error.into(), &mut self.outputs);
        }
    }

    /// Removes records from an offset on, here and, by an output, in the log.
    pub(crate) fn truncate(&mut self, end: Offset) {
        self.log.truncate(end);
        self.outputs.push_back(Output::Truncate(self.log.end()));
        if self.producers.end() > self.log.end() {
            self.outputs.push_back(Output::RebuildProducers);
        }
    }

    /// The log was cut before the offset that [`Output::Truncate`] named, which was within a batch.
    pub fn truncated(&mut self, end: Offset) {
        if end < self.log.end() {
            self.truncate(end);
        }
    }

    /// The records before an offset are gone, since they are old or the log is large.
    pub fn log_start_moved(&mut self, to: Offset) {
        if self.log.delete_before(to) {
            self.producers.log_start(to);
        }
    }

    /// Checks a request's idea of the current leader epoch, and that the replica may answer it.
    pub(crate) fn check(
        &self,
        asked: Option<LeaderEpoch>,
        leader_only: bool,
    ) -> Result<(), ReplicaError> {
        if matches!(self.role, Role::Offline) {
            return Err(ReplicaError::Offline);
        }
        let current = self.leader_epoch;
        match asked {
            Some(asked) if asked < current => {
                Err(ReplicaError::FencedLeaderEpoch { asked, current })
            }
            Some(asked) if asked > current => {
                Err(ReplicaError::UnknownLeaderEpoch { asked, current })
            }
            _ if leader_only && !matches!(self.role, Role::Leader(_)) => {
                Err(ReplicaError::NotLeader)
            }
            _ => Ok(()),
        }
    }

    /// Looks for followers that have fallen behind, and proposes an ISR without them.
    pub fn tick(&mut self, now: Duration) {
        let Role::Leader(leader) = &mut self.role else {
            return;
        };
        let lagging = leader.lagging(&self.log, &self.settings, now);
        if lagging.is_empty() {
            return;
        }
        let isr = leader.isr.committed();
        let isr: Replicas = isr.filtered(|id| !lagging.contains(&id));
        let proposal = leader.propose(&isr, None, self.leader_epoch, self.partition_epoch);
        self.outputs.push_back(Output::AlterPartition(proposal));
    }

    /// What the controller has answered to a proposal, or what kept it from answering.
    pub fn isr_answered(
        &mut self,
        id: ProposalId,
        answer: Result<CommittedIsr, ErrorCode>,
        now: Duration,
        brokers: &dyn Brokers,
    ) {
        let Role::Leader(leader) = &mut self.role else {
            return;
        };
        // The metadata log may have overtaken the answer.
        let Some(proposal) = leader.isr.pending(id) else {
            return;
        };
        match answer {
            Ok(committed)
                if committed.leader_epoch == self.leader_epoch
                    && committed.partition_epoch >= self.partition_epoch =>
            {
                self.partition_epoch = committed.partition_epoch;
                leader.commit(committed.isr);
                self.advance(now, brokers);
            }
            Ok(_) => {}
            // The controller says that it has not carried it out, and knows this state.
            Err(ErrorCode::OPERATION_NOT_ATTEMPTED | ErrorCode::INELIGIBLE_REPLICA) => {
                leader.isr.withdraw();
            }
            // Something has changed that the metadata log will tell. Until then the proposal may
            // have been carried out or not, and the larger ISR of both counts.
            Err(
                ErrorCode::FENCED_LEADER_EPOCH
                | ErrorCode::INVALID_UPDATE_VERSION
                | ErrorCode::INVALID_REQUEST
                | ErrorCode::NEW_LEADER_ELECTED
                | ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
                | ErrorCode::UNKNOWN_TOPIC_ID,
            ) => {}
            Err(_) => {
                proposal.attempt = proposal.attempt.saturating_add(1);
                let again = Output::AlterPartition(proposal.clone());
                self.outputs.push_back(again);
            }
        }
    }

    /// Raises a leader's high watermark as far as its followers are, and answers who waits for it.
    pub(crate) fn advance(&mut self, now: Duration, brokers: &dyn Brokers) {
        let Role::Leader(leader) = &mut self.role else {
            return;
        };
        let Some(to) = leader.committed_to(&self.log, &self.settings, now, brokers) else {
            return;
        };
        if self.log.raise_high_watermark(to) {
            let high_watermark = self.log.high_watermark();
            self.producers.high_watermark(high_watermark);
            self.outputs
                .push_back(Output::HighWatermark(high_watermark));
            let result = leader.check_after_append(&self.settings);
            leader
                .waiting
                .answer(high_watermark, result, &mut self.outputs);
        }
    }
}

#[cfg(test)]
mod tests;
