//! One of the two controllers.

use std::collections::{BTreeMap, BTreeSet};

use klamm_cluster::{Cluster, Program, Spec};
use klamm_metadata::{Broker, Image, Partition, Record};
use klamm_protocol::messages::alter_client_quotas::{
    AlterClientQuotasRequest, OpData, RequestEntityData, RequestEntryData,
};
use klamm_protocol::messages::broker_heartbeat::BrokerHeartbeatRequest;
use klamm_protocol::{BrokerId, ErrorCode, PartitionIndex, Request, Uuid};
use serde_json::Value;

use crate::log::{Entry, Log};
use crate::names::Names;
use crate::operations::How;
use crate::wire::{Said, Wire};

/// The controller's id.
pub(crate) const NODE: i32 = 101;
/// The id of both clusters.
pub(crate) const CLUSTER_ID: &str = "kTwinsTwinsTwinsTwinsA";
/// Where histories begin in the log: no broker's epoch is the number of something else.
const FIRST_OFFSETS: i64 = 1_000;

/// A controller, its log as far as it was read, and the names of what it numbers.
pub(crate) struct Side {
    pub(crate) name: &'static str,
    pub(crate) cluster_id: String,
    address: String,
    wire: Wire,
    /// The connections of the brokers.
    brokers: BTreeMap<i32, Wire>,
    log: Log,
    /// The metadata of the new cluster.
    first: Image,
    /// How many histories there were before this one.
    histories: u32,
    /// The offset of the log that each broker told last.
    told: BTreeMap<i32, i64>,
    /// Directories that replicas of deleted topics were in, out of sync, on the other side.
    left_dirs: BTreeSet<Uuid>,
    pub(crate) names: Names,
    // Dropped last: its processes end with it.
    cluster: Cluster,
}

/// What both controllers are set up with.
pub(crate) fn spec(program: Program, features: &[&str]) -> Spec {
    let format: Vec<&str> = features
        .iter()
        .flat_map(|level| ["--feature", level])
        .collect();
    Spec::separate(1, 0)
        .cluster_id(CLUSTER_ID)
        .controllers(program)
        .format_args(&format)
        .property("authorizer.class.name", STANDARD_AUTHORIZER)
        .property("super.users", "User:ANONYMOUS")
        // Apache Kafka's controller would wait for more to append, each time.
        .property("controller.quorum.append.linger.ms", "0")
        // Time plays no part: nothing happens that was not asked for.
        .property("broker.session.timeout.ms", "86400000")
        .property("klamm.broker.connection.loss.grace.ms", "0")
        .property("unclean.leader.election.interval.ms", "86400000")
        .property("metadata.max.idle.interval.ms", "0")
        .property("metadata.log.max.snapshot.interval.ms", "0")
}

const STANDARD_AUTHORIZER: &str = "org.apache.kafka.metadata.authorizer.StandardAuthorizer";

impl Side {
    /// Starts a controller.
    pub(crate) fn start(name: &'static str, program: Program, features: &[&str]) -> Self {
        let cluster = spec(program, features).start();
        let address = cluster.controller(NODE.unsigned_abs());
        let mut side = Self {
            name,
            cluster_id: cluster.id().to_owned(),
            wire: Wire::connect(&address),
            brokers: BTreeMap::new(),
            address: address.clone(),
            log: Log::default(),
            first: Image::new(),
            histories: 0,
            told: BTreeMap::new(),
            left_dirs: BTreeSet::new(),
            names: Names::default(),
            cluster,
        };
        let port = address
            .rsplit_once(':')
            .and_then(|(_, port)| port.parse().ok());
        side.names.port(port.expect("an address has a port"));
        side.names.text(address, "<address>");
        let data = side.cluster.data_dir(NODE.unsigned_abs());
        side.names.text(data.display().to_string(), "<data>");
        side.news();
        while side.log.end < FIRST_OFFSETS {
            side.write_something();
            side.news();
        }
        side.first = side.image().clone();
        side
    }

    /// The metadata as it was when the controller had just started.
    pub(crate) fn first(&self) -> &Image {
        &self.first
    }

    pub(crate) fn image(&self) -> &Image {
        self.log.image()
    }

    /// The offset after the last record that is known here.
    pub(crate) fn end(&self) -> i64 {
        self.log.end
    }

    /// The records since the last time.
    pub(crate) fn news(&mut self) -> Vec<Entry> {
        let news = self.log.news(&mut self.wire);
        let news = news.unwrap_or_else(|code| {
            let (name, tails) = (self.name, self.cluster.tails());
            panic!("{name}: the log cannot be read: {code}\n{tails}")
        });
        news.iter().for_each(|entry| self.names.learn(entry));
        news
    }

    /// Asks for something, in a version that can say it.
    pub(crate) fn ask<R: Request>(&mut self, how: How, request: &R) -> Said {
        ask(&mut self.wire, how, request)
    }

    /// Asks by the connection of a broker.
    pub(crate) fn ask_as<R: Request>(&mut self, broker: i32, how: How, request: &R) -> Said {
        let address = &self.address;
        let wire = self.brokers.entry(broker);
        ask(wire.or_insert_with(|| Wire::connect(address)), how, request)
    }

    /// Asks as a new run of a broker, whose connection takes the place of the earlier run's where the
    /// answer is no error.
    pub(crate) fn ask_as_new<R: Request>(&mut self, broker: i32, how: How, request: &R) -> Said {
        let mut wire = Wire::connect(&self.address);
        let said = ask(&mut wire, how, request);
        if said.response["errorCode"] == 0 {
            self.brokers.insert(broker, wire);
        }
        said
    }

    pub(crate) fn broker(&self, id: i32) -> Option<&Broker> {
        self.image().cluster().broker(BrokerId(id))
    }

    /// A history begins: what the last one had numbers for is counted anew.
    pub(crate) fn start_over(&mut self) {
        self.names.start_over();
        self.histories += 1;
    }

    /// A broker's directory, which no history before this one has.
    pub(crate) fn dir(&self, broker: i32, number: u8) -> Uuid {
        let mut bytes = [0x70 + number; 16];
        bytes[0] = u8::try_from(broker).unwrap_or(0);
        bytes[1..5].copy_from_slice(&self.histories.to_be_bytes());
        Uuid::from_bytes(bytes)
    }

    /// Directories that partitions of deleted topics have been in while nobody was in sync.
    pub(crate) fn left_dirs(&self) -> &BTreeSet<Uuid> {
        &self.log.left_dirs
    }

    /// Those of the other side.
    pub(crate) fn learn_left_dirs(&mut self, others: &BTreeSet<Uuid>) {
        self.left_dirs.extend(others);
    }

    /// Whether a directory may fail: where a deleted topic was in it, out of sync, Apache Kafka's
    /// controller resigns.
    pub(crate) fn may_fail(&self, dir: Uuid) -> bool {
        !self.left_dirs.contains(&dir) && !self.log.left_dirs.contains(&dir)
    }

    /// Sends a broker's heartbeat by its own connection.
    pub(crate) fn beat(&mut self, how: How, heartbeat: &BrokerHeartbeatRequest) -> Said {
        let id = heartbeat.broker_id;
        self.told.insert(id, heartbeat.current_metadata_offset);
        self.ask_as(id, how, heartbeat)
    }

    /// Lets brokers tell again how far they know the log, whose registration has changed: Apache
    /// Kafka's controller has forgotten it.
    pub(crate) fn tell_again(&mut self, changes: &[Entry]) {
        let changed = changes.iter().filter_map(|entry| match &entry.record {
            Record::RegisterBroker(broker) => Some(broker.broker_id),
            Record::BrokerRegistrationChange(change) => Some(change.broker_id),
            _ => None,
        });
        for broker_id in changed {
            let Some(broker) = self.broker(broker_id).filter(|broker| broker.is_active()) else {
                continue;
            };
            let heartbeat = BrokerHeartbeatRequest {
                broker_id,
                broker_epoch: broker.epoch.0,
                current_metadata_offset: self.told.get(&broker_id).copied().unwrap_or(-1),
                ..Default::default()
            };
            self.beat(How::default(), &heartbeat);
        }
    }

    /// A broker's epoch, or one that is none where it is not registered.
    pub(crate) fn epoch(&self, id: i32) -> i64 {
        self.broker(id).map_or(-1, |broker| broker.epoch.0)
    }

    /// Whether any partition has eligible leader replicas.
    pub(crate) fn has_eligible_replicas(&self) -> bool {
        let mut partitions = self
            .image()
            .topics()
            .iter()
            .flat_map(|topic| topic.partitions());
        partitions.any(|(_, partition)| !partition.elr().is_empty())
    }

    /// A topic's id, or one that is none's.
    pub(crate) fn topic_id(&self, name: &str) -> Uuid {
        let topic = self.image().topics().by_name(name);
        let first = name.bytes().next().unwrap_or_default();
        topic.map_or(Uuid::from_bytes([first; 16]), |topic| topic.id())
    }

    pub(crate) fn partition(&self, topic: &str, index: i32) -> Option<&Partition> {
        self.image()
            .topics()
            .by_name(topic)?
            .partition(PartitionIndex(index))
    }

    /// What was said with names in it.
    pub(crate) fn named(&self, mut said: Value) -> Value {
        self.names.put_into(&mut said);
        said
    }

    /// The image as records with names in them.
    pub(crate) fn snapshot(&self) -> Vec<Value> {
        let records = self.image().snapshot().map(|record| {
            let version = self.image().features().metadata_version();
            let version = version.map_or(0, |version| record.version(version));
            let value = record.encode(version).expect("a record of the image");
            self.named(Entry { record, value }.shown())
        });
        let mut records: Vec<Value> = records.collect();
        records.sort_by_cached_key(Value::to_string);
        records
    }

    /// Puts many records into the log that leave nothing behind.
    fn write_something(&mut self) {
        for remove in [false, true] {
            let entries = (0..200).map(|number| RequestEntryData {
                entity: vec![RequestEntityData {
                    entity_type: "user".into(),
                    entity_name: Some(number.to_string().as_str().into()),
                    ..Default::default()
                }],
                ops: vec![OpData {
                    key: "producer_byte_rate".into(),
                    value: 1.0,
                    remove,
                    ..Default::default()
                }],
                ..Default::default()
            });
            let request = AlterClientQuotasRequest {
                entries: entries.collect(),
                ..Default::default()
            };
            let answer = self.wire.ask(1, &request).ok().flatten();
            let first = &answer.expect("quotas are changed").entries[0];
            let code = ErrorCode(first.error_code);
            assert_eq!(code, ErrorCode::NONE, "{first:?}");
        }
    }
}

fn ask<R: Request>(wire: &mut Wire, how: How, request: &R) -> Said {
    let latest = R::STABLE.max;
    let count = latest - R::STABLE.min + 1;
    let chosen = latest - i16::from(how.version) % count;
    let mut ask = |version| match how.principal {
        None => wire.call(version, request),
        Some(principal) => wire.forward(version, request, principal),
    };
    let said = ask(chosen).or_else(|_| ask(latest));
    said.unwrap_or_else(|e| panic!("{}: {e}", R::NAME))
}
