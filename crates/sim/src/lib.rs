//! The cores on virtual time: nodes, disks and a network that are all made up, with faults.
//!
//! One seed decides everything, so a run that fails fails again: `cargo run -p klamm-sim -- --seed N`
//! prints what happened. A run has two phases. With faults, nothing that must not happen may happen:
//! checkers of their own watch every disk and every claim of a machine. Then the faults end, and the
//! cluster has to commit something new on all of its nodes.
//!
//! Messages go through the codec, in versions as nodes of different releases have them.

mod asks;
mod broker;
mod checker;
mod cluster;
mod controller;
mod data;
mod disk;
mod plan;
mod wire;

use std::time::Duration;

use klamm_protocol::Offset;
use thiserror::Error;

pub use plan::{BrokerPlan, Flaw, Plan};

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
    /// How many answers of controllers were held to what is committed.
    pub answers: u64,
    /// How often controllers fenced a broker by themselves.
    pub fenced: u64,
    /// How often a broker stopped after it had handed over its partitions.
    pub stops: u64,
    /// How many leaders of partitions were elected.
    pub leaders: u64,
    /// How many of them may have lacked records.
    pub unclean: u64,
    /// How many records leaders have acknowledged.
    pub acknowledged: u64,
    /// How often a replica lost records with its disk.
    pub lost: u64,
}

impl Report {
    /// Adds what another run did.
    pub fn add(&mut self, other: Self) {
        let Self {
            events,
            messages,
            elections,
            crashes,
            truncations,
            installs,
            proposals,
            committed,
            answers,
            fenced,
            stops,
            leaders,
            unclean,
            acknowledged,
            lost,
        } = other;
        self.events += events;
        self.messages += messages;
        self.elections += elections;
        self.crashes += crashes;
        self.truncations += truncations;
        self.installs += installs;
        self.proposals += proposals;
        self.committed.0 += committed.0;
        self.answers += answers;
        self.fenced += fenced;
        self.stops += stops;
        self.leaders += leaders;
        self.unclean += unclean;
        self.acknowledged += acknowledged;
        self.lost += lost;
    }
}

/// A run in which something happened that must not.
#[derive(Clone, Debug, Error)]
#[error(
    "seed {seed}, at {at:?}: {what}; `cargo run -p klamm-sim -- {}--seed {seed}` shows it",
    if *controller { "--controller " } else { "" }
)]
pub struct Failure {
    /// The run's seed.
    pub seed: u64,
    /// Whether it was one of a cluster with brokers.
    pub controller: bool,
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
