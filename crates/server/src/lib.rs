//! Nodes of a Kafka cluster, put together from the cores: raft, metadata, controller and the log.
//!
//! - [`settings`] is what `server.properties` says, checked and typed.
//! - [`format`] makes the directories that a node starts on.
//! - [`ControllerNode`] runs a controller.

mod apis;
mod clock;
mod controller;
mod features;
pub mod format;
mod listener;
mod node;
mod quorum;
pub mod settings;

pub use controller::Fatal;
pub use node::{ControllerNode, StartError};
pub use quorum::{ReplayError, StoreError};
