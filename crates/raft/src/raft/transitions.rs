//! From role to role. Every change of what must outlive a crash is persisted here.

use std::time::Duration;

use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch};

use super::Raft;
use crate::role::{Candidate, Follower, Leader, Prospective, Resigned, Role, Unattached, Votes};
use crate::time::Now;
use crate::{ElectionState, Endpoints, Incident, ReplicaKey};

impl Raft {
    /// Takes up the role that goes with what was persisted.
    pub(super) fn restore(&mut self, saved: ElectionState, now: Now) {
        let local = self.settings.replica();
        self.epoch = saved.epoch;
        let unattached = |leader, voted| Unattached {
            leader,
            voted,
            election_at: None,
        };
        self.role = if saved.epoch < self.log.last_epoch() {
            // The file is older than the log, or lost: nothing is known of the log's epoch.
            self.epoch = self.log.last_epoch();
            Role::Unattached(unattached(None, None))
        } else if saved.leader == Some(local.id) {
            Role::Resigned(self.resigned(Vec::new(), now))
        } else if saved.leader.is_none() && self.is_own_vote(saved) {
            Role::Candidate(self.candidate(1, now))
        } else if let Some(leader) = saved.leader {
            let endpoints = self.voters().endpoints(leader);
            if endpoints.endpoint(&self.settings.listener).is_some() {
                Role::Follower(self.follower(leader, endpoints, saved.voted, now))
            } else {
                Role::Unattached(unattached(Some(leader), saved.voted))
            }
        } else {
            Role::Unattached(unattached(None, saved.voted))
        };
        self.settled(now);
        if self.voters().is_only(local) && !matches!(self.role, Role::Candidate(_)) {
            self.become_candidate(now);
        } else if let Role::Candidate(role) = &self.role
            && role.votes.is_won()
        {
            self.become_leader(now);
        }
    }

    /// A later epoch has begun, or the node gives up on this one's leader.
    pub(super) fn become_unattached(
        &mut self,
        epoch: LeaderEpoch,
        leader: Option<BrokerId>,
        now: Now,
    ) {
        // Whoever waits for an election goes on waiting: else a node that is always told of new
        // epochs would never start one.
        let election_at = match &self.role {
            Role::Unattached(role) => role.election_at,
            Role::Candidate(role) => Some(role.election_at),
            _ => None,
        };
        let voted = match epoch == self.epoch {
            true => self.role.voted(self.settings.replica()),
            false => None,
        };
        self.leave_role();
        self.epoch = epoch;
        self.role = Role::Unattached(Unattached {
            leader,
            voted,
            election_at,
        });
        self.settled(now);
    }

    /// Gives this node's vote to a candidate of its epoch.
    pub(super) fn vote_for(&mut self, candidate: ReplicaKey, now: Now) {
        // The candidate has as good a chance as this node, so it gets the time for it.
        let again_at = now.after(self.random.spread(self.settings.election_timeout));
        match &mut self.role {
            Role::Unattached(role) => {
                role.voted = Some(candidate);
                role.election_at = role.election_at.map(|_| again_at);
            }
            Role::Prospective(role) => role.voted = Some(candidate),
            _ => return,
        }
        self.persist();
    }

    pub(super) fn become_prospective(&mut self, now: Now) {
        let local = self.settings.replica();
        let endpoints = match &self.role {
            Role::Follower(role) => role.endpoints.clone(),
            _ => Endpoints::default(),
        };
        let votes = Votes::new(self.voters(), local);
        let is_won = votes.is_won();
        let role = Prospective {
            leader: self.leader(),
            endpoints,
            voted: self.role.voted(local),
            votes,
            election_at: now.after(self.random.spread(self.settings.election_timeout)),
        };
        self.leave_role();
        self.role = Role::Prospective(role);
        self.settled(now);
        if is_won {
            self.become_candidate(now);
        }
    }

    /// Begins an epoch and asks for votes.
    pub(super) fn become_candidate(&mut self, now: Now) {
        let Some(next) = self.epoch.0.checked_add(1) else {
            return;
        };
        let retries = match &self.role {
            Role::Candidate(role) => role.retries + 1,
            _ => 1,
        };
        self.leave_role();
        self.epoch = LeaderEpoch(next);
        let role = self.candidate(retries, now);
        let is_won = role.votes.is_won();
        self.role = Role::Candidate(role);
        self.settled(now);
        if is_won {
            self.become_leader(now);
        }
    }

    /// The election is won.
    pub(super) fn become_leader(&mut self, now: Now) {
        let granting = match &self.role {
            Role::Candidate(role) => role.votes.granting(),
            _ => return,
        };
        let check_at = self.next_quorum_check(now);
        let leader = Leader::new(self.log.end(), self.voters(), check_at);
        self.leave_role();
        self.role = Role::Leader(Box::new(leader));
        self.settled(now);
        self.append_epoch_start(&granting, now);
        self.own_end_moved();
    }

    /// Follows a leader, whose endpoints have one for the controllers' listener.
    pub(super) fn become_follower(
        &mut self,
        epoch: LeaderEpoch,
        leader: BrokerId,
        endpoints: Endpoints,
        now: Now,
    ) {
        let voted = match epoch == self.epoch {
            true => self.role.voted(self.settings.replica()),
            false => None,
        };
        let follower = self.follower(leader, endpoints, voted, now);
        self.leave_role();
        self.epoch = epoch;
        self.role = Role::Follower(follower);
        self.settled(now);
    }

    pub(super) fn become_resigned(&mut self, now: Now) {
        let Role::Leader(leader) = &self.role else {
            return;
        };
        let successors = leader.successors(self.settings.replica());
        self.leave_role();
        self.role = Role::Resigned(self.resigned(successors, now));
        self.settled(now);
    }

    /// The pre-vote is lost: back to the leader, if there is one, or to waiting.
    pub(super) fn lose_pre_vote(&mut self, now: Now) {
        let Role::Prospective(role) = &self.role else {
            return;
        };
        let (leader, endpoints) = (role.leader, role.endpoints.clone());
        match leader {
            Some(leader) if !endpoints.is_empty() => {
                self.become_follower(self.epoch, leader, endpoints, now);
            }
            leader => self.become_unattached(self.epoch, leader, now),
        }
    }

    /// Takes over what a message says of the leader. False if it cannot be so.
    pub(super) fn learn(
        &mut self,
        epoch: LeaderEpoch,
        leader: Option<BrokerId>,
        endpoints: Endpoints,
        now: Now,
    ) -> bool {
        if !self.is_consistent(epoch, leader) {
            self.incident(Incident::InconsistentLeader {
                epoch,
                known: self.leader(),
                said: leader,
            });
            return false;
        }
        // A leader that cannot be reached is as good as none.
        let reachable = leader.filter(|id| {
            *id != self.settings.id && endpoints.endpoint(&self.settings.listener).is_some()
        });
        match reachable {
            Some(leader) if epoch > self.epoch || epoch == self.epoch && self.wants(&endpoints) => {
                self.become_follower(epoch, leader, endpoints, now);
            }
            None if epoch > self.epoch => self.become_unattached(epoch, leader, now),
            _ => {}
        }
        true
    }

    /// Whether a leader of this epoch with these endpoints is news.
    fn wants(&self, endpoints: &Endpoints) -> bool {
        match &self.role {
            Role::Unattached(_) | Role::Candidate(_) => true,
            Role::Prospective(role) => role.leader.is_none() || role.endpoints.is_empty(),
            Role::Follower(role) => endpoints.len() > role.endpoints.len(),
            Role::Leader(_) | Role::Resigned(_) => false,
        }
    }

    fn is_consistent(&self, epoch: LeaderEpoch, leader: Option<BrokerId>) -> bool {
        let Some(said) = leader else {
            return true;
        };
        if said == self.settings.id {
            return epoch <= self.epoch && self.leader() == leader;
        }
        epoch != self.epoch || self.leader().is_none_or(|known| known == said)
    }

    /// Whether this node stood for election in the epoch.
    fn is_own_vote(&self, saved: ElectionState) -> bool {
        let local = self.settings.replica();
        self.is_voter() && saved.voted.is_some_and(|voted| voted.stands_for(local))
    }

    fn candidate(&mut self, retries: u32, now: Now) -> Candidate {
        Candidate {
            votes: Votes::new(self.voters(), self.settings.replica()),
            election_at: now.after(self.random.spread(self.settings.election_timeout)),
            retries,
            backoff_until: None,
        }
    }

    fn follower(
        &self,
        leader: BrokerId,
        endpoints: Endpoints,
        voted: Option<ReplicaKey>,
        now: Now,
    ) -> Follower {
        Follower {
            leader,
            endpoints,
            voted,
            fetch_until: now.after(self.settings.fetch_timeout),
            has_fetched: false,
            snapshot: None,
        }
    }

    fn resigned(&mut self, successors: Vec<ReplicaKey>, now: Now) -> Resigned {
        let local = self.settings.id;
        let others = self.voters().iter().map(|voter| voter.key.id);
        Resigned {
            untold: others.filter(|id| *id != local).collect(),
            successors,
            election_at: now.after(self.random.spread(self.settings.election_timeout)),
        }
    }

    pub(super) fn next_quorum_check(&self, now: Now) -> Duration {
        // Half as much again as the followers wait, for the time that messages take.
        now.after(self.settings.fetch_timeout.mul_f64(1.5))
    }

    /// Ends what only makes sense in the role that is left.
    fn leave_role(&mut self) {
        self.peers.reset();
        if let Role::Leader(leader) = &mut self.role {
            self.refused.append(&mut leader.parked);
            self.refused_update = leader.updating.take();
        }
    }

    /// Persists and announces a role that was just taken up, gives a voter its timeout, and tells
    /// those who wait for a leader that is none any more.
    fn settled(&mut self, now: Now) {
        let is_voter = self.is_voter();
        let random_at = now.after(self.random.spread(self.settings.election_timeout));
        if let Role::Unattached(role) = &mut self.role {
            role.election_at = match is_voter {
                true => role.election_at.or(Some(random_at)),
                false => None,
            };
        }
        self.persist();
        self.announce();
        for fetch in std::mem::take(&mut self.refused) {
            let answer = self.refusal(&fetch, ErrorCode::NOT_LEADER_OR_FOLLOWER);
            self.answer(fetch.id, answer);
        }
        if let Some(update) = self.refused_update.take() {
            self.refuse_update(update);
        }
    }
}
