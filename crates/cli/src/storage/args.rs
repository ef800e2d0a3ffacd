use std::path::PathBuf;

use clap::{ArgGroup, Args};
use klamm_metadata::MetadataVersion;
use klamm_server::format::{FeatureLevel, InitialController, InitialQuorum};

use crate::args::Format;

/// Prepare the directories of a node.
///
/// Does what kafka-storage.sh format does, with the same flags: gives every directory of the file
/// its meta.properties, and those of controllers the records that the cluster begins with. All
/// directories are looked at before the first is written. Apache Kafka starts on them, and klamm on
/// those that Apache's tool made.
#[derive(Clone, Debug, Args)]
#[command(
    group = ArgGroup::new("cluster").required(true).args(["cluster_id", "random_cluster_id"]),
    group = ArgGroup::new("voters").args([
        "standalone", "initial_controllers", "no_initial_controllers",
    ]),
    after_long_help = "\
Examples:
  A controller that is a quorum of its own:
    klamm format --config controller.properties --standalone \\
        --random-cluster-id

  The brokers of that cluster:
    klamm format --config broker.properties \\
        --cluster-id MkU3OEVBNTcwNTJENDM2Qg

  One of several controllers, each formatted with the same list:
    klamm format --config controller.properties \\
        --cluster-id MkU3OEVBNTcwNTJENDM2Qg --initial-controllers \\
        1@k1:9093:JEXY6aqzQY-32P5TStzaFg,2@k2:9093:MvDxzVmcRsaTz33bUuRU6A

  Features as clusters of 4.0 have them, but no new consumer groups:
    klamm format --config controller.properties --standalone \\
        --random-cluster-id --release-version 4.0 \\
        --feature group.version=0

Exit status:
  0    formatted, or formatted already and --ignore-formatted
  1    a directory cannot be used, or is another node's
  2    misuse

Formats of --output json and plain: docs/format.md"
)]
pub(crate) struct FormatArgs {
    /// The node's server.properties.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) config: PathBuf,

    /// The cluster's id, the same for all of its nodes.
    #[arg(long, short = 't', value_name = "ID")]
    pub(crate) cluster_id: Option<String>,

    /// Make a cluster id, which the results show.
    ///
    /// For the first node of a cluster; the others take that id with --cluster-id.
    #[arg(long)]
    pub(crate) random_cluster_id: bool,

    /// This controller is the only voter, for now; voters can be added.
    #[arg(long, short)]
    pub(crate) standalone: bool,

    /// The first voters, the same list for all nodes.
    ///
    /// Each is the node's id, where it listens for controllers, and the id of the directory of its
    /// metadata log, which klamm random-uuid makes.
    #[arg(
        long,
        short = 'I',
        value_name = "ID@HOST:PORT:DIRECTORY-ID,...",
        value_delimiter = ',',
        value_parser = parse::<InitialController>
    )]
    pub(crate) initial_controllers: Vec<InitialController>,

    /// The voters are not said here: the node joins a quorum that is there already.
    #[arg(long, short = 'N')]
    pub(crate) no_initial_controllers: bool,

    /// The release whose features the cluster begins with, such as 4.0 or 4.4-IV2.
    ///
    /// The least is 3.3-IV3, the default 4.4-IV2.
    #[arg(long, short, value_name = "VERSION", value_parser = parse::<MetadataVersion>)]
    pub(crate) release_version: Option<MetadataVersion>,

    /// The level of a feature to begin with; may be given for each.
    #[arg(long, short, value_name = "FEATURE=LEVEL", value_parser = parse::<FeatureLevel>)]
    pub(crate) feature: Vec<FeatureLevel>,

    /// A user that is there from the start, for brokers with SASL/SCRAM; may be given many times.
    ///
    /// Such as SCRAM-SHA-256=[name=alice,password=alice-secret]; iterations, salt and
    /// saltedpassword (base64, in quotes) can be in it, too. Other users of this machine may see the
    /// command line while it runs.
    // Parsed later: clap's own errors would repeat the password.
    #[arg(long, short = 'S', value_name = "USER")]
    pub(crate) add_scram: Vec<String>,

    /// Pass over directories that are formatted already, and format the others.
    #[arg(long, short = 'g')]
    pub(crate) ignore_formatted: bool,

    /// The form of the results.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output: Format,
}

/// Show what the directories of a node are formatted for.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  klamm info --config controller.properties

Exit status: 0 all is well, 1 a directory is not as it should be, 2 misuse.")]
pub(crate) struct InfoArgs {
    /// The node's server.properties.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) config: PathBuf,

    /// The form of the results.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output: Format,
}

/// Print a random id, for a cluster or a directory.
#[derive(Clone, Debug, Args)]
pub(crate) struct RandomUuidArgs {}

impl FormatArgs {
    /// Who the first voters of the quorum are.
    pub(crate) fn quorum(&self) -> InitialQuorum {
        if self.standalone {
            InitialQuorum::Standalone
        } else if self.no_initial_controllers {
            InitialQuorum::Elsewhere
        } else if self.initial_controllers.is_empty() {
            InitialQuorum::Unsaid
        } else {
            InitialQuorum::Controllers(self.initial_controllers.clone())
        }
    }
}

fn parse<T>(text: &str) -> Result<T, String>
where
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    text.parse().map_err(|error: T::Err| error.to_string())
}
