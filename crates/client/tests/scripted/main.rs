//! The client against scripted servers in memory, on a paused clock: no test waits in real time.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on panics, in its helpers too"
)]

mod bootstrap;
mod changing;
mod consuming;
mod describing;
mod elections;
mod fetching;
mod large_elections;
mod log;
mod negotiation;
mod outcomes;
mod producing;
mod retries;
mod support;
mod trouble;
