//! Requests to other nodes.

use klamm_protocol::messages::begin_quorum_epoch::{self, BeginQuorumEpochRequest};
use klamm_protocol::messages::end_quorum_epoch::{self, EndQuorumEpochRequest};
use klamm_protocol::messages::fetch::{self, FetchRequest, ReplicaState};
use klamm_protocol::messages::vote::{self, VoteRequest};
use klamm_protocol::{BrokerId, Offset};

use super::Raft;
use crate::time::Now;
use crate::{Endpoint, METADATA_TOPIC, METADATA_TOPIC_ID, Node, Output, ReplicaKey, Request, Send};

impl Raft {
    /// Sends a request, if the node may get one now.
    pub(super) fn send(&mut self, to: Node, request: Request, now: Now) {
        if !self.peers.is_ready(to.id) {
            return;
        }
        let until = now.after(self.settings.request_timeout);
        let id = self.peers.sent(&to, until);
        self.outputs
            .push_back(Output::Send(Send { id, to, request }));
    }

    /// A voter as a node to send to; none if it is not known how to reach it.
    pub(super) fn voter_node(&self, id: BrokerId) -> Option<Node> {
        let endpoints = &self.voters().voter(id)?.endpoints;
        let endpoint = endpoints.endpoint(&self.settings.listener)?.clone();
        Some(Node { id, endpoint })
    }

    /// A bootstrap server as a node, unless it is this one. Its id is none that a node may have.
    pub(super) fn bootstrap_node(&self, index: usize) -> Option<Node> {
        let endpoint: Endpoint = self.settings.bootstrap.get(index)?.clone();
        let own = self.settings.endpoints.endpoint(&self.settings.listener);
        if own == Some(&endpoint) {
            return None;
        }
        let id = BrokerId(-2 - i32::try_from(index).ok()?);
        Some(Node { id, endpoint })
    }

    pub(super) fn vote_request_to(&self, voter: ReplicaKey, pre_vote: bool) -> Request {
        let tip = self.log.tip();
        let partition = vote::RequestPartitionData {
            replica_epoch: self.epoch.0,
            replica_id: self.settings.id.0,
            replica_directory_id: self.settings.directory,
            voter_directory_id: voter.directory_or_zero(),
            last_offset_epoch: tip.epoch.0,
            last_offset: tip.offset.0,
            pre_vote,
            ..vote::RequestPartitionData::default()
        };
        Request::Vote(VoteRequest {
            cluster_id: Some(self.settings.cluster_id.as_str().into()),
            voter_id: voter.id.0,
            topics: vec![vote::RequestTopicData {
                topic_name: METADATA_TOPIC.into(),
                partitions: vec![partition],
                ..vote::RequestTopicData::default()
            }],
            ..VoteRequest::default()
        })
    }

    pub(super) fn begin_epoch_request_to(&self, voter: ReplicaKey) -> Request {
        let partition = begin_quorum_epoch::RequestPartitionData {
            voter_directory_id: voter.directory_or_zero(),
            leader_id: self.settings.id.0,
            leader_epoch: self.epoch.0,
            ..begin_quorum_epoch::RequestPartitionData::default()
        };
        let endpoint = |(name, endpoint): (&str, &Endpoint)| begin_quorum_epoch::LeaderEndpoint {
            name: name.into(),
            host: endpoint.host.as_str().into(),
            port: endpoint.port,
            ..begin_quorum_epoch::LeaderEndpoint::default()
        };
        Request::BeginQuorumEpoch(BeginQuorumEpochRequest {
            cluster_id: Some(self.settings.cluster_id.as_str().into()),
            voter_id: voter.id.0,
            topics: vec![begin_quorum_epoch::RequestTopicData {
                topic_name: METADATA_TOPIC.into(),
                partitions: vec![partition],
                ..begin_quorum_epoch::RequestTopicData::default()
            }],
            leader_endpoints: self.settings.endpoints.iter().map(endpoint).collect(),
            ..BeginQuorumEpochRequest::default()
        })
    }

    pub(super) fn end_epoch_request_with(&self, successors: &[ReplicaKey]) -> Request {
        let candidate = |key: &ReplicaKey| end_quorum_epoch::ReplicaInfo {
            candidate_id: key.id.0,
            candidate_directory_id: key.directory_or_zero(),
            ..end_quorum_epoch::ReplicaInfo::default()
        };
        let partition = end_quorum_epoch::RequestPartitionData {
            leader_id: self.settings.id.0,
            leader_epoch: self.epoch.0,
            // Version 0 has the one, later versions the other.
            preferred_successors: successors.iter().map(|key| key.id.0).collect(),
            preferred_candidates: successors.iter().map(candidate).collect(),
            ..end_quorum_epoch::RequestPartitionData::default()
        };
        let endpoint = |(name, endpoint): (&str, &Endpoint)| end_quorum_epoch::LeaderEndpoint {
            name: name.into(),
            host: endpoint.host.as_str().into(),
            port: endpoint.port,
            ..end_quorum_epoch::LeaderEndpoint::default()
        };
        Request::EndQuorumEpoch(EndQuorumEpochRequest {
            cluster_id: Some(self.settings.cluster_id.as_str().into()),
            topics: vec![end_quorum_epoch::RequestTopicData {
                topic_name: METADATA_TOPIC.into(),
                partitions: vec![partition],
                ..end_quorum_epoch::RequestTopicData::default()
            }],
            leader_endpoints: self.settings.endpoints.iter().map(endpoint).collect(),
            ..EndQuorumEpochRequest::default()
        })
    }

    pub(super) fn fetch_request_now(&self) -> Request {
        let tip = self.log.tip();
        let partition = fetch::FetchPartition {
            current_leader_epoch: self.epoch.0,
            fetch_offset: tip.offset.0,
            last_fetched_epoch: tip.epoch.0,
            partition_max_bytes: 0,
            replica_directory_id: self.settings.directory,
            high_watermark: self.high_watermark.unwrap_or(Offset(-1)).0,
            ..fetch::FetchPartition::default()
        };
        Request::Fetch(FetchRequest {
            cluster_id: Some(self.settings.cluster_id.as_str().into()),
            replica_state: ReplicaState {
                replica_id: self.settings.id.0,
                ..ReplicaState::default()
            },
            max_wait_ms: i32::try_from(self.settings.fetch_max_wait.as_millis())
                .unwrap_or(i32::MAX),
            max_bytes: i32::try_from(self.settings.fetch_max_bytes).unwrap_or(i32::MAX),
            topics: vec![fetch::FetchTopic {
                topic: METADATA_TOPIC.into(),
                topic_id: METADATA_TOPIC_ID,
                partitions: vec![partition],
                ..fetch::FetchTopic::default()
            }],
            ..FetchRequest::default()
        })
    }
}
