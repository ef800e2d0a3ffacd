use klamm_protocol::{BrokerId, Uuid};
use thiserror::Error;

use crate::{BrokerEpoch, Place};

/// Why a record does not fit an image. The log is to blame, or the order in which it was applied.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The level of `metadata.version` is unknown to this release.
    #[error("metadata.version level {0} is not supported by this release; upgrade first")]
    UnknownMetadataVersion(i16),
    /// There is no topic with this id.
    #[error("there is no topic with the id {0}")]
    UnknownTopic(Uuid),
    /// There is no topic with this name.
    #[error("there is no topic {0}")]
    UnknownTopicName(String),
    /// A topic with this name or id exists.
    #[error("a topic with the name or id of {0} exists")]
    TopicExists(String),
    /// There is no such partition.
    #[error("there is no {0}")]
    UnknownPartition(Place),
    /// Partitions of a topic begin with 0 and leave no gap.
    #[error("{0} comes before the partition of the number before it")]
    PartitionOutOfOrder(Place),
    /// There is not one directory for each replica.
    #[error("{place} has {replicas} replicas and {directories} directories")]
    Directories {
        /// The partition.
        place: Place,
        /// How many replicas it has.
        replicas: usize,
        /// How many directories the record names.
        directories: usize,
    },
    /// A leader recovery state is unknown.
    #[error("{place} has the unknown leader recovery state {code}")]
    RecoveryState {
        /// The partition.
        place: Place,
        /// The code in the record.
        code: i8,
    },
    /// An epoch cannot rise.
    #[error("an epoch of {0} cannot rise any further")]
    EpochOverflow(Place),
    /// There is no such broker.
    #[error("broker {0} is not registered")]
    UnknownBroker(BrokerId),
    /// The record is about another registration of the broker.
    #[error("broker {id} is registered with epoch {known}, not {epoch}")]
    BrokerEpoch {
        /// The broker.
        id: BrokerId,
        /// The epoch in the record.
        epoch: BrokerEpoch,
        /// The epoch of its registration.
        known: BrokerEpoch,
    },
    /// A broker's registration is to change in an unknown way.
    #[error("{field} of broker {broker} is to change in the unknown way {code}")]
    RegistrationChange {
        /// The broker.
        broker: BrokerId,
        /// The field of BrokerRegistrationChangeRecord.
        field: &'static str,
        /// The code in the record.
        code: i8,
    },
    /// There is no such ACL.
    #[error("there is no ACL with the id {0}")]
    UnknownAcl(Uuid),
    /// An ACL has a code that this release does not know.
    #[error("the ACL {0} has a resource, pattern, operation or permission unknown to this release")]
    UnknownAclCode(Uuid),
    /// A SCRAM mechanism is unknown.
    #[error("SCRAM mechanism {0} is unknown to this release")]
    ScramMechanism(i8),
    /// A transaction begins, ends or is aborted where it may not.
    #[error("{0} is out of place in the metadata log")]
    Transaction(&'static str),
}
