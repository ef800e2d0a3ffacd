//! Apache Kafka 4.4.0 as a peer: its jars, made ready by `interop/prepare`, and a long-lived JVM that
//! answers questions put to Kafka's own code.

mod hex;
mod java;
mod peer;

pub use hex::{hex, unhex};
pub use java::{Java, Release};
pub use peer::{Peer, PeerError};
pub use serde_json::{Value, json};

/// Reads JSON text.
///
/// # Panics
/// If it is none.
pub fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{text:?} is no JSON: {e}"))
}
