use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use klamm_metadata::Replicas;
use klamm_protocol::{BrokerId, LeaderEpoch, Offset, PartitionEpoch};

use crate::isr::Isr;
use crate::progress::Progress;
use crate::{
    Acked, Brokers, IsrMember, LogState, Output, ProduceError, ProposalId, ProposedIsr, Settings,
    WaiterId,
};

/// What a leader keeps.
#[derive(Debug)]
pub(crate) struct Leader {
    /// Where the log ended when the epoch began.
    pub(crate) epoch_start: Offset,
    pub(crate) followers: BTreeMap<BrokerId, Progress>,
    pub(crate) isr: Isr,
    pub(crate) waiting: Waiting,
    last_proposal: u64,
}

impl Leader {
    pub(crate) fn new(epoch_start: Offset) -> Self {
        Self {
            epoch_start,
            followers: BTreeMap::new(),
            isr: Isr::new(Replicas::NONE),
            waiting: Waiting::default(),
            last_proposal: 0,
        }
    }

    /// Takes over who the replicas are.
    pub(crate) fn set_followers(&mut self, others: &[BrokerId]) {
        self.followers.retain(|id, _| others.contains(id));
        for id in others {
            self.followers.entry(*id).or_default();
        }
    }

    /// Begins an epoch, of a leader that did not lead before or goes on.
    pub(crate) fn begin(&mut self, start: Offset, is_new: bool, now: Duration) {
        self.epoch_start = start;
        for (id, progress) in &mut self.followers {
            let in_sync = self.isr.committed().contains(id);
            progress.reset(now, start, is_new, in_sync);
        }
    }

    pub(crate) fn commit(&mut self, isr: Replicas) {
        self.isr = Isr::new(isr);
    }

    /// `min.insync.replicas`, no more than there are replicas.
    pub(crate) fn min_isr(&self, settings: &Settings) -> usize {
        settings.min_insync_replicas.min(self.followers.len() + 1)
    }

    /// Whether enough replicas are in sync for a batch that was appended before.
    pub(crate) fn check_after_append(&self, settings: &Settings) -> Result<(), ProduceError> {
        if self.isr.maximal_len() < self.min_isr(settings) {
            return Err(ProduceError::NotEnoughReplicasAfterAppend);
        }
        Ok(())
    }

    /// Up to where all replicas have the log that count. While fewer are in sync than have to be
    /// nothing is committed (KIP-966), whatever acks say: what a replica outside of the ISR may
    /// miss then is not acknowledged, so that it can be elected.
    pub(crate) fn committed_to(
        &self,
        log: &LogState,
        settings: &Settings,
        now: Duration,
        brokers: &dyn Brokers,
    ) -> Option<Offset> {
        if self.isr.committed().len() < self.min_isr(settings) {
            return None;
        }
        let mut to = log.end();
        for (id, progress) in &self.followers {
            // One that has not fetched yet holds everything back, if it counts.
            let end = progress.log.map_or(Offset(-1), |log| log.end);
            // Who is about to join is waited for, or it would never reach the high watermark.
            if end < to
                && (self.isr.is_maximal_member(*id)
                    || progress.is_caught_up(log.end(), now, settings.lag_time_max)
                        && may_join(*id, progress, brokers))
            {
                to = end;
            }
        }
        Some(to)
    }

    /// Whether a follower is to be proposed for the ISR: it has all that is committed, and has come
    /// into this epoch, in which more may be committed than this leader knows.
    pub(crate) fn is_joining(&self, id: BrokerId, log: &LogState, brokers: &dyn Brokers) -> bool {
        let Some(progress) = self.followers.get(&id) else {
            return false;
        };
        let is_in_sync = progress
            .log
            .is_some_and(|it| it.end >= log.high_watermark() && it.end >= self.epoch_start);
        !self.isr.is_pending()
            && !self.isr.committed().contains(&id)
            && is_in_sync
            && may_join(id, progress, brokers)
    }

    /// In-sync followers that have not had all for too long; none while a proposal waits.
    pub(crate) fn lagging(
        &self,
        log: &LogState,
        settings: &Settings,
        now: Duration,
    ) -> Vec<BrokerId> {
        if self.isr.is_pending() {
            return Vec::new();
        }
        let lag_max = settings.lag_time_max;
        let followers = self.followers.iter();
        followers
            .filter(|(id, _)| self.isr.committed().contains(id))
            .filter(|(_, progress)| !progress.is_caught_up(log.end(), now, lag_max))
            .map(|(id, _)| *id)
            .collect()
    }

    pub(crate) fn propose(
        &mut self,
        isr: &[BrokerId],
        joins: Option<BrokerId>,
        leader_epoch: LeaderEpoch,
        partition_epoch: PartitionEpoch,
    ) -> ProposedIsr {
        self.last_proposal += 1;
        let member = |broker: &BrokerId| IsrMember {
            broker: *broker,
            epoch: self.broker_epoch(*broker),
        };
        let proposal = ProposedIsr {
            id: ProposalId(self.last_proposal),
            attempt: 0,
            leader_epoch,
            partition_epoch,
            isr: isr.iter().chain(joins.as_ref()).map(member).collect(),
        };
        self.isr.propose(proposal.clone(), joins);
        proposal
    }

    fn broker_epoch(&self, id: BrokerId) -> Option<klamm_metadata::BrokerEpoch> {
        self.followers.get(&id)?.log?.broker_epoch
    }
}

/// Whether a follower may be in the ISR by what the metadata says of its broker (KIP-841, KIP-903).
fn may_join(id: BrokerId, progress: &Progress, brokers: &dyn Brokers) -> bool {
    let (Some(log), Some(standing)) = (progress.log, brokers.standing(id)) else {
        return false;
    };
    !standing.is_shutting_down && log.broker_epoch.is_none_or(|epoch| epoch == standing.epoch)
}

/// Requests to produce with acks=all that wait for the high watermark.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// By the offset that the high watermark has to come to.
    by_end: BTreeSet<(Offset, WaiterId)>,
    last: u64,
}

impl Waiting {
    pub(crate) fn add(&mut self, end: Offset) -> WaiterId {
        self.last += 1;
        let waiter = WaiterId(self.last);
        self.by_end.insert((end, waiter));
        waiter
    }

    pub(crate) fn remove(&mut self, waiter: WaiterId) -> bool {
        let before = self.by_end.len();
        self.by_end.retain(|(_, id)| *id != waiter);
        self.by_end.len() != before
    }

    pub(crate) fn answer(
        &mut self,
        high_watermark: Offset,
        result: Result<(), ProduceError>,
        outputs: &mut VecDeque<Output>,
    ) {
        while let Some((_, waiter)) = self
            .by_end
            .first()
            .filter(|(end, _)| *end <= high_watermark)
        {
            let waiter = *waiter;
            self.by_end.pop_first();
            outputs.push_back(Output::Acked(Acked { waiter, result }));
        }
    }

    pub(crate) fn refuse(&mut self, error: ProduceError, outputs: &mut VecDeque<Output>) {
        self.answer(Offset(i64::MAX), Err(error), outputs);
    }
}
