//! A controller in this process, on real sockets and directories, with brokers that follow a script.

mod brokers;
mod connections;
mod failover;
mod forwarding;
mod http;
mod large;
mod snapshots;
mod starts;
mod support;
mod tokens;
mod voters;
