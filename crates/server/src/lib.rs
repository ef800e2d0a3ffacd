//! Nodes of a Kafka cluster, put together from the cores: raft, metadata, controller and the log.
//!
//! - [`settings`] is what `server.properties` says, checked and typed.
//! - [`mod@format`] makes the directories that a node starts on.
//! - [`ControllerNode`] runs a controller.
//! - [`http`] is what tells of it, and of anything else, to browsers and Prometheus.

mod apis;
mod clock;
mod controller;
mod endpoint;
mod features;
pub mod format;
pub mod http;
mod listener;
mod machine;
mod metrics;
mod node;
mod quorum;
pub mod settings;
mod snapshot;

pub use controller::Fatal;
pub use machine::random_uuid;
pub use node::{ControllerNode, StartError};
pub use quorum::{ReplayError, StoreError};
