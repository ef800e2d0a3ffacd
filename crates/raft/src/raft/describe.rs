use klamm_protocol::messages::describe_quorum::{
    DescribeQuorumRequest, DescribeQuorumResponse, Listener, Node, ReplicaState,
    ResponsePartitionData, ResponseTopicData,
};
use klamm_protocol::{ErrorCode, Uuid};

use super::Raft;
use crate::role::{Leader, Replica, Role};
use crate::time::Now;
use crate::{Endpoint, Inbound, METADATA_TOPIC, Response};

impl Raft {
    /// What the node is in the quorum, in the words of Apache Kafka's metric `current-state`.
    pub fn state(&self) -> &'static str {
        match &self.role {
            Role::Leader(_) => "leader",
            Role::Prospective(role) if role.voted.is_some() => "prospective-voted",
            Role::Prospective(_) => "prospective",
            Role::Candidate(_) => "candidate",
            Role::Unattached(role) if role.voted.is_some() => "unattached-voted",
            Role::Follower(_) if self.is_voter() => "follower",
            Role::Follower(_) => "observer",
            Role::Unattached(_) | Role::Resigned(_) => "unattached",
        }
    }

    /// How many replicas follow that are no voters; none where this node does not lead.
    pub fn observer_count(&self, now: Now) -> usize {
        match &self.role {
            Role::Leader(leader) => leader.observers(now).count(),
            _ => 0,
        }
    }

    pub(super) fn describe_request(
        &mut self,
        inbound: &Inbound,
        request: &DescribeQuorumRequest,
        now: Now,
    ) {
        let is_metadata = match request.topics.as_slice() {
            [topic] if &*topic.topic_name == METADATA_TOPIC => {
                matches!(topic.partitions.as_slice(), [only] if only.partition_index == 0)
            }
            _ => false,
        };
        let version = inbound.version;
        if let Role::Leader(leader) = &mut self.role {
            leader.forget_observers(now);
        }
        let response = if !is_metadata {
            refused(request, version, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)
        } else if let Role::Leader(leader) = &self.role {
            self.described(leader, version, now)
        } else {
            let partition = error_partition(0, version, ErrorCode::NOT_LEADER_OR_FOLLOWER);
            of_metadata(partition)
        };
        self.answer(inbound.id, Response::DescribeQuorum(response));
    }

    fn described(&self, leader: &Leader, version: i16, now: Now) -> DescribeQuorumResponse {
        let local = self.settings.replica();
        let state = |replica: &Replica| {
            // The leader has always just caught up with itself.
            let is_local = replica.key.stands_for(local);
            let last_fetch = replica.last_fetch.map_or(-1, |last| last.timestamp_ms);
            ReplicaState {
                replica_id: replica.key.id.0,
                replica_directory_id: match version {
                    0 | 1 => Uuid::ZERO,
                    _ => replica.key.directory_or_zero(),
                },
                log_end_offset: replica.end.map_or(-1, |end| end.0),
                last_fetch_timestamp: if is_local {
                    now.timestamp_ms
                } else {
                    last_fetch
                },
                last_caught_up_timestamp: match is_local {
                    true => now.timestamp_ms,
                    false => replica.caught_up_ms,
                },
                ..ReplicaState::default()
            }
        };
        let mut response = of_metadata(ResponsePartitionData {
            leader_id: local.id.0,
            leader_epoch: self.epoch.0,
            high_watermark: leader.high_watermark.map_or(-1, |offset| offset.0),
            current_voters: leader.voters.values().map(state).collect(),
            observers: leader.observers.values().map(state).collect(),
            ..ResponsePartitionData::default()
        });
        if version >= 2 {
            response.nodes = leader.voters.values().map(node).collect();
        }
        response
    }
}

fn node(voter: &Replica) -> Node {
    let listener = |(name, endpoint): (&str, &Endpoint)| Listener {
        name: name.into(),
        host: endpoint.host.as_str().into(),
        port: endpoint.port,
        ..Listener::default()
    };
    Node {
        node_id: voter.key.id.0,
        listeners: voter.endpoints.iter().map(listener).collect(),
        ..Node::default()
    }
}

fn of_metadata(partition: ResponsePartitionData) -> DescribeQuorumResponse {
    DescribeQuorumResponse {
        topics: vec![ResponseTopicData {
            topic_name: METADATA_TOPIC.into(),
            partitions: vec![partition],
            ..ResponseTopicData::default()
        }],
        ..DescribeQuorumResponse::default()
    }
}

/// An answer with an error for every partition that was asked for.
fn refused(
    request: &DescribeQuorumRequest,
    version: i16,
    error: ErrorCode,
) -> DescribeQuorumResponse {
    let topics = request.topics.iter().map(|topic| ResponseTopicData {
        topic_name: topic.topic_name.clone(),
        partitions: topic
            .partitions
            .iter()
            .map(|partition| error_partition(partition.partition_index, version, error))
            .collect(),
        ..ResponseTopicData::default()
    });
    DescribeQuorumResponse {
        topics: topics.collect(),
        ..DescribeQuorumResponse::default()
    }
}

fn error_partition(index: i32, version: i16, error: ErrorCode) -> ResponsePartitionData {
    let message = error.name().filter(|_| version >= 2);
    ResponsePartitionData {
        partition_index: index,
        error_code: error.0,
        error_message: message.map(Into::into),
        ..ResponsePartitionData::default()
    }
}
