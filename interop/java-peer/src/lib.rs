//! Apache Kafka 4.4.0 as a peer: its jars, made ready by `interop/prepare`, and a long-lived JVM that
//! answers questions put to Kafka's own code.

mod hex;
mod java;
mod peer;

pub use hex::{hex, unhex};
pub use java::Java;
pub use peer::{Peer, PeerError};
pub use serde_json::{Value, json};
