//! The directories that a node starts on, as the storage tool of Apache Kafka makes them.
//!
//! [`Plan::new`] looks at everything before anything is written: the request, the node's settings,
//! and every directory. [`Plan::carry_out`] then writes; a directory counts as formatted when its
//! `meta.properties` is there, which is written last.

mod checkpoint;
mod directories;
mod error;
mod features;
mod problems;
mod scram;
#[cfg(test)]
mod tests;
mod voters;
mod write;

use klamm_metadata::{MetadataVersion, Record};
use klamm_protocol::{BrokerId, Uuid};
use klamm_raft::VoterSet;

pub use klamm_raft::Voter;

pub use directories::{DirectoryState, Inspected, inspect};
pub use error::FormatError;
pub use features::{FeatureLevel, ParseFeatureLevelError};
pub use problems::problems;
pub use scram::{NewScramCredential, ParseScramError};
pub use voters::{InitialController, ParseInitialControllerError};

use crate::machine::random_uuid;
use crate::settings::NodeSettings;

/// What directories are to be formatted for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The cluster's id; not empty.
    pub cluster_id: String,
    /// The `metadata.version` to begin with, the latest for production if not said.
    pub release: Option<MetadataVersion>,
    /// Levels of features to begin with; those of the version for features that are not named.
    pub features: Vec<FeatureLevel>,
    /// Who the first voters of the quorum are.
    pub quorum: InitialQuorum,
    /// Users that are there from the start.
    pub scram: Vec<NewScramCredential>,
    /// Whether directories that are formatted already are passed over.
    pub ignore_formatted: bool,
}

/// Who the first voters of the quorum are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum InitialQuorum {
    /// Not said: those of `controller.quorum.voters`, or the node is a broker.
    #[default]
    Unsaid,
    /// This controller alone.
    Standalone,
    /// These.
    Controllers(Vec<InitialController>),
    /// Not known here: the node finds a quorum that is there already, or that others make.
    Elsewhere,
}

/// What is to be done, all of it checked.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The cluster's id.
    pub cluster_id: String,
    /// The node's id.
    pub node_id: BrokerId,
    /// The directories in the order of the configuration.
    pub directories: Vec<PlannedDirectory>,
    /// What the cluster begins with; `None` where that is not written: the node is no controller, or
    /// the directory of its metadata log is formatted already.
    pub beginning: Option<Beginning>,
}

/// What a cluster begins with.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// The `metadata.version`.
    pub metadata_version: MetadataVersion,
    /// Levels of the other features, in the order of their names; none of them 0.
    pub features: Vec<(&'static str, i16)>,
    /// Whether the quorum's voters can change: `kraft.version` 1.
    pub dynamic: bool,
    /// The first voters; `None` where they are not dynamic, or not known here.
    pub voters: Option<VoterSet>,
    /// The records.
    records: Vec<Record>,
}

/// A directory of a [`Plan`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedDirectory {
    /// Where it is.
    pub path: std::path::PathBuf,
    /// What it is for.
    pub kind: DirectoryKind,
    /// Its id; of one that is formatted already what it has.
    pub id: Option<Uuid>,
    /// Whether it is formatted already, and left as it is.
    pub is_formatted: bool,
}

/// What a directory is for, in the words of Apache Kafka's tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectoryKind {
    /// Logs of partitions.
    Data,
    /// The metadata log, of a broker or of a quorum that is known from the configuration or later.
    Metadata,
    /// The metadata log of a controller that is none of the first voters.
    DynamicMetadata,
    /// The metadata log of one of the first voters.
    DynamicMetadataVoter,
}

impl std::fmt::Display for DirectoryKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Data => "data directory",
            Self::Metadata => "metadata directory",
            Self::DynamicMetadata => "dynamic metadata directory",
            Self::DynamicMetadataVoter => "dynamic metadata voter directory",
        })
    }
}

impl Plan {
    /// Checks what is asked for, and looks at the directories. Writes nothing.
    pub fn new(node: &NodeSettings, request: &Request) -> Result<Self, FormatError> {
        if request.cluster_id.trim().is_empty() {
            return Err(FormatError::NoClusterId);
        }
        let dynamic = voters::is_dynamic(node, &request.quorum)?;
        let levels = features::resolve(node, request, dynamic)?;
        let mut records = levels.records();
        records.extend(scram::records(&request.scram, levels.version)?);
        let own_id = random_uuid().map_err(FormatError::Chance)?;
        let first = voters::first_voters(node, &request.quorum, own_id)?;
        let own_voter = first.as_ref().and_then(|voters| voters.voter(node.id));
        let own_voter = own_voter.filter(|_| node.is_controller());
        let kind = match (&first, own_voter) {
            (_, Some(_)) => DirectoryKind::DynamicMetadataVoter,
            (Some(_), None) if node.is_controller() => DirectoryKind::DynamicMetadata,
            _ => DirectoryKind::Metadata,
        };
        let metadata_id = own_voter.and_then(|voter| voter.key.directory);
        let directories = directories::plan(node, request, kind, metadata_id.unwrap_or(own_id))?;
        let is_written =
            |dir: &PlannedDirectory| dir.kind != DirectoryKind::Data && !dir.is_formatted;
        let begins = node.is_controller() && directories.iter().any(is_written);
        let beginning = begins.then_some(Beginning {
            metadata_version: levels.version,
            features: levels.others,
            dynamic,
            voters: first,
            records,
        });
        Ok(Self {
            cluster_id: request.cluster_id.clone(),
            node_id: node.id,
            directories,
            beginning,
        })
    }

    /// Whether there is nothing to do.
    pub fn is_done(&self) -> bool {
        self.directories.iter().all(|dir| dir.is_formatted)
    }
}
