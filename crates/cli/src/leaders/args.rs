use std::time::Duration;

use clap::Args;
use klamm_client::BrokerId;

use crate::args::{ConnectionArgs, Format};
use crate::duration;
use crate::patterns::TopicArg;

/// Show which broker leads what.
///
/// Per broker: the partitions that it leads, those that it would lead if every partition were led
/// by its preferred replica, the difference, and its replicas that are out of sync. Brokers that
/// are down are shown where a replica list names them.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = "\
Examples:
  How leadership is spread over the brokers, every 5 seconds:
    klamm leaders --bootstrap-server kafka-1:9092 --watch 5

  Partitions of some topics that are off their preferred leader:
    klamm leaders --bootstrap-server kafka-1:9092 --not-preferred \\
        --topic 'orders.*'

  How many partitions are under-replicated:
    klamm leaders --bootstrap-server kafka-1:9092 --under-replicated \\
        --output json | jq .counts.under_replicated

Exit status:
  0    shown
  1    the cluster could not be asked
  2    misuse
  130  ended with Ctrl-C, as --watch is
  143  the same with SIGTERM

Formats of --output json and plain: docs/leaders.md")]
pub(crate) struct LeadersArgs {
    /// Only this topic, or the topics of this pattern; may be given many times.
    ///
    /// In a pattern * stands for any characters and ? for one; dots stand for themselves.
    #[arg(long, value_name = "TOPIC", help_heading = "Filters")]
    pub(crate) topic: Vec<TopicArg>,

    /// Only these brokers; of the partitions, those with a replica there.
    #[arg(
        long,
        value_name = "ID,...", help_heading = "Filters", value_delimiter = ',', value_parser = broker_id
    )]
    pub(crate) broker: Vec<i32>,

    /// Only partitions that their preferred replica does not lead; implies --partitions.
    #[arg(long, help_heading = "Filters")]
    pub(crate) not_preferred: bool,

    /// Only partitions without a leader; implies --partitions.
    #[arg(long, help_heading = "Filters")]
    pub(crate) leaderless: bool,

    /// Only partitions with a replica that is out of sync; implies --partitions.
    #[arg(long, help_heading = "Filters")]
    pub(crate) under_replicated: bool,

    /// List partitions: leader, preferred leader, ISR and ELR.
    #[arg(long)]
    pub(crate) partitions: bool,

    /// Show it again every so often: 5 (seconds), 500ms, 1m; 2 seconds without a value.
    ///
    /// Refreshes in place on a terminal; elsewhere one result follows the other.
    #[arg(
        long,
        value_name = "INTERVAL",
        num_args = 0..=1,
        default_missing_value = "2",
        value_parser = duration::parse_interval
    )]
    pub(crate) watch: Option<Duration>,

    /// The form of the results.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output: Format,

    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
}

fn broker_id(text: &str) -> Result<i32, String> {
    let id = text.trim().parse().ok().filter(|id| *id >= 0);
    id.ok_or_else(|| "write brokers' ids: 3, or 1,2,3".to_owned())
}

/// Which partitions and brokers to show.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) topics: Vec<TopicArg>,
    pub(crate) brokers: Vec<BrokerId>,
    pub(crate) not_preferred: bool,
    pub(crate) leaderless: bool,
    pub(crate) under_replicated: bool,
}

impl LeadersArgs {
    pub(crate) fn filter(&self) -> Filter {
        Filter {
            topics: self.topic.clone(),
            brokers: self.broker.iter().copied().map(BrokerId).collect(),
            not_preferred: self.not_preferred,
            leaderless: self.leaderless,
            under_replicated: self.under_replicated,
        }
    }

    /// Whether to list partitions.
    pub(crate) fn lists_partitions(&self) -> bool {
        self.partitions || self.not_preferred || self.leaderless || self.under_replicated
    }
}
