//! The metadata of a Kafka cluster as a value: what the records of the metadata log add up to.
//!
//! This crate is pure: it opens no socket or file, reads no clock and draws no random number.
//!
//! - [`Record`] is a record of the metadata log, [`MetadataVersion`] says in which version it is
//!   written, [`Feature`] which other features a cluster has.
//! - [`Image`] is the state. [`Image::apply`] changes it by a record and keeps its indexes;
//!   [`Image::snapshot`] gives records that recreate it, [`Image::freeze`] the same for another
//!   thread. [`Loader`] follows a log with transactions.
//! - [`Authorizer`] decides who may do what, [`placement`] where new replicas go.
//!
//! ```
//! use klamm_metadata::{Image, Record};
//! use klamm_protocol::data::metadata::FeatureLevelRecord;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut image = Image::new();
//! let record = Record::from(FeatureLevelRecord {
//!     name: "metadata.version".into(),
//!     feature_level: 33,
//!     ..Default::default()
//! });
//! image.apply(&record)?;
//!
//! let version = image.features().metadata_version().ok_or("no version")?;
//! assert_eq!(version.to_string(), "4.4-IV2");
//! let value = record.encode(record.version(version))?;
//! assert_eq!(Record::decode(&value)?, record);
//! assert_eq!(image.snapshot().collect::<Vec<_>>(), [record]);
//! # Ok(())
//! # }
//! ```

mod acls;
mod cluster;
pub mod config_keys;
mod configs;
mod credentials;
mod error;
mod features;
mod image;
mod loader;
mod partition;
pub mod placement;
mod quotas;
mod record;
mod replicas;
mod topics;
mod version;

pub use acls::{
    Acl, AclFilter, Acls, Action, Authorizer, AuthorizerConfig, CLUSTER_NAME, Operation,
    PatternType, Permission, ResourceType, UnknownFilter, WireFilter,
};
pub use cluster::{Broker, Cluster, Controller, Endpoint};
pub use configs::{ConfigResource, ConfigResourceKind, Configs};
pub use credentials::{
    DelegationToken, DelegationTokens, ScramCredential, ScramCredentials, ScramMechanism,
};
pub use error::ApplyError;
pub use features::{Feature, Features};
pub use image::{BrokerEpoch, Frozen, Image};
pub use loader::Loader;
pub use partition::{
    LeaderRecoveryState, NO_LEADER_CHANGE, NO_RECOVERY_CHANGE, Partition, Place, directory,
};
pub use quotas::{ClientQuotas, QuotaEntity};
pub use record::{Record, RecordError};
pub use replicas::Replicas;
pub use topics::{Topic, Topics};
pub use version::{MetadataVersion, ParseMetadataVersionError};
