//! Kafka's properties files and key tables: text in, typed values out.
//!
//! Nothing here opens a file: a caller hands over the text and the name to blame in messages.
//! [`Properties`] reads the
//! `.properties` format of `java.util.Properties`, a [`KeyTable`] says which keys exist and what
//! their values may be, and [`ClientSettings`] is what a client needs, parsed.

mod client;
mod error;
mod properties;
mod reading;
mod table;
mod values;

pub use client::{ClientSettings, SecurityProtocol, client_keys};
pub use error::{ConfigError, Problem, Warning};
pub use properties::{Properties, PropertiesError, PropertiesErrorKind, Property, decode};
pub use reading::Reading;
pub use table::{Key, KeyTable, Kind, Value, is_secret};
pub use values::Values;
