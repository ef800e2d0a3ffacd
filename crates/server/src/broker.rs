//! A broker: it observes the metadata, keeps replicas, serves clients.
//!
//! The observer follows the metadata log on a thread of its own. What it knows goes through a feed to
//! the publisher, which has the replicas act on it before anything else of the broker sees it. The
//! keeper tells the controller how the broker does.

mod apis;
mod call;
mod channel;
mod feed;
mod forward;
mod lifecycle;
mod node;
mod observer;
mod published;
mod publisher;
mod questions;
mod starting;
mod table;

pub(crate) use channel::{ActiveController, ControllerChannel, Controllers};
pub use lifecycle::{LifecycleError, UnsupportedFeature};
pub use node::{BrokerFatal, BrokerNode};
pub(crate) use published::{Changes, Published, Touched};
pub(crate) use starting::Network;
