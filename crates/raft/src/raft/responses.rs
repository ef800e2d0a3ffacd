//! What the responses of all APIs have in common: an epoch, perhaps its leader, and errors that say
//! that one side is behind.

use klamm_protocol::{ApiKey, BrokerId, ErrorCode, LeaderEpoch};

use super::Raft;
use super::answers::endpoint_of;
use crate::role::Role;
use crate::time::Now;
use crate::{Endpoints, Incident, Response};

/// What a response says of the quorum.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) node: BrokerId,
    pub(super) api: ApiKey,
    pub(super) error: ErrorCode,
    pub(super) leader: Option<BrokerId>,
    pub(super) epoch: LeaderEpoch,
    /// Where that leader listens: as the response says, else as the set of voters does.
    pub(super) endpoints: Endpoints,
}

impl Raft {
    /// Takes a response. False if the node should be left alone for a while.
    pub(super) fn take_response(&mut self, node: BrokerId, response: Response, now: Now) -> bool {
        let (error, key) = match &response {
            Response::Vote(response) => (response.error_code, 52),
            Response::BeginQuorumEpoch(response) => (response.error_code, 53),
            Response::EndQuorumEpoch(response) => (response.error_code, 54),
            Response::Fetch(response) => (response.error_code, 1),
            Response::FetchSnapshot(response) => (response.error_code, 59),
            // The machine sends no such requests.
            Response::DescribeQuorum(_)
            | Response::AddRaftVoter(_)
            | Response::RemoveRaftVoter(_)
            | Response::UpdateRaftVoter(_) => return self.malformed(node),
        };
        let error = ErrorCode(error);
        if !error.is_ok() {
            return self.unexpected(node, ApiKey(key), error);
        }
        match response {
            Response::Vote(response) => self.vote_response(node, &response, now),
            Response::BeginQuorumEpoch(response) => self.begin_epoch_response(node, &response, now),
            Response::EndQuorumEpoch(response) => self.end_epoch_response(node, &response, now),
            Response::Fetch(response) => self.fetch_response_from(node, response, now),
            Response::FetchSnapshot(response) => self.snapshot_response(node, &response, now),
            Response::DescribeQuorum(_)
            | Response::AddRaftVoter(_)
            | Response::RemoveRaftVoter(_)
            | Response::UpdateRaftVoter(_) => false,
        }
    }

    /// Takes what every response says. `None` if the API's own part is to be taken, else whether
    /// all is well with the node.
    pub(super) fn common_response(&mut self, said: Said, now: Now) -> Option<bool> {
        let Said {
            node,
            api,
            error,
            leader,
            epoch,
            endpoints,
        } = said;
        if epoch < self.epoch || error == ErrorCode::UNKNOWN_LEADER_EPOCH {
            // The other node is behind.
            return Some(true);
        }
        let is_stale = matches!(
            error,
            ErrorCode::FENCED_LEADER_EPOCH | ErrorCode::NOT_LEADER_OR_FOLLOWER
        );
        if epoch > self.epoch || is_stale {
            return Some(self.learn(epoch, leader, endpoints, now));
        }
        if leader.is_some() && self.leader().is_none() {
            // An observer finds the leader and takes its records with one Fetch.
            let is_well = self.learn(epoch, leader, endpoints, now);
            let goes_on = is_well && error.is_ok() && matches!(self.role, Role::Follower(_));
            return (!goes_on).then_some(is_well);
        }
        match error {
            ErrorCode::BROKER_NOT_AVAILABLE => Some(false),
            // The voter has another directory now: no reason to leave it alone.
            ErrorCode::INVALID_VOTER_KEY => Some(true),
            ErrorCode::NONE => None,
            error => Some(self.unexpected(node, api, error)),
        }
    }

    /// The endpoints of a leader, from the list in a response or else from the set of voters.
    pub(super) fn endpoints_in<'a>(
        &self,
        leader: i32,
        mut nodes: impl Iterator<Item = (i32, &'a str, u16)>,
    ) -> Endpoints {
        match nodes.find(|(id, ..)| *id == leader) {
            Some((_, host, port)) => endpoint_of(&self.settings.listener, host, port),
            None => self.voters().endpoints(BrokerId(leader)),
        }
    }

    pub(super) fn malformed(&mut self, node: BrokerId) -> bool {
        self.incident(Incident::Malformed { node });
        false
    }

    fn unexpected(&mut self, node: BrokerId, api: ApiKey, error: ErrorCode) -> bool {
        // A node that shuts down says so; that is no incident.
        if error != ErrorCode::BROKER_NOT_AVAILABLE {
            self.incident(Incident::UnexpectedError { node, api, error });
        }
        false
    }
}
