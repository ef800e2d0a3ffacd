//! The cores on virtual time: nodes, disks and a network that are all made up, with faults.
//!
//! One seed decides everything, so a run that fails fails again: `cargo run -p klamm-sim -- --seed N`
//! prints what happened. A run has two phases. With faults, nothing that must not happen may happen:
//! checkers of their own watch every disk and every claim of a machine. Then the faults end, and the
//! cluster has to commit something new on all of its nodes.
//!
//! Messages go through the codec, in versions as nodes of different releases have them.

mod checker;
mod cluster;
mod disk;
mod plan;
mod wire;

use std::time::Duration;

use klamm_protocol::Offset;
use thiserror::Error;

pub use plan::Plan;

/// What a run did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// How many events there were.
    pub events: u64,
    /// How many messages were sent.
    pub messages: u64,
    /// How many leaders were elected.
    pub elections: u64,
    /// How many nodes crashed.
    pub crashes: u64,
    /// How often records were removed since the leader did not have them.
    pub truncations: u64,
    /// How often a snapshot took the place of a node's log.
    pub installs: u64,
    /// How many batches were appended by leaders.
    pub proposals: u64,
    /// How far the log was committed.
    pub committed: Offset,
}

/// A run in which something happened that must not.
#[derive(Clone, Debug, Error)]
#[error("seed {seed}, at {at:?}: {what}; `cargo run -p klamm-sim -- --seed {seed}` shows it")]
pub struct Failure {
    /// The run's seed.
    pub seed: u64,
    /// When it happened, in the run's time.
    pub at: Duration,
    /// What happened.
    pub what: String,
}

/// Runs a plan.
pub fn run(plan: Plan) -> Result<Report, Failure> {
    cluster::Cluster::new(plan, false).run().0
}

/// Runs a plan, and tells what happened line by line.
pub fn trace(plan: Plan) -> (Result<Report, Failure>, Vec<String>) {
    cluster::Cluster::new(plan, true).run()
}
