use std::collections::BTreeMap;

use klamm_protocol::data::metadata::register_broker_record::{BrokerEndpoint, BrokerFeature};
use klamm_protocol::data::metadata::register_controller_record::{
    ControllerEndpoint, ControllerFeature,
};
use klamm_protocol::data::metadata::{
    BrokerRegistrationChangeRecord, RegisterBrokerRecord, RegisterControllerRecord,
};
use klamm_protocol::{BrokerId, Uuid, VersionRange};

use crate::{ApplyError, BrokerEpoch, MetadataVersion, Record, directory};

/// Where a node listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The host that clients are told.
    pub host: Box<str>,
    /// The port that clients are told.
    pub port: u16,
    /// The security protocol's number: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL.
    pub security_protocol: i16,
}

/// A registered broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broker {
    /// Its id.
    pub id: BrokerId,
    /// The epoch of this registration: the offset of its record.
    pub epoch: BrokerEpoch,
    /// What tells one run of the process from the next.
    pub incarnation: Uuid,
    /// Its listeners by name.
    pub listeners: BTreeMap<Box<str>, Endpoint>,
    /// The feature levels that it supports.
    pub features: BTreeMap<Box<str>, VersionRange>,
    /// Its rack.
    pub rack: Option<Box<str>>,
    /// Whether it may lead and be in sync: not yet, or no more, while it is fenced.
    pub fenced: bool,
    /// Whether it hands over its partitions before it stops.
    pub in_controlled_shutdown: bool,
    /// Its online log directories; none where it did not say.
    pub log_dirs: Vec<Uuid>,
    /// The log directories that take no new replicas; `None` where it did not say.
    pub cordoned_log_dirs: Option<Vec<Uuid>>,
    /// Whether it still is a broker of a cluster that is on its way from ZooKeeper.
    pub migrating_from_zk: bool,
}

impl Broker {
    /// Whether it may be elected and be in sync: neither fenced nor in controlled shutdown.
    pub fn is_active(&self) -> bool {
        !self.fenced && !self.in_controlled_shutdown
    }

    /// Whether a replica in this directory is online.
    pub fn has_online_dir(&self, id: Uuid) -> bool {
        match id {
            directory::UNASSIGNED | directory::MIGRATING => true,
            directory::LOST => false,
            // A broker stops when its last directory fails: one that names none is of a version
            // that does not name them.
            _ => self.log_dirs.is_empty() || self.log_dirs.contains(&id),
        }
    }

    /// Whether a log directory takes new replicas, as far as the broker said.
    pub fn takes_replicas(&self) -> bool {
        let cordoned = self.cordoned_log_dirs.as_deref().unwrap_or_default();
        self.log_dirs.is_empty() || self.log_dirs.iter().any(|id| !cordoned.contains(id))
    }

    fn from_record(record: &RegisterBrokerRecord) -> Self {
        let endpoints = record.end_points.iter();
        let features = record.features.iter();
        Self {
            id: BrokerId(record.broker_id),
            epoch: BrokerEpoch(record.broker_epoch),
            incarnation: record.incarnation_id,
            listeners: endpoints
                .map(|e| endpoint(&e.name, &e.host, e.port, e.security_protocol))
                .collect(),
            features: features
                .map(|f| feature(&f.name, f.min_supported_version, f.max_supported_version))
                .collect(),
            rack: record.rack.as_ref().map(|rack| Box::from(&**rack)),
            fenced: record.fenced,
            in_controlled_shutdown: record.in_controlled_shutdown,
            log_dirs: record.log_dirs.clone(),
            cordoned_log_dirs: record.cordoned_log_dirs.clone(),
            migrating_from_zk: record.is_migrating_zk_broker,
        }
    }

    /// The record that registers this broker, as far as the version can.
    pub fn to_record(&self, version: MetadataVersion) -> RegisterBrokerRecord {
        let directories = version.allows_directory_assignment();
        let cordoned = self.cordoned_log_dirs.clone();
        RegisterBrokerRecord {
            broker_id: self.id.0,
            is_migrating_zk_broker: version.allows_zk_migration() && self.migrating_from_zk,
            incarnation_id: self.incarnation,
            broker_epoch: self.epoch.0,
            end_points: listeners(&self.listeners)
                .map(|(name, endpoint)| BrokerEndpoint {
                    name: name.into(),
                    host: (&*endpoint.host).into(),
                    port: endpoint.port,
                    security_protocol: endpoint.security_protocol,
                    ..Default::default()
                })
                .collect(),
            features: ranges(&self.features)
                .map(|(name, range)| BrokerFeature {
                    name: name.into(),
                    min_supported_version: range.min,
                    max_supported_version: range.max,
                    ..Default::default()
                })
                .collect(),
            rack: self.rack.as_deref().map(Into::into),
            fenced: self.fenced,
            in_controlled_shutdown: self.in_controlled_shutdown,
            log_dirs: if directories {
                self.log_dirs.clone()
            } else {
                Vec::new()
            },
            cordoned_log_dirs: cordoned.filter(|_| version.allows_cordoned_log_dirs()),
            ..Default::default()
        }
    }
}

/// A registered controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    /// Its id.
    pub id: BrokerId,
    /// What tells one run of the process from the next.
    pub incarnation: Uuid,
    /// Whether it was ready for a migration from ZooKeeper.
    pub zk_migration_ready: bool,
    /// Its listeners by name.
    pub listeners: BTreeMap<Box<str>, Endpoint>,
    /// The feature levels that it supports.
    pub features: BTreeMap<Box<str>, VersionRange>,
}

impl Controller {
    fn from_record(record: &RegisterControllerRecord) -> Self {
        let endpoints = record.end_points.iter();
        let features = record.features.iter();
        Self {
            id: BrokerId(record.controller_id),
            incarnation: record.incarnation_id,
            zk_migration_ready: record.zk_migration_ready,
            listeners: endpoints
                .map(|e| endpoint(&e.name, &e.host, e.port, e.security_protocol))
                .collect(),
            features: features
                .map(|f| feature(&f.name, f.min_supported_version, f.max_supported_version))
                .collect(),
        }
    }

    /// The record that registers this controller.
    pub fn to_record(&self) -> RegisterControllerRecord {
        RegisterControllerRecord {
            controller_id: self.id.0,
            incarnation_id: self.incarnation,
            zk_migration_ready: self.zk_migration_ready,
            end_points: listeners(&self.listeners)
                .map(|(name, endpoint)| ControllerEndpoint {
                    name: name.into(),
                    host: (&*endpoint.host).into(),
                    port: endpoint.port,
                    security_protocol: endpoint.security_protocol,
                    ..Default::default()
                })
                .collect(),
            features: ranges(&self.features)
                .map(|(name, range)| ControllerFeature {
                    name: name.into(),
                    min_supported_version: range.min,
                    max_supported_version: range.max,
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        }
    }
}

/// The registered brokers and controllers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    brokers: BTreeMap<BrokerId, Broker>,
    controllers: BTreeMap<BrokerId, Controller>,
}

impl Cluster {
    /// A registered broker.
    pub fn broker(&self, id: BrokerId) -> Option<&Broker> {
        self.brokers.get(&id)
    }

    /// Whether a broker is registered, not fenced and not in controlled shutdown.
    pub fn is_active(&self, id: BrokerId) -> bool {
        self.broker(id).is_some_and(Broker::is_active)
    }

    /// Every registered broker in the order of the ids.
    pub fn brokers(&self) -> impl Iterator<Item = &Broker> {
        self.brokers.values()
    }

    /// A registered controller.
    pub fn controller(&self, id: BrokerId) -> Option<&Controller> {
        self.controllers.get(&id)
    }

    /// Every registered controller in the order of the ids.
    pub fn controllers(&self) -> impl Iterator<Item = &Controller> {
        self.controllers.values()
    }

    pub(crate) fn register(&mut self, record: &RegisterBrokerRecord) {
        let broker = Broker::from_record(record);
        self.brokers.insert(broker.id, broker);
    }

    pub(crate) fn unregister(&mut self, id: i32, epoch: i64) -> Result<(), ApplyError> {
        let id = self.broker_mut(id, epoch)?.id;
        self.brokers.remove(&id);
        Ok(())
    }

    pub(crate) fn set_fenced(&mut self, id: i32, epoch: i64, to: bool) -> Result<(), ApplyError> {
        self.broker_mut(id, epoch)?.fenced = to;
        Ok(())
    }

    pub(crate) fn change(
        &mut self,
        record: &BrokerRegistrationChangeRecord,
    ) -> Result<(), ApplyError> {
        let broker = self.broker_mut(record.broker_id, record.broker_epoch)?;
        let unknown = |field, code| ApplyError::RegistrationChange {
            broker: BrokerId(record.broker_id),
            field,
            code,
        };
        let fenced = match record.fenced {
            1 => true,
            0 => broker.fenced,
            -1 => false,
            code => return Err(unknown("Fenced", code)),
        };
        // There is no way back from a controlled shutdown but a new registration.
        let in_controlled_shutdown = match record.in_controlled_shutdown {
            1 => true,
            0 => broker.in_controlled_shutdown,
            code => return Err(unknown("InControlledShutdown", code)),
        };
        broker.fenced = fenced;
        broker.in_controlled_shutdown = in_controlled_shutdown;
        if !record.log_dirs.is_empty() {
            broker.log_dirs = record.log_dirs.clone();
        }
        if let Some(cordoned) = &record.cordoned_log_dirs {
            broker.cordoned_log_dirs = Some(cordoned.clone());
        }
        Ok(())
    }

    pub(crate) fn register_controller(&mut self, record: &RegisterControllerRecord) {
        let controller = Controller::from_record(record);
        self.controllers.insert(controller.id, controller);
    }

    pub(crate) fn unregister_controller(&mut self, id: i32) {
        self.controllers.remove(&BrokerId(id));
    }

    pub(crate) fn records(&self, version: MetadataVersion) -> impl Iterator<Item = Record> {
        let brokers = self
            .brokers()
            .map(move |broker| broker.to_record(version).into());
        let controllers = self
            .controllers()
            .filter(move |_| version.allows_controller_registration());
        brokers.chain(controllers.map(|controller| controller.to_record().into()))
    }

    fn broker_mut(&mut self, id: i32, epoch: i64) -> Result<&mut Broker, ApplyError> {
        let (id, epoch) = (BrokerId(id), BrokerEpoch(epoch));
        let broker = self
            .brokers
            .get_mut(&id)
            .ok_or(ApplyError::UnknownBroker(id))?;
        let known = broker.epoch;
        match known == epoch {
            true => Ok(broker),
            false => Err(ApplyError::BrokerEpoch { id, epoch, known }),
        }
    }
}

fn endpoint(name: &str, host: &str, port: u16, security_protocol: i16) -> (Box<str>, Endpoint) {
    let host = host.into();
    (
        name.into(),
        Endpoint {
            host,
            port,
            security_protocol,
        },
    )
}

fn feature(name: &str, min: i16, max: i16) -> (Box<str>, VersionRange) {
    (name.into(), VersionRange { min, max })
}

fn listeners(map: &BTreeMap<Box<str>, Endpoint>) -> impl Iterator<Item = (&str, &Endpoint)> {
    map.iter().map(|(name, endpoint)| (&**name, endpoint))
}

fn ranges(map: &BTreeMap<Box<str>, VersionRange>) -> impl Iterator<Item = (&str, VersionRange)> {
    map.iter().map(|(name, range)| (&**name, *range))
}
