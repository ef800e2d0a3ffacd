use klamm_protocol::messages::add_raft_voter::{AddRaftVoterRequest, AddRaftVoterResponse};
use klamm_protocol::messages::begin_quorum_epoch::{
    BeginQuorumEpochRequest, BeginQuorumEpochResponse,
};
use klamm_protocol::messages::describe_quorum::{DescribeQuorumRequest, DescribeQuorumResponse};
use klamm_protocol::messages::end_quorum_epoch::{EndQuorumEpochRequest, EndQuorumEpochResponse};
use klamm_protocol::messages::fetch::{FetchRequest, FetchResponse};
use klamm_protocol::messages::fetch_snapshot::{FetchSnapshotRequest, FetchSnapshotResponse};
use klamm_protocol::messages::remove_raft_voter::{
    RemoveRaftVoterRequest, RemoveRaftVoterResponse,
};
use klamm_protocol::messages::update_raft_voter::{
    UpdateRaftVoterRequest, UpdateRaftVoterResponse,
};
use klamm_protocol::messages::vote::{VoteRequest, VoteResponse};
use klamm_protocol::{ApiKey, Request as _, Uuid};

/// The topic that holds the metadata log.
pub const METADATA_TOPIC: &str = "__cluster_metadata";

/// That topic's id, the same in every cluster.
pub const METADATA_TOPIC_ID: Uuid = {
    let mut bytes = [0; 16];
    bytes[15] = 1;
    Uuid::from_bytes(bytes)
};

/// A request that KRaft answers or sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// A candidate asks for a vote, or whether it would get one.
    Vote(VoteRequest),
    /// A leader tells a voter of its election.
    BeginQuorumEpoch(BeginQuorumEpochRequest),
    /// A leader resigns.
    EndQuorumEpoch(EndQuorumEpochRequest),
    /// A replica asks for records after those it has.
    Fetch(FetchRequest),
    /// A replica asks for a part of a snapshot.
    FetchSnapshot(FetchSnapshotRequest),
    /// Somebody wants to know how the quorum does.
    DescribeQuorum(DescribeQuorumRequest),
    /// Somebody wants another voter.
    AddRaftVoter(AddRaftVoterRequest),
    /// Somebody wants a voter less.
    RemoveRaftVoter(RemoveRaftVoterRequest),
    /// A voter tells where it listens and what it supports.
    UpdateRaftVoter(UpdateRaftVoterRequest),
}

impl Request {
    /// The API of the request.
    pub fn api_key(&self) -> ApiKey {
        match self {
            Self::Vote(_) => VoteRequest::KEY,
            Self::BeginQuorumEpoch(_) => BeginQuorumEpochRequest::KEY,
            Self::EndQuorumEpoch(_) => EndQuorumEpochRequest::KEY,
            Self::Fetch(_) => FetchRequest::KEY,
            Self::FetchSnapshot(_) => FetchSnapshotRequest::KEY,
            Self::DescribeQuorum(_) => DescribeQuorumRequest::KEY,
            Self::AddRaftVoter(_) => AddRaftVoterRequest::KEY,
            Self::RemoveRaftVoter(_) => RemoveRaftVoterRequest::KEY,
            Self::UpdateRaftVoter(_) => UpdateRaftVoterRequest::KEY,
        }
    }
}

/// The response to a [`Request`] of the same name.
#[derive(Clone, Debug, PartialEq)]
pub enum Response {
    /// To a Vote request.
    Vote(VoteResponse),
    /// To a BeginQuorumEpoch request.
    BeginQuorumEpoch(BeginQuorumEpochResponse),
    /// To an EndQuorumEpoch request.
    EndQuorumEpoch(EndQuorumEpochResponse),
    /// To a Fetch request.
    Fetch(FetchResponse),
    /// To a FetchSnapshot request.
    FetchSnapshot(FetchSnapshotResponse),
    /// To a DescribeQuorum request.
    DescribeQuorum(DescribeQuorumResponse),
    /// To an AddRaftVoter request.
    AddRaftVoter(AddRaftVoterResponse),
    /// To a RemoveRaftVoter request.
    RemoveRaftVoter(RemoveRaftVoterResponse),
    /// To an UpdateRaftVoter request.
    UpdateRaftVoter(UpdateRaftVoterResponse),
}

/// A request that came in, with what its answer depends on.
#[derive(Clone, Debug)]
pub struct Inbound {
    /// The caller's name for the request, which comes back with the answer.
    pub id: AnswerId,
    /// The name of the listener that it came in by: endpoints in the answer are for this listener.
    pub listener: String,
    /// The version of the request, and so of its answer.
    pub version: i16,
    /// The request.
    pub request: Request,
}

/// The caller's name for a request that waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnswerId(pub u64);

/// The machine's name for a request that it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Why a request that the machine sends gets no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// The node cannot be reached, or the connection is gone.
    Unreachable,
    /// The node offers no version of the API that can carry the request.
    UnsupportedVersion,
}
