//! The codec, held to the schemas and to the tables of Apache Kafka 4.4.0.
//!
//! - `allocation`: what hostile bytes can make a decoder allocate.
//! - `facts`: API keys, versions and header versions are those of the tables.
//! - `frames`: requests and responses with their headers; the smallest ones have the sizes they should.
//! - `hostile`: truncations, flips and impossible counts are errors.
//! - `model`: random values of every message and version, against a plain encoder.
//! - `rules`: what a version cannot carry, nulls, defaults, tagged fields.

#![expect(
    clippy::unwrap_used,
    reason = "test support: a failure is a panic that shows the cause"
)]

mod allocation;
mod facts;
mod frames;
mod hostile;
mod model;
mod rules;
mod support;
