//! Kafka's message schemas as data.
//!
//! A schema file of Apache Kafka says which fields a message has, in which versions, and how they are
//! encoded. This crate parses such files ([`Schema::parse`], [`load_dir`] is the only function that
//! reads files, for build scripts and chores), turns them into Rust ([`rust`]), and has a plain,
//! schema-walking encoder ([`value`]) that the generated code is tested against.
//!
//! Source of the language: the README of Apache Kafka's message definitions, and what occurs in the
//! 286 schemas of 4.4.0.

mod comments;
mod error;
mod least;
mod load;
mod model;
mod names;
mod parse;
pub mod rust;
pub mod value;
mod versions;

pub use comments::without_comments;
pub use error::SchemaError;
pub use load::load_dir;
pub use model::{Default, Field, Kind, Schema, Struct, Type};
pub use names::{camel_case, snake_case};
pub use versions::Versions;
