use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::duration;
use crate::node::LogLevel;

/// Rehearse a failover on a cluster in this process.
///
/// Starts a cluster, makes a topic and runs a steady load of records that every replica in sync has to
/// have. Kills the broker that leads most, waits until others lead, starts it again, and elects the
/// preferred leaders. Then reads everything back: no record that was acknowledged may be missing, or
/// there twice. What happens is said on standard error, the report goes to standard output.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  klamm drill
  klamm drill --brokers 5 --partitions 60 --rate 5000
  klamm drill --output json

Exit status: 1 records were lost or doubled, or it could not go on; 2 misuse; 130 interrupted.")]
pub(crate) struct DrillArgs {
    /// How many brokers there are. A failover needs three.
    #[arg(long, value_name = "N", default_value_t = 3,
        value_parser = clap::value_parser!(u16).range(3..=99))]
    pub(super) brokers: u16,

    /// How many partitions the topic has.
    #[arg(long, value_name = "N", default_value_t = 12,
        value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(super) partitions: u16,

    /// How many records are sent a second.
    #[arg(long, value_name = "N", default_value_t = 1_000,
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) rate: u32,

    /// How long the load runs between one event and the next: 500ms, 2s.
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = duration::parse_positive)]
    pub(super) calm: Duration,

    /// The form of the report.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) output: Form,

    /// The least that log lines are about.
    #[arg(long, value_name = "LEVEL", default_value = "error")]
    pub(super) log_level: LogLevel,
}

/// The form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}
