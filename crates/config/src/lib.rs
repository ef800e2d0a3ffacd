//! Kafka's properties files and key tables: text in, typed values out.
//!
//! Nothing here opens a file: a caller hands over the text and the name to blame in messages.
//! [`Properties`] reads the
//! `.properties` format of `java.util.Properties`, a [`KeyTable`] says which keys exist and what
//! their values may be, and [`ClientSettings`] is what a client needs, parsed.

mod client;
mod error;
mod properties;
mod table;

pub use client::{ClientSettings, SecurityProtocol, client_keys};
pub use error::{ConfigError, Problem, Warning};
pub use properties::{Properties, PropertiesError, PropertiesErrorKind, Property, decode};
pub use table::{Key, KeyTable, Kind, Value, Values, is_secret};
