//! Leader and follower of one partition, as a state machine without input or output.
//!
//! [`Replica`] is this broker's replica of a partition. It takes the partition's state from the
//! metadata log, requests to produce and to fetch, and answers of the leader and the controller; it
//! says what to write, to send and to answer. Its documentation has the contract. [`Producers`] is
//! what it knows of idempotent and transactional producers.
//!
//! Sources: Apache Kafka's protocol, KIP-101 and KIP-279 (truncation by leader epochs), KIP-98
//! (idempotent producers), KIP-497 (AlterPartition, the maximal ISR), KIP-595 (diverging epochs in
//! Fetch), KIP-841 and KIP-903 (who may join the ISR), KIP-966 (the high watermark below
//! `min.insync.replicas`). Which error answers what is as in Apache Kafka.
//!
//! This crate is pure: no clock, socket, file, thread or randomness. It never holds records.

mod error;
mod fetch;
mod follower;
mod isr;
mod leader;
mod log_state;
mod output;
mod produce;
mod producers;
mod progress;
mod replica;
mod settings;

pub use error::{FetchedError, ProduceError, ReplicaError};
pub use fetch::{FetchPosition, FetchReply, Isolation, Readable, Reader};
pub use follower::{Fetch, FetchAnswer, Fetched, LeaderOffsets, Replication};
pub use isr::{CommittedIsr, IsrMember, ProposalId, ProposedIsr};
pub use log_state::LogState;
pub use output::{Acked, Output};
pub use produce::{Acks, Admission, Prepared, WaiterId};
pub use producers::{Producer, ProducerBatch, ProducerId, Producers, SnapshotError};
pub use replica::{Replica, RoleKind};
pub use settings::{Brokers, Settings, Standing};
