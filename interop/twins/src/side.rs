//! One of the two controllers.

use std::collections::BTreeMap;

use klamm_cluster::{Cluster, Program, Spec};
use klamm_metadata::{Broker, Image, Partition};
use klamm_protocol::messages::alter_client_quotas::{
    AlterClientQuotasRequest, OpData, RequestEntityData, RequestEntryData,
};
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
    pub(crate) names: Names,
    // Dropped last: its processes end with it.
    _cluster: Cluster,
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
            names: Names::default(),
            _cluster: cluster,
        };
        let port = address
            .rsplit_once(':')
            .and_then(|(_, port)| port.parse().ok());
        side.names.port(port.expect("an address has a port"));
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

    pub(crate) fn broker(&self, id: i32) -> Option<&Broker> {
        self.image().cluster().broker(BrokerId(id))
    }

    /// A broker's epoch, or one that is none where it is not registered.
    pub(crate) fn epoch(&self, id: i32) -> i64 {
        self.broker(id).map_or(-1, |broker| broker.epoch.0)
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
    pub(crate) fn snapshot(&self) -> Vec<String> {
        let records = self.image().snapshot().map(|record| {
            let version = self.image().features().metadata_version();
            let version = version.map_or(0, |version| record.version(version));
            let value = record.encode(version).expect("a record of the image");
            self.named(Entry { record, value }.shown()).to_string()
        });
        let mut records: Vec<String> = records.collect();
        records.sort_unstable();
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
            let answer = self.wire.call(1, &request).ok();
            let answer = answer.and_then(|exchange| exchange.answer);
            let first = &answer.expect("it is sent").entries[0];
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
    let exchange = ask(chosen).or_else(|_| ask(latest));
    let exchange = exchange.unwrap_or_else(|e| panic!("{}: {e}", R::NAME));
    exchange.said
}
