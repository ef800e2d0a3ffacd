//! What the benches beside Apache Kafka's servers share: requests, rows, and what processes use.

mod client;
mod options;
mod report;
mod usage;

pub use client::{Client, check};
pub use options::{Options, main};
pub use report::{HEAD, Row, Samples, Target, Unit};
pub use usage::{cpu_time, resident_mib};
