use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use klamm_protocol::{BrokerId, LeaderEpoch, Offset};

use crate::raft::VoterUpdate;
use crate::time::Now;
use crate::{AnswerId, Endpoints, OffsetAndEpoch, ReplicaKey, VoterSet};

/// How long an observer is remembered after its last Fetch, in milliseconds.
const OBSERVER_SESSION: Duration = Duration::from_millis(300_000);

/// How many observers are remembered: ids are what requests say, so their number needs a limit.
const MAX_OBSERVERS: usize = 10_000;

/// The node leads the epoch.
#[derive(Debug)]
pub(crate) struct Leader {
    /// Where the epoch's records start. Nothing is committed before one of them is.
    pub(crate) epoch_start: Offset,
    pub(crate) voters: BTreeMap<BrokerId, Replica>,
    pub(crate) observers: BTreeMap<ReplicaKey, Replica>,
    /// Everything before is committed. Not known until a majority has reached the epoch's start.
    pub(crate) high_watermark: Option<Offset>,
    /// Voters that have fetched since the last majority of them had.
    pub(crate) fetched: BTreeSet<BrokerId>,
    /// When to resign if no majority has fetched by then.
    pub(crate) check_quorum_at: Duration,
    /// When to tell the voters of this epoch again.
    pub(crate) begin_epoch_at: Duration,
    pub(crate) parked: Vec<Parked>,
    /// The update of a voter that is not committed yet.
    pub(crate) updating: Option<VoterUpdate>,
}

/// A Fetch that waits for something to bring.
#[derive(Debug)]
pub(crate) struct Parked {
    pub(crate) id: AnswerId,
    pub(crate) fetch: Fetch,
    pub(crate) until: Duration,
}

/// What matters of a Fetch request.
#[derive(Clone, Debug)]
pub(crate) struct Fetch {
    pub(crate) listener: String,
    pub(crate) version: i16,
    pub(crate) replica: ReplicaKey,
    pub(crate) epoch: LeaderEpoch,
    /// The end of the replica's log.
    pub(crate) tip: OffsetAndEpoch,
    pub(crate) max_bytes: u32,
    /// What the replica knows to be committed; the largest offset from versions that do not say.
    pub(crate) high_watermark: Offset,
}

/// What the leader knows of a replica.
#[derive(Clone, Debug)]
pub(crate) struct Replica {
    pub(crate) key: ReplicaKey,
    pub(crate) endpoints: Endpoints,
    /// The end of what it has durably.
    pub(crate) end: Option<Offset>,
    pub(crate) last_fetch: Option<Now>,
    /// The end of the leader's log at that Fetch.
    end_at_last_fetch: Offset,
    /// When it last had all that the leader had, in milliseconds since 1970; -1 for never.
    pub(crate) caught_up_ms: i64,
}

impl Replica {
    fn new(key: ReplicaKey, endpoints: Endpoints) -> Self {
        Self {
            key,
            endpoints,
            end: None,
            last_fetch: None,
            end_at_last_fetch: Offset(-1),
            caught_up_ms: -1,
        }
    }

    fn has_fetched_lately(&self, now: Now) -> bool {
        self.last_fetch
            .is_some_and(|last| now.elapsed < last.after(OBSERVER_SESSION))
    }

    fn fetched(&mut self, now: Now, from: Offset, leader_end: Offset) {
        if from >= leader_end {
            self.caught_up_ms = self.caught_up_ms.max(now.timestamp_ms);
        } else if self.end_at_last_fetch > Offset(0) && from >= self.end_at_last_fetch {
            // It has what the leader had at its last Fetch, so it was caught up then.
            let then = self.last_fetch.map_or(-1, |last| last.timestamp_ms);
            self.caught_up_ms = self.caught_up_ms.max(then);
        }
        self.end_at_last_fetch = leader_end;
        self.last_fetch = Some(now);
        self.end = Some(from);
    }
}

impl Leader {
    pub(crate) fn new(epoch_start: Offset, voters: &VoterSet, check_quorum_at: Duration) -> Self {
        let mut leader = Self {
            epoch_start,
            voters: BTreeMap::new(),
            observers: BTreeMap::new(),
            high_watermark: None,
            fetched: BTreeSet::new(),
            check_quorum_at,
            begin_epoch_at: Duration::ZERO,
            parked: Vec::new(),
            updating: None,
        };
        leader.set_voters(voters);
        leader
    }

    /// Takes over a new set of voters. Who was known as an observer keeps its position.
    pub(crate) fn set_voters(&mut self, voters: &VoterSet) {
        let mut old = std::mem::take(&mut self.voters);
        for voter in voters.iter() {
            let known = old
                .remove(&voter.key.id)
                .filter(|replica| replica.key.stands_for(voter.key))
                .or_else(|| self.observers.remove(&voter.key));
            let mut replica =
                known.unwrap_or_else(|| Replica::new(voter.key, voter.endpoints.clone()));
            replica.key = voter.key;
            replica.endpoints = voter.endpoints.clone();
            self.voters.insert(voter.key.id, replica);
        }
        for (_, mut replica) in old {
            replica.endpoints = Endpoints::default();
            self.observers.insert(replica.key, replica);
        }
    }

    pub(crate) fn is_voter(&self, key: ReplicaKey) -> bool {
        self.voters
            .get(&key.id)
            .is_some_and(|voter| voter.key.stands_for(key))
    }

    /// How many of the other voters make a majority, with this node if it is a voter.
    fn others_for_majority(&self, local: ReplicaKey) -> usize {
        let majority = self.voters.len() / 2 + 1;
        majority - usize::from(self.is_voter(local))
    }

    /// Notes that this node has the log durably up to an offset. Says whether more is committed.
    pub(crate) fn flushed(&mut self, local: ReplicaKey, end: Offset) -> bool {
        if let Some(voter) = self.voters.get_mut(&local.id)
            && voter.key.stands_for(local)
        {
            voter.end = Some(end);
        }
        self.advance()
    }

    /// Notes a Fetch of a replica that has everything up to an offset. Says whether more is
    /// committed.
    pub(crate) fn fetched(
        &mut self,
        replica: ReplicaKey,
        from: Offset,
        leader_end: Offset,
        now: Now,
    ) -> bool {
        if self.is_voter(replica) {
            if let Some(voter) = self.voters.get_mut(&replica.id) {
                voter.fetched(now, from, leader_end);
            }
            return self.advance();
        }
        if !self.observers.contains_key(&replica) {
            self.forget_observers(now);
            if self.observers.len() >= MAX_OBSERVERS {
                self.forget_oldest_observer();
            }
        }
        self.observers
            .entry(replica)
            .or_insert_with(|| Replica::new(replica, Endpoints::default()))
            .fetched(now, from, leader_end);
        false
    }

    /// Counts a voter that has fetched; once a majority has, the time to check that starts anew.
    pub(crate) fn hear(&mut self, replica: ReplicaKey, local: ReplicaKey, next_check: Duration) {
        if self.is_voter(replica) {
            self.fetched.insert(replica.id);
        }
        if self.fetched.len() >= self.others_for_majority(local) {
            self.fetched.clear();
            self.check_quorum_at = next_check;
        }
    }

    /// The observers that have fetched lately.
    pub(crate) fn observers(&self, now: Now) -> impl Iterator<Item = &Replica> {
        let observers = self.observers.values();
        observers.filter(move |observer| observer.has_fetched_lately(now))
    }

    /// Forgets observers that have not fetched for long.
    pub(crate) fn forget_observers(&mut self, now: Now) {
        self.observers
            .retain(|_, observer| observer.has_fetched_lately(now));
    }

    fn forget_oldest_observer(&mut self) {
        let oldest = self
            .observers
            .iter()
            .min_by_key(|(_, observer)| observer.last_fetch.map(|last| last.elapsed))
            .map(|(key, _)| *key);
        if let Some(oldest) = oldest {
            self.observers.remove(&oldest);
        }
    }

    /// Moves the high watermark to the offset that a majority of the voters has.
    fn advance(&mut self) -> bool {
        let mut ends: Vec<Option<Offset>> = self.voters.values().map(|voter| voter.end).collect();
        ends.sort_unstable_by_key(|end| Reverse(*end));
        let Some(&Some(reached)) = ends.get(self.voters.len() / 2) else {
            return false;
        };
        // Records of earlier epochs count only once one of this epoch does: else a later leader
        // might not have them (Raft, section 5.4.2).
        let grows = self.high_watermark.is_none_or(|known| known < reached);
        if reached <= self.epoch_start || !grows {
            return false;
        }
        self.high_watermark = Some(reached);
        true
    }

    /// The other voters, the one with the most records first.
    pub(crate) fn successors(&self, local: ReplicaKey) -> Vec<ReplicaKey> {
        let mut others: Vec<&Replica> = self
            .voters
            .values()
            .filter(|voter| !voter.key.stands_for(local))
            .collect();
        others.sort_by_key(|voter| (Reverse(voter.end), voter.key));
        others.into_iter().map(|voter| voter.key).collect()
    }
}
