//! What a node does by itself as time goes by.

use std::time::Duration;

use klamm_protocol::LeaderEpoch;

use super::Raft;
use crate::role::Role;
use crate::time::Now;
use crate::{Incident, Node, ReplicaKey};

impl Raft {
    /// Does all that can be done now. A role that is left for another may have more to do at once;
    /// no chain of roles comes back to where it was without a wait.
    pub(super) fn advance(&mut self, now: Now) {
        if self.installing.is_some() {
            // What the log has is not known before the snapshot is in its place.
            return;
        }
        self.peers.expire(now, self.settings.retry_backoff);
        while self.step(now) {}
        self.wake_parked(now);
    }

    /// Says whether the role has changed.
    fn step(&mut self, now: Now) -> bool {
        let is_voter = self.is_voter();
        match &mut self.role {
            Role::Unattached(role) => match role.election_at {
                Some(at) if is_voter && now.is_past(at) => {
                    self.become_prospective(now);
                    return true;
                }
                // Somebody may know of a leader by then.
                _ => self.fetch_from_bootstrap(now),
            },
            Role::Prospective(role) if now.is_past(role.election_at) => {
                self.lose_pre_vote(now);
                return true;
            }
            Role::Prospective(role) => {
                let open = role.votes.open();
                self.ask_for_votes(&open, true, now);
            }
            Role::Candidate(role) => {
                let is_over = role.backoff_until.unwrap_or(role.election_at);
                if now.is_past(is_over) {
                    self.become_prospective(now);
                    return true;
                }
                if !role.votes.is_lost() {
                    let open = role.votes.open();
                    self.ask_for_votes(&open, false, now);
                }
            }
            Role::Leader(_) => return self.lead(now),
            Role::Follower(role) if is_voter && now.is_past(role.fetch_until) => {
                self.become_prospective(now);
                return true;
            }
            Role::Follower(_) => self.follow(now),
            Role::Resigned(role) => {
                if now.is_past(role.election_at) {
                    // A later epoch, since this one has had its leader.
                    let next = LeaderEpoch(self.epoch.0.saturating_add(1));
                    self.become_unattached(next, None, now);
                    return true;
                }
                let (untold, successors) = (role.untold.clone(), role.successors.clone());
                for voter in untold {
                    if let Some(node) = self.voter_node(voter) {
                        let request = self.end_epoch_request_with(&successors);
                        self.send(node, request, now);
                    }
                }
            }
        }
        false
    }

    fn lead(&mut self, now: Now) -> bool {
        let alone = self.voters().is_only(self.settings.replica());
        let interval = self.settings.fetch_timeout / 2;
        let Role::Leader(leader) = &mut self.role else {
            return false;
        };
        if !alone && now.is_past(leader.check_quorum_at) {
            self.incident(Incident::QuorumLost { epoch: self.epoch });
            self.become_resigned(now);
            return true;
        }
        if now.is_past(leader.begin_epoch_at) {
            leader.begin_epoch_at = now.after(interval);
            let local = self.settings.id;
            let voters: Vec<ReplicaKey> = self.voters().iter().map(|voter| voter.key).collect();
            for voter in voters.into_iter().filter(|voter| voter.id != local) {
                if let Some(node) = self.voter_node(voter.id) {
                    let request = self.begin_epoch_request_to(voter);
                    self.send(node, request, now);
                }
            }
        }
        false
    }

    /// Fetches from the leader, or looks for another when it does not answer.
    fn follow(&mut self, now: Now) {
        let Role::Follower(role) = &self.role else {
            return;
        };
        let endpoint = role.endpoints.endpoint(&self.settings.listener);
        let snapshot = role.snapshot;
        let node = endpoint.map(|endpoint| Node {
            id: role.leader,
            endpoint: endpoint.clone(),
        });
        let is_lost = !self.is_voter() && now.is_past(role.fetch_until);
        match node {
            Some(node) if !is_lost && !self.peers.is_backing_off(node.id) => {
                // What a Fetch asks for tells the leader what this node has, so it must be durable.
                if self.log.is_flushed() && !self.peers.any_waiting() {
                    let request = match snapshot {
                        Some((id, position)) => self.snapshot_request_now(id, position),
                        None => self.fetch_request_now(),
                    };
                    self.send(node, request, now);
                }
            }
            _ => self.fetch_from_bootstrap(now),
        }
    }

    /// Asks one of the bootstrap servers, whichever it is, for the leader.
    fn fetch_from_bootstrap(&mut self, now: Now) {
        let servers = self.settings.bootstrap.len();
        if servers == 0 || self.peers.any_waiting() || !self.log.is_flushed() {
            return;
        }
        let first = self.random.below(servers as u64) as usize;
        let ready = (0..servers)
            .filter_map(|index| self.bootstrap_node((first + index) % servers))
            .find(|node| self.peers.is_ready(node.id));
        if let Some(node) = ready {
            let request = self.fetch_request_now();
            self.send(node, request, now);
        }
    }

    fn ask_for_votes(&mut self, voters: &[ReplicaKey], pre_vote: bool, now: Now) {
        for voter in voters {
            if let Some(node) = self.voter_node(voter.id) {
                let request = self.vote_request_to(*voter, pre_vote);
                self.send(node, request, now);
            }
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Duration> {
        if self.installing.is_some() {
            return None;
        }
        let is_voter = self.is_voter();
        let of_role = match &self.role {
            Role::Unattached(role) => role.election_at.filter(|_| is_voter),
            Role::Prospective(role) => Some(role.election_at),
            Role::Candidate(role) => Some(role.backoff_until.unwrap_or(role.election_at)),
            Role::Follower(role) => Some(role.fetch_until).filter(|_| is_voter),
            Role::Resigned(role) => Some(role.election_at),
            Role::Leader(leader) => {
                let alone = self.voters().is_only(self.settings.replica());
                let parked = leader.parked.iter().map(|parked| parked.until);
                let check = (!alone).then_some(leader.check_quorum_at);
                let begin = (!alone).then_some(leader.begin_epoch_at);
                parked.chain(check).chain(begin).min()
            }
        };
        of_role.into_iter().chain(self.peers.deadline()).min()
    }
}
