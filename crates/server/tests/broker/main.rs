//! A controller and brokers in this process, on real sockets and directories, with klamm's own clients:
//! what they serve, and what failures do.

#![allow(clippy::unwrap_used, reason = "it is a test")]

mod cluster;
mod crashes;
mod directories;
mod features;
mod load;
mod metadata;
mod records;
mod stops;
mod support;
mod versions;
