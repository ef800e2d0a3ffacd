//! Histories of requests to change configs and features, each on a cluster of its own, against the
//! parts of Apache Kafka's controller that keep them: the same answers, and the same records.

mod features;
mod keys;

use std::collections::BTreeMap;

use fastrand::Rng;
use klamm_controller::{
    AlterConfigs, ControllerConfig, Decision, IncrementalAlterConfigs, UpdateFeatures, View,
};
use klamm_java_peer::{Value, json};
use klamm_metadata::{Image, Record};
use klamm_protocol::BrokerId;
use klamm_protocol::data::metadata::{ConfigRecord, FeatureLevelRecord, TopicRecord};
use klamm_protocol::messages::update_features::UpdateFeaturesRequest;
use klamm_protocol::messages::{alter_configs, incremental_alter_configs as incremental};

use crate::Context;

const HISTORIES: usize = 300;
const FULL_HISTORIES: usize = 6_000;
const STEPS: usize = 25;

/// The controller itself; the others are brokers.
const NODE: BrokerId = BrokerId(100);
const BROKERS: [i32; 2] = [1, 2];
const TOPICS: [&str; 2] = ["t", "u"];

/// A cluster, and what was asked of it so far.
struct History {
    image: Image,
    config: ControllerConfig,
    cluster: Value,
    steps: Vec<Value>,
    decided: Vec<Decided>,
}

/// What one step came to.
#[derive(Debug, PartialEq)]
struct Decided {
    /// Kind, name, error and message of each resource.
    results: Vec<String>,
    records: Vec<String>,
}

pub(crate) fn decided_alike(context: &mut Context) {
    let mut rng = Rng::with_seed(context.seed);
    let count = match klamm_suite::is_full() {
        true => FULL_HISTORIES,
        false => HISTORIES,
    };
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..count {
        let mut history = History::new(&mut rng);
        for _ in 0..STEPS {
            history.step(&mut rng);
        }
        let asked = json!({ "cluster": history.cluster, "steps": history.steps });
        let answers = context.java.call("managers", asked).unwrap();
        let answers = answers.as_array().unwrap();
        for ((step, ours), theirs) in history.steps.iter().zip(&history.decided).zip(answers) {
            let theirs = of_apache(theirs);
            assert_eq!(*ours, theirs, "{step} on {}", history.cluster);
            for result in &ours.results {
                *codes.entry(code(result)).or_default() += 1;
            }
        }
    }
    println!("controller: {count} histories; results by error: {codes:?}");
    for expected in ["0", "3", "17", "40", "42", "95", "102"] {
        assert!(
            codes.get(expected).is_some_and(|count| *count > 20),
            "{codes:?}"
        );
    }
}

/// The error of a result.
fn code(result: &str) -> String {
    let result = klamm_java_peer::parse(result);
    result[2][0].to_string()
}

impl History {
    fn new(rng: &mut Rng) -> Self {
        let level = match rng.u8(..4) {
            0 => rng.i16(7..=33),
            1 => rng.i16(29..=31),
            _ => 33,
        };
        let elr = i16::from(level >= 26 && rng.bool());
        let properties = keys::properties(rng);
        let stored = keys::stored(rng);
        let nodes = features::Nodes::new(rng, &BROKERS);
        let cluster = json!({
            "node": NODE.0, "voters": nodes.voters(), "topics": TOPICS,
            "brokers": nodes.brokers(), "controllers": nodes.controllers(),
            "properties": properties, "configs": stored,
            "features": { "metadata.version": level, "eligible.leader.replicas.version": elr },
        });
        let mut config = ControllerConfig::new(NODE);
        config.properties = properties;
        config.voters = nodes.voters().into_iter().map(BrokerId).collect();
        let min_isr = config.properties.get("min.insync.replicas");
        config.min_insync_replicas = min_isr.map_or(1, |value| value.parse().unwrap());
        let mut history = Self {
            image: Image::new(),
            config,
            cluster,
            steps: Vec::new(),
            decided: Vec::new(),
        };
        for (name, level) in [
            ("metadata.version", level),
            ("eligible.leader.replicas.version", elr),
        ] {
            history.apply(FeatureLevelRecord {
                name: name.into(),
                feature_level: level,
                ..Default::default()
            });
        }
        for record in nodes.records() {
            history.apply(record);
        }
        for (number, name) in (1..).zip(TOPICS) {
            history.apply(TopicRecord {
                name: name.into(),
                topic_id: klamm_protocol::Uuid::from_bytes([number; 16]),
                ..Default::default()
            });
        }
        for (kind, resource, key, value) in stored {
            history.apply(ConfigRecord {
                resource_type: kind,
                resource_name: resource.into(),
                name: key.into(),
                value: Some(value.into()),
                ..Default::default()
            });
        }
        history
    }

    fn apply(&mut self, record: impl Into<Record>) {
        self.image.apply(&record.into()).unwrap();
    }

    fn view(&self) -> View<'_> {
        View::new(&self.image, &self.config).unwrap()
    }

    /// Asks for a random change.
    fn step(&mut self, rng: &mut Rng) {
        match rng.u8(..4) {
            0 => self.change_features(rng),
            _ => self.change_configs(rng),
        }
    }

    fn change_features(&mut self, rng: &mut Rng) {
        let updates = features::updates(rng);
        let validate_only = rng.u8(..3) == 0;
        let request = UpdateFeaturesRequest {
            feature_updates: updates.iter().map(features::Update::to_request).collect(),
            validate_only,
            ..Default::default()
        };
        let asked = UpdateFeatures {
            request: &request,
            version: 2,
            kraft_version: 1,
        };
        let decision = asked.decide(&self.view());
        let response = &decision.response;
        let message = response.error_message.as_ref().map(ToString::to_string);
        // Apache Kafka's controller says it before it says of which feature.
        let message = message.and_then(|text| Some(text.split_once("error: ")?.1.to_owned()));
        let results = vec![json!(["features", "", [response.error_code, message]]).to_string()];
        let decided = self.finish(decision, results);
        let updates: Vec<Value> = updates.iter().map(features::Update::to_json).collect();
        self.steps.push(json!({
            "do": "features", "updates": updates, "validate_only": validate_only,
        }));
        self.decided.push(decided);
    }

    fn change_configs(&mut self, rng: &mut Rng) {
        let resources = keys::resources(rng);
        let forwarded = rng.bool();
        let validate_only = rng.u8(..5) == 0;
        let is_legacy = rng.u8(..4) == 0;
        let decided = match is_legacy {
            true => {
                let request = alter_configs::AlterConfigsRequest {
                    resources: resources.iter().map(keys::Resource::to_legacy).collect(),
                    validate_only,
                    ..Default::default()
                };
                let asked = AlterConfigs {
                    request: &request,
                    forwarded,
                    may_alter: &|_, _| true,
                };
                let decision = asked.decide(&self.view());
                let responses = decision.response.responses.iter().map(|r| {
                    let result = (r.error_code, r.error_message.as_deref());
                    told(r.resource_type, &r.resource_name, result)
                });
                let responses = responses.collect();
                self.finish(decision, responses)
            }
            false => {
                let request = incremental::IncrementalAlterConfigsRequest {
                    resources: resources
                        .iter()
                        .map(keys::Resource::to_incremental)
                        .collect(),
                    validate_only,
                    ..Default::default()
                };
                let asked = IncrementalAlterConfigs {
                    request: &request,
                    forwarded,
                    may_alter: &|_, _| true,
                    may_act: true,
                };
                let decision = asked.decide(&self.view());
                let responses = decision.response.responses.iter().map(|r| {
                    let result = (r.error_code, r.error_message.as_deref());
                    told(r.resource_type, &r.resource_name, result)
                });
                let responses = responses.collect();
                self.finish(decision, responses)
            }
        };
        let resources: Vec<Value> = resources.iter().map(keys::Resource::to_json).collect();
        self.steps.push(json!({
            "do": if is_legacy { "legacy" } else { "incremental" },
            "resources": resources, "forwarded": forwarded, "validate_only": validate_only,
        }));
        self.decided.push(decided);
    }

    fn finish<R>(&mut self, decision: Decision<R>, mut results: Vec<String>) -> Decided {
        let mut records: Vec<String> = decision.records.iter().map(said).collect();
        for record in decision.records {
            self.apply(record);
        }
        results.sort_unstable();
        records.sort_unstable();
        Decided { results, records }
    }
}

/// A record as Apache Kafka's own JSON has it.
fn said(record: &Record) -> String {
    let record = match record {
        Record::Config(r) => json!({
            "resourceType": r.resource_type, "resourceName": r.resource_name.to_string(),
            "name": r.name.to_string(), "value": r.value.as_ref().map(ToString::to_string),
        }),
        Record::FeatureLevel(r) => {
            json!({ "name": r.name.to_string(), "featureLevel": r.feature_level })
        }
        Record::ClearElr(r) => json!({ "topicName": r.topic_name.to_string() }),
        other => panic!("{other:?} changes no config or feature"),
    };
    record.to_string()
}

/// What became of a resource, as the Java side writes it.
fn told(kind: i8, name: &str, result: (i16, Option<&str>)) -> String {
    json!([kind, name, result]).to_string()
}

fn of_apache(answer: &Value) -> Decided {
    let sorted = |name: &str| {
        let list = answer[name].as_array();
        let list = list.unwrap_or_else(|| panic!("Apache Kafka says {answer}"));
        let mut list: Vec<String> = list.iter().map(Value::to_string).collect();
        list.sort_unstable();
        list
    };
    Decided {
        results: sorted("results"),
        records: sorted("records"),
    }
}
