use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::args::{ConnectionArgs, Format};
use crate::duration;
use crate::patterns::TopicArg;

use super::request::PartitionSet;

/// Elect leaders of partitions.
///
/// Takes the flags and files of Apache Kafka's kafka-leader-election.sh. Choose partitions with
/// exactly one of
/// --topic, --all-topic-partitions and --path-to-json-file.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = "\
Examples:
  Give every partition back to its preferred leader, 500 at a time:
    klamm elect --bootstrap-server kafka-1:9092 --election-type preferred \\
        --all-topic-partitions --batch-size 500 --pause 10s

  See what that would do:
    klamm elect --bootstrap-server kafka-1:9092 --election-type preferred \\
        --all-topic-partitions --dry-run

  All partitions of some topics (quote patterns, or the shell expands them):
    klamm elect --bootstrap-server kafka-1:9092 --election-type preferred \\
        --topic 'orders.*' --topic payments

  One leaderless partition, accepting that records may be lost:
    klamm elect --bootstrap-server kafka-1:9092 --election-type unclean \\
        --topic orders.eu --partition 3

Exit status:
  0    everything was elected, or needed no election
  1    a partition failed, the cluster could not be asked, or the answer was no
  2    misuse: flags that do not go together, a file that cannot be read
  130  interrupted with Ctrl-C; what was done until then is reported
  143  the same with SIGTERM

Formats of --output json and plain: docs/elect.md")]
pub(crate) struct ElectArgs {
    /// Which leader to elect, in any case.
    #[arg(long, value_name = "TYPE", ignore_case = true)]
    pub(crate) election_type: ElectionType,

    /// A topic, or a pattern of topics; may be given many times.
    ///
    /// In a pattern * stands for any characters and ? for one; dots stand for themselves. One topic
    /// by name needs
    /// --partition.
    #[arg(long, value_name = "TOPIC", help_heading = "Partitions")]
    pub(crate) topic: Vec<TopicArg>,

    /// Partitions of each --topic: 3, 0,2,5-7 or all.
    ///
    /// Required with a single topic by name; otherwise all.
    #[arg(long, value_name = "PARTITION", help_heading = "Partitions")]
    pub(crate) partition: Option<PartitionSet>,

    /// Every partition of the cluster that the election type applies to.
    #[arg(long, help_heading = "Partitions")]
    pub(crate) all_topic_partitions: bool,

    /// A JSON file that lists partitions, - for standard input.
    ///
    /// Its form: {"partitions": [{"topic": "orders", "partition": 0}]}. A partition may be listed
    /// once.
    #[arg(long, value_name = "FILE", help_heading = "Partitions")]
    pub(crate) path_to_json_file: Option<PathBuf>,

    /// Say what would change, and change nothing.
    #[arg(long, help_heading = "Pace")]
    pub(crate) dry_run: bool,

    /// Elect in waves of this many partitions, so that not all clients move at once.
    #[arg(
        long,
        value_name = "COUNT",
        help_heading = "Pace",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) batch_size: Option<u32>,

    /// Wait this long between waves: 500ms, 10s, 1m.
    #[arg(
        long,
        value_name = "DURATION",
        help_heading = "Pace",
        requires = "batch_size",
        value_parser = duration::parse
    )]
    pub(crate) pause: Option<Duration>,

    /// Do not ask before an unclean election.
    #[arg(long)]
    pub(crate) yes: bool,

    /// The form of the results.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output: Format,

    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
}

/// Kafka's kinds of election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ElectionType {
    /// The first replica of the assignment, where it is in sync.
    Preferred,
    /// Any replica that runs, for partitions without a leader: records may be lost.
    Unclean,
}

impl ElectionType {
    /// As results name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Preferred => "preferred",
            Self::Unclean => "unclean",
        }
    }
}
