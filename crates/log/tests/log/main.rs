//! Logs on a disk in memory that fails and crashes, and on a real one.

#![allow(clippy::unwrap_used, reason = "it is a test")]

mod crash;
mod faults;
mod indexes;
mod model;
mod replicas;
mod state;
mod support;
mod times;
