//! BeginQuorumEpoch and EndQuorumEpoch: a leader's first and last word.

use std::time::Duration;

use klamm_protocol::messages::begin_quorum_epoch::{
    BeginQuorumEpochRequest, BeginQuorumEpochResponse,
};
use klamm_protocol::messages::end_quorum_epoch::{EndQuorumEpochRequest, EndQuorumEpochResponse};
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, Request as _};

use super::Raft;
use super::responses::Said;
use crate::role::Role;
use crate::time::Now;
use crate::{Endpoint, Endpoints, Inbound, METADATA_TOPIC, ReplicaKey, Response};

impl Raft {
    pub(super) fn begin_epoch_request(
        &mut self,
        inbound: &Inbound,
        request: &BeginQuorumEpochRequest,
        now: Now,
    ) {
        let top_level = |error: ErrorCode| {
            Response::BeginQuorumEpoch(BeginQuorumEpochResponse {
                error_code: error.0,
                ..BeginQuorumEpochResponse::default()
            })
        };
        if !self.has_cluster_id(request.cluster_id.as_deref()) {
            let response = top_level(ErrorCode::INCONSISTENT_CLUSTER_ID);
            return self.answer(inbound.id, response);
        }
        let partition = match request.topics.as_slice() {
            [topic] if &*topic.topic_name == METADATA_TOPIC => match topic.partitions.as_slice() {
                [partition] if partition.partition_index == 0 => Some(partition),
                _ => None,
            },
            _ => None,
        };
        let Some(partition) = partition else {
            return self.answer(inbound.id, top_level(ErrorCode::INVALID_REQUEST));
        };
        let leader = BrokerId(partition.leader_id);
        let epoch = LeaderEpoch(partition.leader_epoch);
        let endpoints = request.leader_endpoints.iter();
        let endpoints = endpoints.map(|at| (&*at.name, &*at.host, at.port));
        if let Err(error) = self.learn_from_leader(leader, epoch, endpoints, now) {
            return self.answer_begin_epoch(inbound, error);
        }
        let is_meant = self.is_meant(request.voter_id, partition.voter_directory_id);
        let error = match is_meant {
            true => ErrorCode::NONE,
            false => ErrorCode::INVALID_VOTER_KEY,
        };
        self.answer_begin_epoch(inbound, error);
    }

    pub(super) fn begin_epoch_response(
        &mut self,
        node: BrokerId,
        response: &BeginQuorumEpochResponse,
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
            api: BeginQuorumEpochRequest::KEY,
            error: ErrorCode(partition.error_code),
            leader: BrokerId(partition.leader_id).known(),
            epoch: LeaderEpoch(partition.leader_epoch),
            endpoints: self.endpoints_in(partition.leader_id, endpoints),
        };
        self.common_response(said, now).unwrap_or(true)
    }

    pub(super) fn end_epoch_request(
        &mut self,
        inbound: &Inbound,
        request: &EndQuorumEpochRequest,
        now: Now,
    ) {
        let top_level = |error: ErrorCode| {
            Response::EndQuorumEpoch(EndQuorumEpochResponse {
                error_code: error.0,
                ..EndQuorumEpochResponse::default()
            })
        };
        if !self.has_cluster_id(request.cluster_id.as_deref()) {
            let response = top_level(ErrorCode::INCONSISTENT_CLUSTER_ID);
            return self.answer(inbound.id, response);
        }
        let partition = match request.topics.as_slice() {
            [topic] if &*topic.topic_name == METADATA_TOPIC => match topic.partitions.as_slice() {
                [partition] if partition.partition_index == 0 => Some(partition),
                _ => None,
            },
            _ => None,
        };
        let Some(partition) = partition else {
            return self.answer(inbound.id, top_level(ErrorCode::INVALID_REQUEST));
        };
        let leader = BrokerId(partition.leader_id);
        let epoch = LeaderEpoch(partition.leader_epoch);
        let endpoints = request.leader_endpoints.iter();
        let endpoints = endpoints.map(|at| (&*at.name, &*at.host, at.port));
        if let Err(error) = self.learn_from_leader(leader, epoch, endpoints, now) {
            return self.answer_end_epoch(inbound, error);
        }
        // Version 0 has ids alone.
        let candidates: Vec<ReplicaKey> = if partition.preferred_candidates.is_empty() {
            let ids = partition.preferred_successors.iter();
            ids.map(|id| ReplicaKey {
                id: BrokerId(*id),
                directory: None,
            })
            .collect()
        } else {
            let keys = partition.preferred_candidates.iter();
            keys.map(|key| ReplicaKey::new(BrokerId(key.candidate_id), key.candidate_directory_id))
                .collect()
        };
        let wait = self.successor_wait(&candidates);
        if let Role::Follower(role) = &mut self.role
            && role.leader == leader
        {
            role.fetch_until = now.after(wait);
            // It does not lead any more: others may be elected with this node's pre-vote.
            role.has_fetched = false;
        }
        self.answer_end_epoch(inbound, ErrorCode::NONE);
    }

    /// How long to leave the election to the better candidates.
    fn successor_wait(&self, candidates: &[ReplicaKey]) -> Duration {
        let local = self.settings.replica();
        let longest = self.settings.election_backoff_max;
        match candidates.iter().position(|key| key.stands_for(local)) {
            Some(0) => Duration::ZERO,
            Some(place) => {
                // Every further candidate waits twice as long as the one before it.
                let steps = candidates.len().min(31) as u32;
                let base = longest / (1 << (steps - 1));
                let factor = 1 << (place - 1).min(30);
                longest.min(base.saturating_mul(factor))
            }
            None => longest,
        }
    }

    pub(super) fn end_epoch_response(
        &mut self,
        node: BrokerId,
        response: &EndQuorumEpochResponse,
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
            api: EndQuorumEpochRequest::KEY,
            error: ErrorCode(partition.error_code),
            leader: BrokerId(partition.leader_id).known(),
            epoch: LeaderEpoch(partition.leader_epoch),
            endpoints: self.endpoints_in(partition.leader_id, endpoints),
        };
        if let Some(handled) = self.common_response(said, now) {
            return handled;
        }
        if let Role::Resigned(role) = &mut self.role {
            role.untold.retain(|untold| *untold != node);
        }
        true
    }

    /// Takes up what a leader says of itself: its epoch, and the endpoints that its request lists.
    fn learn_from_leader<'a>(
        &mut self,
        leader: BrokerId,
        epoch: LeaderEpoch,
        listed: impl Iterator<Item = (&'a str, &'a str, u16)>,
        now: Now,
    ) -> Result<(), ErrorCode> {
        self.check_voter(leader, epoch)?;
        let endpoints = self.endpoints_or_known(leader, listed);
        if self.learn(epoch, Some(leader), endpoints, now) {
            Ok(())
        } else {
            Err(ErrorCode::INVALID_REQUEST)
        }
    }

    /// The endpoints that a request lists, or those that the set of voters has.
    fn endpoints_or_known<'a>(
        &self,
        leader: BrokerId,
        listed: impl Iterator<Item = (&'a str, &'a str, u16)>,
    ) -> Endpoints {
        let listed: Endpoints = listed
            .map(|(name, host, port)| {
                let host = host.to_owned();
                (name.to_owned(), Endpoint { host, port })
            })
            .collect();
        if listed.is_empty() {
            self.voters().endpoints(leader)
        } else {
            listed
        }
    }
}
