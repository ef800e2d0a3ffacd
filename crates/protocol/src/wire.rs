//! Reading and writing Kafka's primitive types.
//!
//! Source of the formats: the protocol guide of Apache Kafka, KIP-482 (compact and tagged fields).

mod error;
mod fixed;
mod reader;
mod segments;
mod sink;
mod tagged;
mod varint;
mod writer;

pub use error::{DecodeError, EncodeError};
pub use fixed::Fixed;
pub use reader::Reader;
pub use segments::{Segments, SegmentsIter};
pub use sink::Sink;
pub use tagged::{TaggedField, TaggedFields};
pub use varint::{put_varint, put_varlong, unsigned_varint_len, varint_len, varlong_len};
pub use writer::Writer;

/// The longest string, in bytes: its length is an int16 in older versions, and Apache Kafka keeps
/// the limit in compact ones.
const STRING_MAX: usize = i16::MAX as usize;
