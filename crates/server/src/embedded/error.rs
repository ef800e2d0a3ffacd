use std::io;
use std::path::PathBuf;

use klamm_config::{ConfigError, PropertiesError};
use klamm_log::LogError;
use klamm_protocol::BrokerId;
use thiserror::Error;

use crate::format::FormatError;
use crate::{BrokerFatal, Fatal, StartError};

/// What is wrong with a cluster in this process.
#[derive(Debug, Error)]
pub enum EmbeddedError {
    /// There has to be a broker, and no more than there are ids for.
    #[error("a cluster has 1 to 99 brokers, and not {0}")]
    Count(u16),
    /// There are not so many ports.
    #[error("{brokers} brokers from port {first} on need ports beyond 65535")]
    Ports {
        /// The first broker's.
        first: u16,
        /// How many brokers there are.
        brokers: u16,
    },
    /// A directory cannot be made.
    #[error("{}: {source}", path.display())]
    Dir {
        /// The directory.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// A directory whose name no configuration can have.
    #[error("{}: a directory with a comma in its name, or not in UTF-8, cannot be used", .0.display())]
    DirName(PathBuf),
    /// The directory is in use for another number of brokers.
    #[error(
        "{} has the directories of {found} brokers, and the cluster is to have {wanted}; give \
         that number, or another directory",
        path.display()
    )]
    OtherCount {
        /// The directory.
        path: PathBuf,
        /// How many brokers there are.
        found: u16,
        /// How many there are to be.
        wanted: u16,
    },
    /// A property that the cluster sets itself.
    #[error("{0} cannot be set: it is the cluster's own")]
    OwnProperty(String),
    /// A property is none.
    #[error(transparent)]
    Properties(PropertiesError),
    /// A node's configuration is wrong.
    #[error("node {id}: {source}")]
    Config {
        /// The node.
        id: BrokerId,
        /// What is wrong.
        source: ConfigError,
    },
    /// What is in a directory cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A directory cannot be formatted.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A node does not start.
    #[error("node {id} does not start: {source}")]
    Start {
        /// The node.
        id: BrokerId,
        /// Why.
        source: StartError,
    },
    /// A broker cannot go on.
    #[error("broker {id} has stopped: {source}")]
    Broker {
        /// The broker.
        id: BrokerId,
        /// Why.
        source: BrokerFatal,
    },
    /// The controller cannot go on.
    #[error("the controller has stopped: {0}")]
    Controller(Fatal),
    /// A node has stopped without a fault.
    #[error("node {0} has stopped")]
    Ended(BrokerId),
    /// The cluster has no such broker.
    #[error("the cluster has no broker {0}")]
    Unknown(BrokerId),
    /// Nobody is parted from itself.
    #[error("node {0} cannot be parted from itself")]
    Itself(BrokerId),
    /// It runs already.
    #[error("node {0} runs already")]
    Runs(BrokerId),
    /// It does not run.
    #[error("node {0} does not run")]
    RunsNot(BrokerId),
}
