//! Messages as plain values, encoded by walking the schema.
//!
//! This is the slow, obvious way to encode a message. Tests hold the generated code and Apache
//! Kafka's own encoder to it, and give it random values; it shares nothing with the generated code
//! but the schema.

mod encode;
mod json;
mod random;
mod sample;

pub use encode::encode;
pub use json::to_json;
pub use random::{RandomOptions, random};
pub use sample::{smallest, smallest_with_records};

/// A value of any schema type.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Null.
    Null,
    /// A `bool`.
    Bool(bool),
    /// Any integer.
    Int(i64),
    /// A `float64`.
    Float(f64),
    /// A `uuid`.
    Uuid([u8; 16]),
    /// A `string`.
    Text(String),
    /// `bytes` or `records`.
    Bytes(Vec<u8>),
    /// An array.
    Array(Vec<Value>),
    /// A struct.
    Struct(StructValue),
}

/// A struct's values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StructValue {
    /// A value for each field of the schema's struct, in the schema's order.
    pub fields: Vec<Value>,
    /// Tagged fields that the schema does not know in this version, by ascending tag.
    pub unknown: Vec<(u32, Vec<u8>)>,
}
