//! Answers to requests: the metadata partition alone, with the leader's endpoint for the listener
//! that was asked.

use klamm_protocol::messages::begin_quorum_epoch::{self, BeginQuorumEpochResponse};
use klamm_protocol::messages::end_quorum_epoch::{self, EndQuorumEpochResponse};
use klamm_protocol::messages::fetch::{self, FetchResponse};
use klamm_protocol::messages::vote::{self, VoteResponse};
use klamm_protocol::{BrokerId, ErrorCode};

use super::Raft;
use crate::log_shape::Position;
use crate::role::{Fetch, Parked, Role};
use crate::{
    Answer, AnswerId, Endpoint, Endpoints, Inbound, METADATA_TOPIC, METADATA_TOPIC_ID, Output,
    Response,
};

impl Raft {
    pub(super) fn answer(&mut self, id: AnswerId, response: Response) {
        self.outputs.push_back(Output::Answer(Answer {
            id,
            response,
            read: None,
        }));
    }

    /// The leader and where it listens, for answers whose version has endpoints.
    pub(super) fn leader_endpoint(&self, listener: &str) -> Option<(BrokerId, Endpoint)> {
        let endpoints = match &self.role {
            Role::Leader(_) | Role::Resigned(_) => &self.settings.endpoints,
            Role::Follower(role) => &role.endpoints,
            Role::Prospective(role) => &role.endpoints,
            Role::Unattached(_) | Role::Candidate(_) => return None,
        };
        let endpoint = endpoints.endpoint(listener)?.clone();
        self.leader().map(|leader| (leader, endpoint))
    }

    pub(super) fn leader_or_none(&self) -> i32 {
        self.leader().unwrap_or(BrokerId::NONE).0
    }

    pub(super) fn answer_vote(&mut self, inbound: &Inbound, error: ErrorCode, granted: bool) {
        let partition = vote::ResponsePartitionData {
            error_code: error.0,
            leader_id: self.leader_or_none(),
            leader_epoch: self.epoch.0,
            vote_granted: granted,
            ..vote::ResponsePartitionData::default()
        };
        let endpoint = self.leader_endpoint(&inbound.listener);
        let node = |(leader, endpoint): (BrokerId, Endpoint)| vote::NodeEndpoint {
            node_id: leader.0,
            host: endpoint.host.into(),
            port: endpoint.port,
            ..vote::NodeEndpoint::default()
        };
        let response = VoteResponse {
            topics: vec![vote::ResponseTopicData {
                topic_name: METADATA_TOPIC.into(),
                partitions: vec![partition],
                ..vote::ResponseTopicData::default()
            }],
            node_endpoints: endpoint
                .filter(|_| inbound.version >= 1)
                .map(node)
                .into_iter()
                .collect(),
            ..VoteResponse::default()
        };
        self.answer(inbound.id, Response::Vote(response));
    }

    pub(super) fn answer_begin_epoch(&mut self, inbound: &Inbound, error: ErrorCode) {
        let partition = begin_quorum_epoch::ResponsePartitionData {
            error_code: error.0,
            leader_id: self.leader_or_none(),
            leader_epoch: self.epoch.0,
            ..begin_quorum_epoch::ResponsePartitionData::default()
        };
        let endpoint = self.leader_endpoint(&inbound.listener);
        let node = |(leader, endpoint): (BrokerId, Endpoint)| begin_quorum_epoch::NodeEndpoint {
            node_id: leader.0,
            host: endpoint.host.into(),
            port: endpoint.port,
            ..begin_quorum_epoch::NodeEndpoint::default()
        };
        let response = BeginQuorumEpochResponse {
            topics: vec![begin_quorum_epoch::ResponseTopicData {
                topic_name: METADATA_TOPIC.into(),
                partitions: vec![partition],
                ..begin_quorum_epoch::ResponseTopicData::default()
            }],
            node_endpoints: endpoint
                .filter(|_| inbound.version >= 1)
                .map(node)
                .into_iter()
                .collect(),
            ..BeginQuorumEpochResponse::default()
        };
        self.answer(inbound.id, Response::BeginQuorumEpoch(response));
    }

    pub(super) fn answer_end_epoch(&mut self, inbound: &Inbound, error: ErrorCode) {
        let partition = end_quorum_epoch::ResponsePartitionData {
            error_code: error.0,
            leader_id: self.leader_or_none(),
            leader_epoch: self.epoch.0,
            ..end_quorum_epoch::ResponsePartitionData::default()
        };
        let endpoint = self.leader_endpoint(&inbound.listener);
        let node = |(leader, endpoint): (BrokerId, Endpoint)| end_quorum_epoch::NodeEndpoint {
            node_id: leader.0,
            host: endpoint.host.into(),
            port: endpoint.port,
            ..end_quorum_epoch::NodeEndpoint::default()
        };
        let response = EndQuorumEpochResponse {
            topics: vec![end_quorum_epoch::ResponseTopicData {
                topic_name: METADATA_TOPIC.into(),
                partitions: vec![partition],
                ..end_quorum_epoch::ResponseTopicData::default()
            }],
            node_endpoints: endpoint
                .filter(|_| inbound.version >= 1)
                .map(node)
                .into_iter()
                .collect(),
            ..EndQuorumEpochResponse::default()
        };
        self.answer(inbound.id, Response::EndQuorumEpoch(response));
    }

    /// A Fetch answer without records.
    pub(super) fn fetch_response(
        &self,
        fetch: &Fetch,
        error: ErrorCode,
        position: Position,
    ) -> FetchResponse {
        let high_watermark = match &self.role {
            Role::Leader(leader) if error.is_ok() => leader.high_watermark,
            _ => None,
        };
        let mut partition = fetch::PartitionData {
            error_code: error.0,
            high_watermark: high_watermark.map_or(-1, |offset| offset.0),
            log_start_offset: self.log.start().0,
            records: Some(bytes::Bytes::new()),
            ..fetch::PartitionData::default()
        };
        partition.current_leader.leader_id = self.leader_or_none();
        partition.current_leader.leader_epoch = self.epoch.0;
        match position {
            Position::Valid => {}
            Position::Diverging(end) => {
                partition.diverging_epoch.epoch = end.epoch.0;
                partition.diverging_epoch.end_offset = end.offset.0;
            }
            Position::Snapshot(id) => {
                partition.snapshot_id.epoch = id.epoch.0;
                partition.snapshot_id.end_offset = id.offset.0;
            }
        }
        let node = |(leader, endpoint): (BrokerId, Endpoint)| fetch::NodeEndpoint {
            node_id: leader.0,
            host: endpoint.host.into(),
            port: i32::from(endpoint.port),
            ..fetch::NodeEndpoint::default()
        };
        FetchResponse {
            responses: vec![fetch::FetchableTopicResponse {
                topic: METADATA_TOPIC.into(),
                topic_id: METADATA_TOPIC_ID,
                partitions: vec![partition],
                ..fetch::FetchableTopicResponse::default()
            }],
            // Version 16 has the field, but belongs to clients.
            node_endpoints: self
                .leader_endpoint(&fetch.listener)
                .filter(|_| fetch.version >= 17)
                .map(node)
                .into_iter()
                .collect(),
            ..FetchResponse::default()
        }
    }

    /// The answer to a Fetch that this node cannot serve any more.
    pub(super) fn refusal(&self, parked: &Parked, error: ErrorCode) -> Response {
        Response::Fetch(self.fetch_response(&parked.fetch, error, Position::Valid))
    }
}

/// Endpoints of one node, for the listener that the controllers use.
pub(super) fn endpoint_of(listener: &str, host: &str, port: u16) -> Endpoints {
    let host = host.to_owned();
    Endpoints::one(listener, Endpoint { host, port })
}
