use std::io;
use std::path::PathBuf;

use klamm_log::{LockError, LogError};
use klamm_metadata::MetadataVersion;
use klamm_protocol::{BrokerId, Uuid};
use thiserror::Error;

/// Why directories are not formatted. Unless the variant says otherwise, nothing was written.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum FormatError {
    /// The cluster's id is empty.
    #[error("the cluster id is empty; klamm random-uuid prints one to use for all nodes")]
    NoClusterId,
    /// A controller needs to know who the voters are, or that it need not.
    #[error(
        "the file has no controller.quorum.voters, so this controller must be told who the first \
         voters are: --standalone for itself alone, --initial-controllers for several, or \
         --no-initial-controllers where it joins a quorum that is there already"
    )]
    VotersUnsaid,
    /// The voters are in the file, so they are not dynamic.
    #[error(
        "controller.quorum.voters is given, which makes the voters static; for voters that can \
         change, remove it and set controller.quorum.bootstrap.servers, else leave out \
         --standalone and --initial-controllers"
    )]
    VotersAreStatic,
    /// Only a controller can be the first voter.
    #[error("node {0} is no controller by process.roles, so it cannot be the first voter")]
    NoController(BrokerId),
    /// An initial controller is given twice.
    #[error("node {0} is there twice among the initial controllers")]
    InitialControllerTwice(BrokerId),
    /// Two initial controllers have one directory id.
    #[error("the directory id {0} is there twice among the initial controllers")]
    InitialDirectoryTwice(Uuid),
    /// Others could not reach the only voter.
    #[error(
        "the listener {0} has port 0, and others are told where this controller listens: give it \
         a port in listeners or advertised.listeners"
    )]
    NoPort(String),
    /// There is no such feature.
    #[error("there is no feature {name}; there are {known}")]
    UnknownFeature { name: String, known: String },
    /// There is no such level.
    #[error("{name} has no level {level}; it has levels {min} to {max}")]
    UnknownLevel {
        name: String,
        level: i16,
        min: i16,
        max: i16,
    },
    /// A feature is given twice.
    #[error("the level of {0} is given twice")]
    FeatureTwice(String),
    /// The version is not for production.
    #[error(
        "metadata.version {0} is not for production; the latest that is is {latest}",
        latest = MetadataVersion::LATEST_PRODUCTION
    )]
    Unstable(MetadataVersion),
    /// A feature's level needs a later version.
    #[error("{name} {level} needs metadata.version {needs} or later, and it is {is}")]
    FeatureNeeds {
        name: &'static str,
        level: i16,
        needs: MetadataVersion,
        is: MetadataVersion,
    },
    /// `kraft.version` follows from the voters.
    #[error(
        "kraft.version is {needs}, as the voters are {kind}: leave it out, or change how the \
         voters are given"
    )]
    KRaftVersion { needs: i16, kind: &'static str },
    /// SCRAM credentials need a later version.
    #[error("users with SCRAM need metadata.version 3.5-IV2 or later, and it is {0}")]
    ScramNeeds(MetadataVersion),
    /// A user is given twice.
    #[error("the user {user} is there twice with {mechanism}")]
    ScramTwice {
        user: String,
        mechanism: &'static str,
    },
    /// A directory cannot be looked at.
    #[error("{} cannot be used: {source}; make it a directory that this user may write to, or \
             change log.dirs and metadata.log.dir", path.display())]
    Dir { path: PathBuf, source: io::Error },
    /// A small file of a directory cannot be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A directory is in use.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A directory is formatted already.
    #[error(
        "{} is formatted already, for node {node_id} of cluster {cluster_id}; --ignore-formatted \
         passes over such directories and formats the others", path.display()
    )]
    Formatted {
        path: PathBuf,
        node_id: BrokerId,
        cluster_id: String,
    },
    /// A directory is of another cluster.
    #[error(
        "{} is of cluster {found}, not of {wanted}; format with that cluster id, or give the node \
         other directories", path.display()
    )]
    OtherCluster {
        path: PathBuf,
        found: String,
        wanted: String,
    },
    /// A directory is of another node.
    #[error(
        "{} is of node {found}, not of {wanted}; correct node.id, or give the node other \
         directories", path.display()
    )]
    OtherNode {
        path: PathBuf,
        found: BrokerId,
        wanted: BrokerId,
    },
    /// Two directories have one id.
    #[error(
        "{} and {} have the same directory.id {id}: one is a copy of the other; remove one of \
         them from log.dirs", first.display(), second.display()
    )]
    SameId {
        first: PathBuf,
        second: PathBuf,
        id: Uuid,
    },
    /// A metadata log is there although the directory is not formatted.
    #[error(
        "{} has files of a metadata log ({file}), but no meta.properties says whose they are: put \
         that file back, or move the log away", path.display()
    )]
    StrayLog { path: PathBuf, file: String },
    /// A directory was formatted in the meantime. Others may have been written.
    #[error(
        "{} was formatted in the meantime: another process does the same, or it is named twice in \
         log.dirs", .0.display()
    )]
    Meanwhile(PathBuf),
    /// The system gives no random bytes.
    #[error("the system gives no random bytes: {0}")]
    Chance(#[source] io::Error),
}

impl FormatError {
    /// Whether the request or the configuration is at fault, and no directory.
    pub fn is_misuse(&self) -> bool {
        !matches!(
            self,
            Self::Dir { .. }
                | Self::Log(_)
                | Self::Lock(_)
                | Self::Formatted { .. }
                | Self::OtherCluster { .. }
                | Self::OtherNode { .. }
                | Self::SameId { .. }
                | Self::StrayLog { .. }
                | Self::Meanwhile(_)
                | Self::Chance(_)
        )
    }
}
