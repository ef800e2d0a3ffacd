//! Nodes of a Kafka cluster, put together from the cores: raft, metadata, controller and the log.
//!
//! - [`settings`] is what `server.properties` says, checked and typed.
//! - [`mod@format`] makes the directories that a node starts on.
//! - [`ControllerNode`] runs a controller.

mod apis;
mod clock;
mod controller;
mod features;
pub mod format;
mod listener;
mod machine;
mod node;
mod quorum;
pub mod settings;
mod snapshot;

pub use controller::Fatal;
pub use machine::random_uuid;
pub use node::{ControllerNode, StartError};
pub use quorum::{ReplayError, StoreError};
