//! Every Kafka message, byte by byte.
//!
//! [`decode`] walks bytes along the schemas, which are parsed when they are first asked for, and gives
//! a [`Tree`] whose nodes cover the bytes without a gap. Broken bytes give a tree too, of what could be
//! read, and the [`Problem`]s that were found. [`smallest_frame`] makes an instance of any message.
//!
//! The walk shares nothing with the code that `klamm-protocol` generates but the schemas; tests hold
//! the two to each other. It opens no file and no socket and reads no clock: bytes in, values out.

pub mod about;
pub mod capture;
mod catalog;
mod changes;
mod contents;
pub mod decode;
mod fields;
pub mod html;
pub mod input;
pub mod json;
pub mod log;
mod node;
mod secrets;
mod smallest;
pub mod text;
mod time;
mod walk;
mod words;

pub use catalog::{Direction, UnknownApi, apis, find_api, is_readable, message_schema, schema};
pub use changes::{Changes, FieldChange, Traits, changes};
pub use contents::{Contents, RecordType};
pub use node::{Node, Part, Place, Problem, Region, Role, Severity, Subject, Tree, Value};
pub use smallest::{
    EMPTY_BATCH, NoSuchRecord, NoSuchVersion, SmallestRecord, smallest_frame, smallest_record,
};
pub use walk::{Limits, Options};
