//! The two controllers.

use std::collections::BTreeMap;
use std::thread;

use klamm_cluster::Program;
use klamm_metadata::{ConfigResourceKind, Image, Record};
use klamm_protocol::SmallString;
use klamm_protocol::messages::alter_client_quotas::{
    AlterClientQuotasRequest, OpData, RequestEntityData, RequestEntryData,
};
use klamm_protocol::messages::alter_user_scram_credentials::{
    AlterUserScramCredentialsRequest, ScramCredentialDeletion,
};
use klamm_protocol::messages::delete_acls::{DeleteAclsFilter, DeleteAclsRequest};
use klamm_protocol::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest};
use klamm_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig, IncrementalAlterConfigsRequest,
};
use klamm_protocol::messages::unregister_broker::UnregisterBrokerRequest;

use crate::acls::ANY;
use crate::operations::{BROKERS, How, Operation, Register};
use crate::side::Side;

/// Apache Kafka's controller and klamm's, with the same cluster.
pub(crate) struct Pair {
    pub(crate) apache: Side,
    pub(crate) klamm: Side,
}

impl Pair {
    /// Starts both.
    pub(crate) fn start(features: &'static [&'static str]) -> Self {
        // klamm's process ends with the thread that starts it, Apache Kafka's with this process.
        let apache = thread::spawn(|| Side::start("apache", Program::Apache, features));
        let binary = klamm_suite::binary().to_owned();
        let klamm = Side::start("klamm", Program::Klamm(binary), features);
        let apache = apache.join().expect("Apache Kafka's controller starts");
        Self { apache, klamm }
    }

    fn each(&mut self) -> [&mut Side; 2] {
        [&mut self.apache, &mut self.klamm]
    }

    /// Deletes topics that are not the same on both sides.
    pub(crate) fn forget(&mut self, topics: &[String]) {
        for side in self.each() {
            delete_topics(side, |name| topics.iter().any(|topic| topic == name));
        }
    }

    /// Tells each side what the other one has seen.
    pub(crate) fn share(&mut self) {
        let (apache, klamm) = (&mut self.apache, &mut self.klamm);
        apache.learn_left_dirs(klamm.left_dirs());
        klamm.learn_left_dirs(apache.left_dirs());
    }

    /// Takes away all that a history has left. Producer ids stay used.
    pub(crate) fn clean(&mut self) {
        for side in self.each() {
            clean(side);
        }
    }
}

fn delete_topics(side: &mut Side, is_meant: impl Fn(&str) -> bool) {
    let topics = side.image().topics().iter();
    let topics = topics.filter(|topic| is_meant(topic.name()));
    let request = DeleteTopicsRequest {
        topics: topics
            .map(|topic| DeleteTopicState {
                topic_id: topic.id(),
                ..Default::default()
            })
            .collect(),
        timeout_ms: 60_000,
        ..Default::default()
    };
    if !request.topics.is_empty() {
        side.ask(How::default(), &request);
        side.news();
    }
}

fn clean(side: &mut Side) {
    delete_topics(side, |_| true);
    // Configs of a broker can be taken away while it is registered.
    let resources = side.image().configs().resources();
    let brokers = resources.filter(|resource| resource.kind == ConfigResourceKind::BROKER);
    let brokers: Vec<i32> = brokers
        .filter_map(|broker| broker.name.parse().ok())
        .collect();
    for id in brokers.into_iter().filter(|id| BROKERS.contains(id)) {
        if side.broker(id).is_none() {
            Register::of(id).ask(side, How::default());
            side.news();
        }
    }
    let acls = DeleteAclsRequest {
        filters: vec![DeleteAclsFilter {
            resource_type_filter: ANY,
            resource_name_filter: None,
            principal_filter: None,
            host_filter: None,
            pattern_type_filter: ANY,
            operation: ANY,
            permission_type: ANY,
            ..Default::default()
        }],
        ..Default::default()
    };
    side.ask(How::default(), &acls);
    let gone = side.news();
    side.wait_for_acls(&gone);
    let resources = side.image().configs().resources();
    let configs = resources.map(|resource| {
        let values = side.image().configs().values(&resource);
        let configs = values.map(|(key, _)| {
            let first = side.first().configs().value(&resource, key);
            AlterableConfig {
                name: key.into(),
                config_operation: i8::from(first.is_none()),
                value: first.map(Into::into),
                ..Default::default()
            }
        });
        AlterConfigsResource {
            resource_type: resource.kind.0,
            resource_name: (*resource.name).into(),
            configs: configs.collect(),
            ..Default::default()
        }
    });
    let configs = IncrementalAlterConfigsRequest {
        resources: configs.collect(),
        ..Default::default()
    };
    side.ask(How::default(), &configs);
    let quotas = side.image().client_quotas();
    let entries = quotas.entities().map(|entity| RequestEntryData {
        entity: entity
            .0
            .iter()
            .map(|(kind, name)| RequestEntityData {
                entity_type: (**kind).into(),
                entity_name: name.as_deref().map(Into::into),
                ..Default::default()
            })
            .collect(),
        ops: quotas
            .of(entity)
            .map(|(key, _)| OpData {
                key: key.into(),
                remove: true,
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    });
    let quotas = AlterClientQuotasRequest {
        entries: entries.collect(),
        ..Default::default()
    };
    side.ask(How::default(), &quotas);
    // A request may name a user once.
    let mut credentials: BTreeMap<i8, Vec<SmallString>> = BTreeMap::new();
    for (mechanism, user, _) in side.image().scram_credentials().iter() {
        let users = credentials.entry(mechanism.to_wire()).or_default();
        users.push(user.into());
    }
    for (mechanism, users) in credentials {
        let deletion = |name| ScramCredentialDeletion {
            name,
            mechanism,
            ..Default::default()
        };
        let scram = AlterUserScramCredentialsRequest {
            deletions: users.into_iter().map(deletion).collect(),
            ..Default::default()
        };
        side.ask(How::default(), &scram);
    }
    let brokers = side.image().cluster().brokers();
    for broker_id in brokers.map(|broker| broker.id.0).collect::<Vec<_>>() {
        let request = UnregisterBrokerRequest {
            broker_id,
            ..Default::default()
        };
        side.ask(How::default(), &request);
    }
    side.news();
    side.start_over();
    let records = |image: &Image| {
        let records = image.snapshot();
        let records = records.filter(|record| !matches!(record, Record::ProducerIds(_)));
        records.collect::<Vec<_>>()
    };
    let (now, first) = (records(side.image()), records(side.first()));
    assert_eq!(now, first, "{} keeps something", side.name);
}
