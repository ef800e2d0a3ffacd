use std::collections::BTreeSet;

use klamm_metadata::{Broker, BrokerEpoch, MetadataVersion, directory};
use klamm_protocol::data::metadata::RegisterBrokerRecord;
use klamm_protocol::data::metadata::register_broker_record::{BrokerEndpoint, BrokerFeature};
use klamm_protocol::messages::broker_registration::{
    BrokerRegistrationRequest, BrokerRegistrationResponse,
};
use klamm_protocol::{BrokerId, ErrorCode, Offset};
use thiserror::Error;

use crate::{Decision, Now, Sessions, View, Why};

#[cfg(test)]
mod tests;

/// From this version on, a request says which epoch the broker had before.
const NAMES_PREVIOUS_EPOCH: i16 = 3;

/// A broker's request to be registered.
#[derive(Clone, Copy, Debug)]
pub struct Registration<'a> {
    /// The request.
    pub request: &'a BrokerRegistrationRequest,
    /// Its version.
    pub version: i16,
    /// The cluster's id.
    pub cluster_id: &'a str,
    /// The offset of the next record, which becomes the broker's epoch.
    pub next_offset: Offset,
    /// What connections say of the broker's earlier run.
    pub earlier: EarlierRun,
}

/// What the controller's connections say of the run of a broker that is registered, when another one
/// asks to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlierRun {
    /// It has none.
    Gone,
    /// The broker has some that tell its id and not its run, and may be of either: whoever registers
    /// has followed the metadata log before.
    Unknown,
    /// It has one.
    Connected,
}

/// What comes of a registration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Registered {
    /// The answer.
    pub response: BrokerRegistrationResponse,
    /// The earlier run's session would have ended then. Until it would, the caller awaits the broker
    /// ([`Lost::add`](crate::Lost::add)): what it had alone, its next run may bring back.
    pub awaited_until: Option<Now>,
}

/// Why a broker is not registered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RegistrationError {
    /// It belongs to another cluster.
    #[error("the broker is of the cluster {0}, not of this one")]
    ClusterId(String),
    /// Another run of it is alive.
    #[error(
        "broker {0} is registered and alive; if it is the same one, wait until its session ends"
    )]
    Duplicate(BrokerId),
    /// It is a broker of a cluster that uses ZooKeeper.
    #[error("brokers that use ZooKeeper cannot be registered")]
    ZooKeeper,
    /// It names no log directory, one that is not its own, or one twice.
    #[error("log directories: {0}")]
    LogDirs(String),
    /// It does not say which `metadata.version` it supports.
    #[error("the broker names no supported range of metadata.version")]
    NoMetadataVersion,
    /// It does not support a feature at the level that the cluster has.
    #[error("the broker supports {name} {min} to {max}; the cluster has {level}")]
    Feature {
        /// The feature.
        name: String,
        /// The level that the cluster has.
        level: i16,
        /// The least level that the broker supports.
        min: i16,
        /// The highest level that the broker supports.
        max: i16,
    },
}

impl From<&RegistrationError> for ErrorCode {
    fn from(error: &RegistrationError) -> Self {
        match error {
            RegistrationError::ClusterId(_) => Self::INCONSISTENT_CLUSTER_ID,
            RegistrationError::Duplicate(_) => Self::DUPLICATE_BROKER_REGISTRATION,
            RegistrationError::ZooKeeper => Self::BROKER_ID_NOT_REGISTERED,
            RegistrationError::LogDirs(_) | RegistrationError::NoMetadataVersion => {
                Self::INVALID_REGISTRATION
            }
            RegistrationError::Feature { .. } => Self::UNSUPPORTED_VERSION,
        }
    }
}

impl Registration<'_> {
    /// Registers the broker. A new run of it is fenced, and out of every ISR, until it has caught up;
    /// a repeated request of the same run keeps its epoch and state. The caller tells
    /// [`Sessions::registered`] of it.
    ///
    /// A new run need not wait until the session of the earlier one is over, where that one is known to
    /// have ended. Then leaders are elected cleanly or not at all, as when a broker is lost.
    pub fn decide(
        &self,
        view: &View<'_>,
        sessions: &Sessions,
        now: Now,
    ) -> Result<Decision<Registered>, RegistrationError> {
        let id = BrokerId(self.request.broker_id);
        let known = view.image().cluster().broker(id);
        self.check(view, known, sessions, now)?;
        let other_run = known.filter(|known| known.incarnation != self.request.incarnation_id);
        let in_service = other_run.filter(|other| !other.fenced);
        let awaited_until = in_service.and_then(|other| sessions.valid_until(other, now));
        let mut decision = Decision::answer(Registered {
            awaited_until,
            ..Registered::default()
        });
        let view = &awaited_until.map_or(*view, |_| view.as_left_by(id));
        let same_run = known.filter(|known| known.incarnation == self.request.incarnation_id);
        if same_run.is_none() {
            let elr_enabled = view.image().features().elr_enabled();
            match elr_enabled && !self.stopped_cleanly(known) {
                true => decision.leave_uncleanly(view, id),
                false => decision.leave(view, id, Why::NewIncarnation),
            }
        }
        let epoch = same_run.map_or(BrokerEpoch(self.next_offset.0), |known| known.epoch);
        decision
            .records
            .push(self.record(view, epoch, same_run).into());
        decision.response.response.broker_epoch = epoch.0;
        Ok(decision)
    }

    /// A broker that stopped cleanly knows the epoch that it had. Old ones do not say, so nobody knows
    /// what they have lost.
    fn stopped_cleanly(&self, known: Option<&Broker>) -> bool {
        let known_epoch = known.map(|known| known.epoch.0);
        self.version >= NAMES_PREVIOUS_EPOCH
            && known_epoch == Some(self.request.previous_broker_epoch)
    }

    fn check(
        &self,
        view: &View<'_>,
        known: Option<&Broker>,
        sessions: &Sessions,
        now: Now,
    ) -> Result<(), RegistrationError> {
        let request = self.request;
        if *request.cluster_id != *self.cluster_id {
            return Err(RegistrationError::ClusterId(request.cluster_id.to_string()));
        }
        let other_run = known.filter(|known| known.incarnation != request.incarnation_id);
        if let Some(other) = other_run.filter(|other| sessions.is_valid(other, now))
            && self.may_be_alive(other)
        {
            return Err(RegistrationError::Duplicate(other.id));
        }
        if request.is_migrating_zk_broker {
            return Err(RegistrationError::ZooKeeper);
        }
        if view.metadata_version().allows_directory_assignment() {
            self.check_log_dirs(view)?;
        }
        self.check_features(view)
    }

    /// Whether an earlier run may not have ended. A run locks its log directories: who has one of them
    /// now has it after the earlier run.
    fn may_be_alive(&self, earlier: &Broker) -> bool {
        let mut named = self.request.log_dirs.iter();
        match self.earlier {
            EarlierRun::Gone => false,
            EarlierRun::Unknown => !named.any(|id| earlier.log_dirs.contains(id)),
            EarlierRun::Connected => true,
        }
    }

    fn check_log_dirs(&self, view: &View<'_>) -> Result<(), RegistrationError> {
        let named = &self.request.log_dirs;
        let refuse = |text: String| Err(RegistrationError::LogDirs(text));
        if named.is_empty() {
            return refuse("none is named".into());
        }
        let mut seen = BTreeSet::new();
        for id in named {
            if directory::is_reserved(*id) {
                return refuse(format!("{id} is reserved"));
            }
            if !seen.insert(id) {
                return refuse(format!("{id} is named twice"));
            }
        }
        for other in view.image().cluster().brokers() {
            let taken = other.log_dirs.iter().find(|id| seen.contains(id));
            if let Some(id) = taken.filter(|_| other.id.0 != self.request.broker_id) {
                return refuse(format!("{id} is one of broker {}", other.id));
            }
        }
        Ok(())
    }

    fn check_features(&self, view: &View<'_>) -> Result<(), RegistrationError> {
        let supported = |name: &str| {
            let mut named = self.request.features.iter();
            let range = named.find(|feature| &*feature.name == name);
            range.map(|range| (range.min_supported_version, range.max_supported_version))
        };
        if supported(MetadataVersion::FEATURE).is_none() {
            return Err(RegistrationError::NoMetadataVersion);
        }
        let version = (MetadataVersion::FEATURE, view.metadata_version().level());
        let finalized = || view.image().features().levels().chain([version]);
        // What the cluster has not finalized is at level 0, for the broker as for the cluster.
        let unfinalized = self
            .request
            .features
            .iter()
            .map(|feature| (&*feature.name, 0));
        let unfinalized =
            unfinalized.filter(|(name, _)| !finalized().any(|(known, _)| known == *name));
        for (name, level) in finalized().chain(unfinalized) {
            let (min, max) = supported(name).unwrap_or((0, 0));
            if !(min..=max).contains(&level) {
                let name = name.to_owned();
                return Err(RegistrationError::Feature {
                    name,
                    level,
                    min,
                    max,
                });
            }
        }
        Ok(())
    }

    fn record(
        &self,
        view: &View<'_>,
        epoch: BrokerEpoch,
        same_run: Option<&Broker>,
    ) -> RegisterBrokerRecord {
        let request = self.request;
        let directories = view.metadata_version().allows_directory_assignment();
        let endpoints = request.listeners.iter().map(|listener| BrokerEndpoint {
            name: listener.name.clone(),
            host: listener.host.clone(),
            port: listener.port,
            security_protocol: listener.security_protocol,
            ..Default::default()
        });
        let features = request.features.iter().map(|feature| BrokerFeature {
            name: feature.name.clone(),
            min_supported_version: feature.min_supported_version,
            max_supported_version: feature.max_supported_version,
            ..Default::default()
        });
        RegisterBrokerRecord {
            broker_id: request.broker_id,
            incarnation_id: request.incarnation_id,
            broker_epoch: epoch.0,
            end_points: endpoints.collect(),
            features: features.collect(),
            rack: request.rack.clone(),
            fenced: same_run.is_none_or(|known| known.fenced),
            in_controlled_shutdown: same_run.is_some_and(|known| known.in_controlled_shutdown),
            log_dirs: if directories {
                request.log_dirs.clone()
            } else {
                Vec::new()
            },
            ..Default::default()
        }
    }
}
