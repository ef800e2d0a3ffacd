//! One machine with a made-up world around it.

use std::time::Duration;

use bytes::Bytes;
use klamm_protocol::messages::fetch::{FetchPartition, FetchRequest, FetchResponse, FetchTopic};
use klamm_protocol::messages::vote::{
    RequestPartitionData, RequestTopicData, VoteRequest, VoteResponse,
};
use klamm_protocol::records::{BatchBuilder, BatchOptions, NewRecord};
use klamm_protocol::{BrokerId, LeaderEpoch, Offset, Uuid, VersionRange};

use crate::*;

pub(super) const LISTENER: &str = "CONTROLLER";

/// A machine, and the time it is there.
pub(super) struct World {
    pub(super) raft: Raft,
    pub(super) now: Now,
    next_answer: u64,
}

pub(super) fn endpoint(id: i32) -> Endpoint {
    Endpoint {
        host: format!("host-{id}"),
        port: 9093,
    }
}

pub(super) fn directory(id: i32) -> Uuid {
    Uuid::from_bytes((id as u128 + 77).to_be_bytes())
}

pub(super) fn voter(id: i32) -> Voter {
    Voter {
        key: ReplicaKey::new(BrokerId(id), directory(id)),
        endpoints: Endpoints::one(LISTENER, endpoint(id)),
        kraft_versions: VersionRange::new(0, 1),
    }
}

pub(super) fn settings(id: i32) -> Settings {
    Settings {
        cluster_id: "a cluster".into(),
        bootstrap: vec![endpoint(1), endpoint(2), endpoint(3)],
        ..Settings::new(BrokerId(id), directory(id), LISTENER, endpoint(id))
    }
}

/// What a formatted directory has: the voters in the bootstrap snapshot.
pub(super) fn formatted(voters: impl IntoIterator<Item = i32>) -> Start {
    let mut log = LogShape::new(Offset(0));
    log.add_snapshot(OffsetAndEpoch::BOOTSTRAP, 400);
    let voters = voters.into_iter().map(voter).collect();
    Start {
        log,
        control: vec![
            (
                Offset(-1),
                ControlRecord::KRaftVersion(KRaftVersion::DYNAMIC),
            ),
            (Offset(-1), ControlRecord::Voters(voters)),
        ],
        ..Start::default()
    }
}

impl World {
    /// Node 1 with these voters, on a formatted directory.
    pub(super) fn new(voters: impl IntoIterator<Item = i32>) -> Self {
        Self::start(settings(1), formatted(voters))
    }

    pub(super) fn start(settings: Settings, start: Start) -> Self {
        let now = Now {
            elapsed: Duration::from_secs(100),
            timestamp_ms: 1_700_000_000_000,
        };
        Self {
            raft: Raft::new(settings, start, now),
            now,
            next_answer: 0,
        }
    }

    pub(super) fn outputs(&mut self) -> Vec<Output> {
        std::iter::from_fn(|| self.raft.poll_output()).collect()
    }

    /// Lets time pass, and ticks.
    pub(super) fn wait(&mut self, millis: u64) -> Vec<Output> {
        self.now.elapsed += Duration::from_millis(millis);
        self.now.timestamp_ms += millis as i64;
        self.raft.tick(self.now);
        self.outputs()
    }

    /// Lets time pass up to the next deadline.
    pub(super) fn wait_for_deadline(&mut self) -> Vec<Output> {
        let deadline = self.raft.deadline().expect("something to wait for");
        let wait = deadline.saturating_sub(self.now.elapsed);
        self.wait(wait.as_millis() as u64 + 1)
    }

    /// Sends a request to the machine, in a version.
    pub(super) fn request(&mut self, version: i16, request: Request) -> Vec<Output> {
        self.request_at(LISTENER, version, request)
    }

    pub(super) fn request_at(
        &mut self,
        listener: &str,
        version: i16,
        request: Request,
    ) -> Vec<Output> {
        self.next_answer += 1;
        let inbound = Inbound {
            id: AnswerId(self.next_answer),
            listener: listener.into(),
            version,
            request,
        };
        self.raft.handle_request(inbound, self.now);
        self.outputs()
    }

    pub(super) fn respond(&mut self, id: RequestId, response: Response) -> Vec<Output> {
        self.raft.handle_response(id, Ok(response), self.now);
        self.outputs()
    }

    /// Makes all appends of the outputs durable.
    pub(super) fn flush(&mut self, outputs: &[Output]) -> Vec<Output> {
        for output in outputs {
            if let Output::Append(append) = output {
                self.raft.flushed(append.id, self.now);
            }
        }
        self.outputs()
    }

    /// Goes through an election that voters 2 and 3 grant; the epoch's first records are durable.
    pub(super) fn elected(&mut self) {
        let mut outputs = self.outputs();
        for _ in 0..10 {
            for (id, request) in sends(&outputs) {
                if let Request::Vote(_) = request {
                    let response = vote_response(self.raft.epoch(), true);
                    self.raft.handle_response(id, Ok(response), self.now);
                }
            }
            let more = self.outputs();
            if !more.is_empty() {
                outputs = more;
            }
            if self.raft.is_leader() {
                break;
            }
            if sends(&outputs)
                .iter()
                .all(|(_, request)| !matches!(request, Request::Vote(_)))
            {
                outputs = self.wait_for_deadline();
            }
        }
        assert!(self.raft.is_leader());
        self.flush(&outputs);
    }

    /// Makes node 2 the leader of an epoch.
    pub(super) fn follow(&mut self, epoch: i32) -> Vec<Output> {
        let request = begin_epoch(epoch, 2);
        self.request(1, request)
    }
}

pub(super) fn sends(outputs: &[Output]) -> Vec<(RequestId, Request)> {
    let sends = outputs.iter().filter_map(|output| match output {
        Output::Send(send) => Some((send.id, send.request.clone())),
        _ => None,
    });
    sends.collect()
}

/// The Fetch among the outputs.
pub(super) fn sent_fetch(outputs: &[Output]) -> (RequestId, FetchRequest) {
    let fetch = sends(outputs)
        .into_iter()
        .find_map(|(id, request)| match request {
            Request::Fetch(request) => Some((id, request)),
            _ => None,
        });
    fetch.unwrap_or_else(|| panic!("no Fetch in {outputs:?}"))
}

/// The answers among the outputs.
pub(super) fn answers(outputs: Vec<Output>) -> Vec<Answer> {
    let answers = outputs.into_iter().filter_map(|output| match output {
        Output::Answer(answer) => Some(answer),
        _ => None,
    });
    answers.collect()
}

pub(super) fn fetch_answer(outputs: Vec<Output>) -> (FetchResponse, Option<Read>) {
    let mut answers = answers(outputs);
    assert_eq!(answers.len(), 1, "{answers:?}");
    let answer = answers.remove(0);
    match answer.response {
        Response::Fetch(response) => (response, answer.read),
        response => panic!("{response:?}"),
    }
}

pub(super) fn vote_answer(outputs: Vec<Output>) -> VoteResponse {
    let mut answers = answers(outputs);
    assert_eq!(answers.len(), 1, "{answers:?}");
    match answers.remove(0).response {
        Response::Vote(response) => response,
        response => panic!("{response:?}"),
    }
}

pub(super) fn vote_response(epoch: LeaderEpoch, granted: bool) -> Response {
    use klamm_protocol::messages::vote::{ResponsePartitionData, ResponseTopicData};
    Response::Vote(VoteResponse {
        topics: vec![ResponseTopicData {
            topic_name: METADATA_TOPIC.into(),
            partitions: vec![ResponsePartitionData {
                leader_id: -1,
                leader_epoch: epoch.0,
                vote_granted: granted,
                ..ResponsePartitionData::default()
            }],
            ..ResponseTopicData::default()
        }],
        ..VoteResponse::default()
    })
}

/// Node 2's request for node 1's vote, with a log that ends at `tip`.
pub(super) fn vote(epoch: i32, tip: (i32, i64), pre_vote: bool) -> VoteRequest {
    VoteRequest {
        cluster_id: Some("a cluster".into()),
        voter_id: 1,
        topics: vec![RequestTopicData {
            topic_name: METADATA_TOPIC.into(),
            partitions: vec![RequestPartitionData {
                replica_epoch: epoch,
                replica_id: 2,
                replica_directory_id: directory(2),
                voter_directory_id: directory(1),
                last_offset_epoch: tip.0,
                last_offset: tip.1,
                pre_vote,
                ..RequestPartitionData::default()
            }],
            ..RequestTopicData::default()
        }],
        ..VoteRequest::default()
    }
}

/// The word of a new leader to node 1.
pub(super) fn begin_epoch(epoch: i32, leader: i32) -> Request {
    use klamm_protocol::messages::begin_quorum_epoch::{
        BeginQuorumEpochRequest, RequestPartitionData, RequestTopicData,
    };
    Request::BeginQuorumEpoch(BeginQuorumEpochRequest {
        cluster_id: Some("a cluster".into()),
        voter_id: 1,
        topics: vec![RequestTopicData {
            topic_name: METADATA_TOPIC.into(),
            partitions: vec![RequestPartitionData {
                voter_directory_id: directory(1),
                leader_id: leader,
                leader_epoch: epoch,
                ..RequestPartitionData::default()
            }],
            ..RequestTopicData::default()
        }],
        ..BeginQuorumEpochRequest::default()
    })
}

/// A Fetch of a replica whose log ends at `tip`, and which knows of no high watermark.
pub(super) fn fetch(replica: i32, epoch: i32, tip: (i32, i64)) -> FetchRequest {
    let mut request = FetchRequest {
        cluster_id: Some("a cluster".into()),
        max_wait_ms: 500,
        topics: vec![FetchTopic {
            topic: METADATA_TOPIC.into(),
            topic_id: METADATA_TOPIC_ID,
            partitions: vec![FetchPartition {
                current_leader_epoch: epoch,
                last_fetched_epoch: tip.0,
                fetch_offset: tip.1,
                replica_directory_id: directory(replica),
                ..FetchPartition::default()
            }],
            ..FetchTopic::default()
        }],
        ..FetchRequest::default()
    };
    request.replica_state.replica_id = replica;
    request
}

/// A batch of one record.
pub(super) fn batch(offset: i64, epoch: i32) -> Bytes {
    let mut builder = BatchBuilder::new(BatchOptions {
        base_offset: Offset(offset),
        partition_leader_epoch: LeaderEpoch(epoch),
        ..BatchOptions::default()
    });
    let record = NewRecord {
        value: Some(b"a record"),
        ..NewRecord::default()
    };
    builder.append(&record).unwrap();
    builder.finish().unwrap().into_bytes()
}
