mod acknowledged;
mod answers;
mod model;
mod rules;
mod truth;

use std::collections::BTreeMap;

use klamm_protocol::{BrokerId, LeaderEpoch, Offset};
use klamm_raft::{ElectionState, Incident, Leadership, Request, Response, VoterSet};

pub(crate) use self::answers::Answers;
pub(crate) use self::model::{State, place};
pub(crate) use self::truth::Truth;
use crate::disk::{Disk, Entry};

/// What must hold in every run. The checkers look at the disks and at what the machines say, and
/// know nothing of how they come to it.
#[derive(Debug, Default)]
pub(crate) struct Checker {
    leaders: BTreeMap<LeaderEpoch, BrokerId>,
    elections: BTreeMap<BrokerId, ElectionState>,
    /// Everything that anybody has called committed.
    committed: Vec<Entry>,
    /// How many batches of it each node has called committed, and so were compared.
    seen: BTreeMap<BrokerId, usize>,
}

impl Checker {
    /// One leader per epoch, and one that has all committed records.
    pub(crate) fn leadership(
        &mut self,
        node: BrokerId,
        leadership: Leadership,
        disk: &Disk,
    ) -> Result<(), String> {
        if leadership.start.is_none() {
            return Ok(());
        }
        let epoch = leadership.epoch;
        let first = *self.leaders.entry(epoch).or_insert(node);
        if first != node {
            return Err(format!("{first} and {node} both lead epoch {epoch}"));
        }
        let mut has = disk.entries(0, disk.end());
        match self
            .committed
            .iter()
            .find(|entry| has.next() != Some(**entry))
        {
            None => Ok(()),
            Some(missing) => Err(format!(
                "{node} leads epoch {epoch} without the committed {missing:?}"
            )),
        }
    }

    /// Epochs only grow, and a node has one vote in each.
    pub(crate) fn persisted(&mut self, node: BrokerId, now: ElectionState) -> Result<(), String> {
        let Some(before) = self.elections.insert(node, now) else {
            return Ok(());
        };
        let is_second = |was: bool| was && now.epoch == before.epoch;
        if now.epoch < before.epoch {
            Err(format!("{node} goes back from {before:?} to {now:?}"))
        } else if is_second(before.voted.is_some())
            && now.voted != before.voted
            && (now.voted.is_some() || now.leader.is_none())
        {
            Err(format!("{node} votes twice: {before:?}, then {now:?}"))
        } else if is_second(before.leader.is_some()) && now.leader != before.leader {
            Err(format!("{node} changes the leader of an epoch: {now:?}"))
        } else {
            Ok(())
        }
    }

    /// A vote is on the disk before it is given.
    pub(crate) fn answered(
        node: BrokerId,
        request: &Request,
        response: &Response,
        disk: &Disk,
    ) -> Result<(), String> {
        let (Request::Vote(request), Response::Vote(response)) = (request, response) else {
            return Ok(());
        };
        let asked = request
            .topics
            .first()
            .and_then(|topic| topic.partitions.first());
        let given = response
            .topics
            .first()
            .and_then(|topic| topic.partitions.first());
        let (Some(asked), Some(given)) = (asked, given) else {
            return Ok(());
        };
        let is_written = disk.election().is_some_and(|state| {
            let voted = state.voted.map(|key| key.id);
            state.epoch.0 == asked.replica_epoch && voted == Some(BrokerId(asked.replica_id))
        });
        match given.vote_granted && !asked.pre_vote && !is_written {
            true => Err(format!("{node} gives a vote that it has not written down")),
            false => Ok(()),
        }
    }

    /// What is committed never changes, and a majority of the voters has it durably.
    pub(crate) fn committed<'a>(
        &mut self,
        node: BrokerId,
        offset: Offset,
        disk: &Disk,
        voters: &VoterSet,
        disks: impl Fn(BrokerId) -> Option<&'a Disk>,
    ) -> Result<(), String> {
        // What was compared stays as it is: only a truncation changes it, which is checked.
        let seen = self.seen.get(&node).copied().unwrap_or(0);
        let entries: Vec<Entry> = disk.entries(seen, offset).collect();
        if entries.last().is_none_or(|last| last.end != offset) {
            return Err(format!(
                "{node} commits {offset}, again or without having it"
            ));
        }
        let known = self.committed.get(seen..).unwrap_or_default();
        let differs = |(ours, theirs): &(&Entry, &Entry)| ours != theirs;
        if let Some((is, was)) = entries.iter().zip(known).find(differs) {
            return Err(format!("{node} commits {is:?} where {was:?} was committed"));
        }
        let news = entries.get(known.len()..).unwrap_or_default();
        self.seen.insert(node, seen + entries.len());
        if news.is_empty() {
            return Ok(());
        }
        let first = self.committed.len();
        let has_all = |id| {
            disks(id).is_some_and(|disk| {
                let has = disk.entries(first, offset);
                disk.flushed() >= offset && has.eq(news.iter().copied())
            })
        };
        let count = voters.iter().filter(|voter| has_all(voter.key.id)).count();
        if count < voters.len() / 2 + 1 {
            return Err(format!(
                "{node} commits {offset} with {count} of {} voters",
                voters.len()
            ));
        }
        self.committed.extend_from_slice(news);
        Ok(())
    }

    /// A snapshot has what is committed and nothing else.
    pub(crate) fn installed(&self, node: BrokerId, disk: &Disk) -> Result<(), String> {
        let count = disk.entries(0, disk.end()).count();
        match self.committed.get(..count) {
            Some(committed) if disk.entries(0, disk.end()).eq(committed.iter().copied()) => Ok(()),
            _ => Err(format!(
                "{node} installs a snapshot of what is not committed"
            )),
        }
    }

    /// A majority of the voters has what is committed, also after a node has removed records. The
    /// others may remove what somebody has committed meanwhile: they fetch it again.
    pub(crate) fn kept<'a>(
        &self,
        node: BrokerId,
        voters: &VoterSet,
        disks: impl Fn(BrokerId) -> Option<&'a Disk>,
    ) -> Result<(), String> {
        let has_all = |id| {
            disks(id).is_some_and(|disk| {
                let has = disk.entries(0, self.end());
                has.eq(self.committed.iter().copied())
            })
        };
        let count = voters.iter().filter(|voter| has_all(voter.key.id)).count();
        match count > voters.len() / 2 {
            true => Ok(()),
            false => Err(format!(
                "{node} removes records, and {count} of {} voters have what is committed",
                voters.len()
            )),
        }
    }

    /// Peers that keep to the protocol give no cause for these.
    pub(crate) fn incident(node: BrokerId, incident: &Incident) -> Result<(), String> {
        match incident {
            Incident::QuorumLost { .. } => Ok(()),
            incident => Err(format!("{node}: {incident}")),
        }
    }

    /// A node that starts again learns anew what is committed.
    pub(crate) fn restarted(&mut self, node: BrokerId) {
        self.seen.remove(&node);
    }

    /// How far anybody has called records committed.
    pub(crate) fn end(&self) -> Offset {
        self.committed.last().map_or(Offset(0), |last| last.end)
    }
}
