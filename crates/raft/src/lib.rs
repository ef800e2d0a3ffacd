//! KRaft, the consensus of Apache Kafka's controllers, as a state machine without input or output.
//!
//! [`Raft`] takes requests, responses, ticks and news of the log, and says what to send, to write
//! and to answer; its documentation has the contract. A quorum of one is the same machine.
//!
//! Sources: KIP-595 (the protocol), KIP-630 (snapshots), KIP-853 (voters in the log), KIP-996
//! (pre-vote), KIP-1166 (the high watermark in Fetch requests). Which checks are made in which
//! order, and which error codes answer them, is as in Apache Kafka.
//!
//! This crate is pure: no clock, socket, file, thread or randomness.

mod control;
mod election_state;
mod endpoints;
mod kraft_version;
mod log_shape;
mod message;
mod offset_and_epoch;
mod output;
mod peers;
mod raft;
mod replica_key;
mod role;
mod settings;
mod time;
mod voter_history;
mod voters;

pub use control::{ControlError, ControlRecord};
pub use election_state::ElectionState;
pub use endpoints::{Endpoint, Endpoints, Node};
pub use kraft_version::KRaftVersion;
pub use log_shape::LogShape;
pub use message::{
    AnswerId, Inbound, METADATA_TOPIC, METADATA_TOPIC_ID, Request, RequestId, Response, SendError,
};
pub use offset_and_epoch::OffsetAndEpoch;
pub use output::{
    Answer, Append, AppendError, AppendId, Incident, Leadership, Output, Read, Send, SnapshotError,
    SnapshotPart,
};
pub use raft::{Raft, Start, UpgradeError};
pub use replica_key::ReplicaKey;
pub use settings::Settings;
pub use time::Now;
pub use voters::{Voter, VoterSet};
