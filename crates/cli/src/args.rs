use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::broker::BrokerArgs;
use crate::controller::ControllerArgs;
use crate::drill::DrillArgs;
use crate::duration;
use crate::elect::ElectArgs;
use crate::explain::ExplainArgs;
use crate::leaders::LeadersArgs;
use crate::storage::{FormatArgs, InfoArgs, RandomUuidArgs};
use crate::up::UpArgs;

/// Widest line of a help text.
const HELP_WIDTH: usize = 100;

/// See and move partition leadership of Kafka clusters.
#[derive(Debug, Parser)]
#[command(
    name = "klamm",
    version,
    max_term_width = HELP_WIDTH,
    arg_required_else_help = true,
    after_help = "\
Examples:
  klamm leaders --bootstrap-server kafka-1:9092
  klamm elect --bootstrap-server kafka-1:9092 --election-type preferred \\
      --all-topic-partitions

Exit status: 0 done, 1 something failed, 2 misuse, 130 interrupted."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Elect(ElectArgs),
    Leaders(LeadersArgs),
    Explain(ExplainArgs),
    Format(FormatArgs),
    Info(InfoArgs),
    RandomUuid(RandomUuidArgs),
    Controller(ControllerArgs),
    Broker(BrokerArgs),
    Up(UpArgs),
    Drill(DrillArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Print a shell's completions.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  klamm completions bash > /etc/bash_completion.d/klamm
  klamm completions zsh > \"${fpath[1]}/_klamm\"
  klamm completions fish > ~/.config/fish/completions/klamm.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

/// Print a man page, or write all of them to a directory.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  klamm man elect | man -l -
  klamm man --dir /usr/local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The command whose page to print; without it, the page of klamm itself.
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    pub(crate) page: Option<String>,

    /// Write the pages of all commands to this directory instead.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// How to reach the cluster.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectionArgs {
    /// Brokers to connect to first.
    ///
    /// One that answers is enough: it names the others. Wins over bootstrap.servers of
    /// --command-config.
    #[arg(long, value_name = "HOST:PORT,...")]
    pub(crate) bootstrap_server: Option<String>,

    /// Controllers to connect to, instead of brokers.
    ///
    /// For a cluster without reachable brokers. Controllers elect leaders, but do not serve
    /// metadata.
    #[arg(
        long,
        value_name = "HOST:PORT,...",
        conflicts_with = "bootstrap_server"
    )]
    pub(crate) bootstrap_controller: Option<String>,

    /// Properties file of the client, as Apache Kafka's tools read it.
    #[arg(long, value_name = "FILE")]
    pub(crate) command_config: Option<PathBuf>,

    /// Deprecated: the former name of --command-config.
    #[arg(
        long = "admin.config",
        value_name = "FILE",
        conflicts_with = "command_config"
    )]
    pub(crate) admin_config: Option<PathBuf>,

    /// How long to wait for the cluster: 500ms, 30s, 2m.
    ///
    /// Wins over default.api.timeout.ms of --command-config; 30s without either.
    #[arg(long, value_name = "DURATION", value_parser = duration::parse_positive)]
    pub(crate) timeout: Option<Duration>,
}

/// The form of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns, for people.
    #[default]
    Table,
    /// One JSON object.
    Json,
    /// One line of key=value each, for grep and awk.
    Plain,
}
