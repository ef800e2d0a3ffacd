use std::time::Duration;

use klamm_protocol::messages::vote::{VoteRequest, VoteResponse};
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, Offset, Request as _, Uuid};

use super::Raft;
use super::responses::Said;
use crate::role::Role;
use crate::time::Now;
use crate::{Inbound, METADATA_TOPIC, OffsetAndEpoch, ReplicaKey, Response, SendError};

impl Raft {
    /// A Vote request: a candidate's, or with `pre_vote` that of a node that would be one.
    pub(super) fn vote_request(&mut self, inbound: &Inbound, request: &VoteRequest, now: Now) {
        if !self.has_cluster_id(request.cluster_id.as_deref()) {
            let response = VoteResponse {
                error_code: ErrorCode::INCONSISTENT_CLUSTER_ID.0,
                ..VoteResponse::default()
            };
            return self.answer(inbound.id, Response::Vote(response));
        }
        let partition = match request.topics.as_slice() {
            [topic] if &*topic.topic_name == METADATA_TOPIC => match topic.partitions.as_slice() {
                [partition] if partition.partition_index == 0 => Some(partition),
                _ => None,
            },
            _ => None,
        };
        let Some(partition) = partition else {
            let response = VoteResponse {
                error_code: ErrorCode::INVALID_REQUEST.0,
                ..VoteResponse::default()
            };
            return self.answer(inbound.id, Response::Vote(response));
        };
        let pre_vote = partition.pre_vote;
        let (epoch, last_epoch) = (partition.replica_epoch, partition.last_offset_epoch);
        // A candidate begins an epoch, so it has no records of it; before a pre-vote it may.
        let is_early = if pre_vote {
            last_epoch > epoch
        } else {
            last_epoch >= epoch
        };
        if partition.last_offset < 0 || last_epoch < 0 || is_early {
            return self.answer_vote(inbound, ErrorCode::INVALID_REQUEST, false);
        }
        let candidate = ReplicaKey::new(
            BrokerId(partition.replica_id),
            partition.replica_directory_id,
        );
        let epoch = LeaderEpoch(epoch);
        if let Err(error) = self.check_voter(candidate.id, epoch) {
            return self.answer_vote(inbound, error, false);
        }
        if epoch > self.epoch {
            self.become_unattached(epoch, None, now);
        }
        if !self.is_meant(request.voter_id, partition.voter_directory_id) {
            return self.answer_vote(inbound, ErrorCode::INVALID_VOTER_KEY, false);
        }
        let tip = OffsetAndEpoch {
            epoch: LeaderEpoch(last_epoch),
            offset: Offset(partition.last_offset),
        };
        let granted = self.role.grants(candidate, pre_vote, tip >= self.log.tip());
        if granted && !pre_vote && self.role.voted(self.settings.replica()).is_none() {
            self.vote_for(candidate, now);
        }
        self.answer_vote(inbound, ErrorCode::NONE, granted);
    }

    /// Whether a request that names its addressee is for this node. Older versions do not name it.
    pub(super) fn is_meant(&self, voter_id: i32, directory: Uuid) -> bool {
        match BrokerId(voter_id).known() {
            None => true,
            Some(id) => ReplicaKey::new(id, directory).stands_for(self.settings.replica()),
        }
    }

    pub(super) fn vote_response(
        &mut self,
        node: BrokerId,
        response: &VoteResponse,
        now: Now,
    ) -> bool {
        let partition = match response.topics.as_slice() {
            [topic] => match topic.partitions.as_slice() {
                [partition] if partition.partition_index == 0 => partition,
                _ => return self.malformed(node),
            },
            _ => return self.malformed(node),
        };
        let endpoints = response.node_endpoints.iter();
        let endpoints = endpoints.map(|node| (node.node_id, &*node.host, node.port));
        let said = Said {
            node,
            api: VoteRequest::KEY,
            error: ErrorCode(partition.error_code),
            leader: BrokerId(partition.leader_id).known(),
            epoch: LeaderEpoch(partition.leader_epoch),
            endpoints: self.endpoints_in(partition.leader_id, endpoints),
        };
        if let Some(handled) = self.common_response(said, now) {
            return handled;
        }
        let granted = partition.vote_granted;
        match &mut self.role {
            Role::Prospective(role) => {
                role.votes.record(node, granted);
                if role.votes.is_won() {
                    self.become_candidate(now);
                } else if role.votes.is_lost() {
                    self.lose_pre_vote(now);
                }
            }
            Role::Candidate(role) => {
                role.votes.record(node, granted);
                if role.votes.is_won() {
                    self.become_leader(now);
                } else if role.votes.is_lost() && role.backoff_until.is_none() {
                    // No need to wait for the timeout. The first waits are short; they get longer
                    // so that nodes whose elections collide do not burn epochs.
                    let steps = 2u64 << (role.retries - 1).min(20);
                    let wait = LOST_ELECTION_WAIT_MS * self.random.below(steps);
                    let wait = Duration::from_millis(wait);
                    let wait = wait.min(self.settings.election_backoff_max);
                    role.backoff_until = Some(now.after(wait));
                }
            }
            _ => {}
        }
        true
    }

    /// A request failed without a response.
    pub(super) fn not_answered(&mut self, error: SendError, now: Now) -> bool {
        match error {
            SendError::UnsupportedVersion if matches!(self.role, Role::Prospective(_)) => {
                // A voter does not know the pre-vote, so there cannot be one.
                self.become_candidate(now);
                true
            }
            SendError::UnsupportedVersion | SendError::Unreachable => false,
        }
    }
}

/// The unit of the wait after a lost election, in milliseconds.
const LOST_ELECTION_WAIT_MS: u64 = 100;
