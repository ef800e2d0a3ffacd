//! Reading and writing Kafka's primitive types.
//!
//! Source of the formats: the protocol guide of Apache Kafka, KIP-482 (compact and tagged fields).

mod error;
mod fixed;
mod reader;
mod segments;
mod sizer;
mod tagged;
mod varint;
mod writer;

pub use error::{DecodeError, EncodeError};
pub use fixed::Fixed;
pub use reader::Reader;
pub use segments::{Segments, SegmentsIter, Shares};
pub use sizer::Sizer;
pub use tagged::{TaggedField, TaggedFields};
pub use varint::{put_varint, put_varlong, unsigned_varint_len, varint_len, varlong_len};
pub use writer::Writer;
