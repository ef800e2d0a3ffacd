//! Schemas turned into Rust, for a build script to write into `OUT_DIR`.
//!
//! The code refers to `crate::wire`, `crate::Message` and the other items of `klamm-protocol`, which
//! is where it is included. For every struct there are two walks over its fields in the order of
//! the wire: `write` (which refuses what a version cannot carry) and `read`.

mod code;
mod declare;
mod files;
mod read;
mod run;
mod shape;
mod tables;
mod write;

pub use files::{GeneratedFile, generate};
pub use tables::error_codes;
