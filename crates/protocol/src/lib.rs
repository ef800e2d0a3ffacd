//! The Kafka protocol of Apache Kafka 4.4.0: every message, record batches, frames and error codes.
//!
//! This crate is pure: bytes in, values out. It opens no socket or file, reads no clock and, without
//! the `compression` feature, needs no `std`.
//!
//! - [`messages`]: a module for each API with its request and response, generated from the schemas
//!   in `crates/protocol/schemas` when the crate is built.
//! - [`data`]: the records and key/value pairs that Kafka keeps in its own logs.
//! - [`records`]: record batches (v2, compressed or not) and the older message sets.
//! - [`frame`]: requests and responses with their headers and length prefix.
//! - `schemas`: the schemas' texts, with the feature of that name.
//! - [`LeaderEpochs`]: which leader epochs a log has, for whoever keeps or compares logs.
//! - [`wire`]: the reader and writer everything above is made of, with the limits on hostile input.

#![no_std]

extern crate alloc;
#[cfg(any(test, feature = "compression"))]
extern crate std;

mod api_key;
mod codec;
mod error_code;
pub mod frame;
mod ids;
mod leader_epochs;
mod message;
pub mod records;
#[cfg(feature = "schemas")]
pub mod schemas;
mod small_string;
pub mod wire;

pub mod messages {
    //! Requests and responses, a module for each API, named after it.
    include!(concat!(env!("OUT_DIR"), "/messages.rs"));
}

pub mod data {
    //! What Kafka keeps in its logs and snapshots, a module for each schema folder.
    include!(concat!(env!("OUT_DIR"), "/data.rs"));
}

pub use api_key::{ApiKey, ApiVersion, Listener};
pub use bytes::Bytes;
pub use codec::{Codec, MessageKind, TranscodeError, Transcoded, codecs};
pub use error_code::ErrorCode;
pub use ids::{BrokerId, LeaderEpoch, Offset, PartitionEpoch, PartitionIndex, Uuid};
pub use leader_epochs::{EpochEnd, EpochEntry, LeaderEpochs};
pub use message::{
    Decoded, Message, Request, VersionRange, decode, encode, encode_segments, write_checked,
};
pub use small_string::SmallString;
pub use smallvec::SmallVec;
pub use wire::{DecodeError, EncodeError, Segments};
