//! The client against scripted servers in memory, on a paused clock: no test waits in real time.

mod bootstrap;
mod elections;
mod large_elections;
mod negotiation;
mod retries;
mod support;
mod tour;
