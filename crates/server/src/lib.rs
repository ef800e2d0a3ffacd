//! Nodes of a Kafka cluster, put together from the cores: raft, metadata, controller and the log.
//!
//! - [`settings`] is what `server.properties` says, checked and typed.
//! - [`format`] makes the directories that a node starts on.

pub mod format;
pub mod settings;
