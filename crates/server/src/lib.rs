//! Nodes of a Kafka cluster, put together from the cores: raft, metadata, controller and the log.
//!
//! - [`settings`] is what `server.properties` says, checked and typed.
//! - [`mod@format`] makes the directories that a node starts on.
//! - [`ControllerNode`] runs a controller, [`BrokerNode`] a broker.
//! - [`EmbeddedCluster`] runs a controller and brokers in one process, for development and tests.
//! - [`http`] is what tells of it, and of anything else, to browsers and Prometheus.

mod apis;
mod broker;
mod client;
mod clock;
mod controller;
mod embedded;
mod endpoint;
mod features;
pub mod format;
pub mod http;
mod listener;
mod machine;
mod metrics;
mod node;
mod parts;
mod quorum;
mod replicas;
pub mod settings;
mod snapshot;

pub use broker::{BrokerFatal, BrokerNode, LifecycleError, UnsupportedFeature};
pub use controller::Fatal;
pub use embedded::{EmbeddedCluster, EmbeddedClusterBuilder, EmbeddedError};
pub use machine::random_uuid;
pub use node::{ControllerNode, StartError};
pub use quorum::{ReplayError, StoreError};
pub use replicas::OpenError;
