use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};

use super::load::MOST_RECORDS;
use crate::args::ConnectionArgs;
use crate::duration;
use crate::errors::Problem;
use crate::node::LogLevel;

/// Rehearse a failover: on a cluster in this process, or on one that you disturb.
///
/// Without --bootstrap-server it starts a cluster, makes a topic and runs a steady load of records
/// that every replica in sync has to have. It kills the broker that leads most, waits until others
/// lead, starts it again, and elects the preferred leaders.
///
/// With --bootstrap-server the same load runs on a cluster that you disturb by hand: kill brokers,
/// restart them, elect leaders. Ctrl-C or --duration ends the load.
///
/// Then everything is read back: no record that was acknowledged may be missing, or there twice. What
/// happens is said on standard error, the report goes to standard output.
#[derive(Clone, Debug, Args)]
#[command(
    group = ArgGroup::new("elsewhere").args(["bootstrap_server", "command_config"]).multiple(true),
    after_help = "\
Examples:
  klamm drill
  klamm drill --html drill.html
  klamm drill --brokers 5 --partitions 60 --rate 5000
  klamm drill --bootstrap-server kafka-1:9092 --duration 5m --output json

Exit status: 1 records were lost or doubled, or it could not go on; 2 misuse; 130 interrupted."
)]
pub(crate) struct DrillArgs {
    /// How many partitions the topic has.
    #[arg(long, value_name = "N", default_value_t = 12,
        value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(super) partitions: u16,

    /// How many records are sent a second.
    #[arg(long, value_name = "N", default_value_t = 1_000,
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) rate: u32,

    /// The form of the report.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) output: Form,

    /// Draw a timeline as a page for a browser, too, into this file.
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,

    /// The least that log lines are about.
    #[arg(long, value_name = "LEVEL", default_value = "error")]
    pub(super) log_level: LogLevel,

    /// How many brokers there are. A failover needs three.
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "A cluster in this process",
        conflicts_with_all = ["bootstrap_server", "command_config"],
        value_parser = clap::value_parser!(u16).range(3..=99))]
    pub(super) brokers: u16,

    /// How long the load runs between one event and the next: 500ms, 2s.
    #[arg(long, value_name = "DURATION", default_value = "2s",
        help_heading = "A cluster in this process",
        conflicts_with_all = ["bootstrap_server", "command_config"],
        value_parser = duration::parse_positive)]
    pub(super) calm: Duration,

    /// The topic to make; without it one with a new name.
    #[arg(
        long,
        value_name = "NAME",
        requires = "elsewhere",
        help_heading = "A cluster that you disturb"
    )]
    pub(super) topic: Option<String>,

    /// How long the load runs; without it until Ctrl-C.
    #[arg(long, value_name = "DURATION", requires = "elsewhere",
        help_heading = "A cluster that you disturb", value_parser = duration::parse_positive)]
    pub(super) duration: Option<Duration>,

    /// Leave the topic there at the end.
    #[arg(
        long,
        requires = "elsewhere",
        help_heading = "A cluster that you disturb"
    )]
    pub(super) keep_topic: bool,

    #[command(flatten)]
    pub(super) connection: ConnectionArgs,
}

impl DrillArgs {
    /// Whether it is about a cluster that runs already.
    pub(super) fn is_elsewhere(&self) -> bool {
        let ConnectionArgs {
            bootstrap_server,
            bootstrap_controller,
            command_config,
            admin_config,
            timeout,
        } = &self.connection;
        bootstrap_server.is_some()
            || bootstrap_controller.is_some()
            || command_config.is_some()
            || admin_config.is_some()
            || timeout.is_some()
    }

    /// Refuses a load that is more than a drill keeps account of.
    pub(super) fn check(&self) -> Result<(), Problem> {
        let seconds = self.duration.map_or(0.0, |duration| duration.as_secs_f64());
        let records = seconds * f64::from(self.rate);
        if records > MOST_RECORDS as f64 {
            return Err(
                Problem::misuse("--duration and --rate are too much together")
                    .because(format!(
                        "they make {records:.0} records; a drill keeps account of {MOST_RECORDS}"
                    ))
                    .next("lower one of them; with --rate 100 a drill may take 13 hours"),
            );
        }
        Ok(())
    }
}

/// The form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}
