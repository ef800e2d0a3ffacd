//! What nodes say of configs, against Apache Kafka's own answers.

use std::collections::BTreeMap;

use fastrand::Rng;
use klamm_controller::{ControllerConfig, DescribeConfigs, View};
use klamm_java_peer::{Value, json};
use klamm_metadata::{Image, Record};
use klamm_protocol::BrokerId;
use klamm_protocol::data::metadata::{ConfigRecord, FeatureLevelRecord, TopicRecord};
use klamm_protocol::messages::describe_configs::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResult,
};

use crate::Context;

const CLUSTERS: usize = 40;
const FULL_CLUSTERS: usize = 800;

/// Configs that a cluster may have.
const STORED: &[(i8, &str, &str, &str)] = &[
    (2, "t", "retention.ms", " 5 "),
    (2, "t", "cleanup.policy", " compact , delete"),
    (2, "t", "preallocate", "TRUE"),
    (2, "t", "min.cleanable.dirty.ratio", "0.25d"),
    (2, "t", "flush.ms", "7"),
    (2, "t", "internal.segment.bytes", "7000"),
    (2, "t", "message.format.version", "2.8"),
    (4, "", "log.roll.ms", "70000"),
    (4, "", "message.max.bytes", "70000"),
    (4, "", "log.retention.ms", "8000"),
    (4, "", "no.such.key", "x"),
    (4, "", "min.insync.replicas", "2"),
    (4, "100", "log.roll.ms", "80000"),
    (4, "100", "log.cleanup.policy", "compact, delete"),
    (4, "100", "unclean.leader.election.enable", "true"),
    (4, "100", "another.key", "x"),
    (4, "1", "message.max.bytes", "90000"),
    (16, "m", "interval.ms", "1000"),
    (16, "m", "match", "client_id=a,client_id=b"),
    (32, "g", "share.session.timeout.ms", "50000"),
    (32, "g", "streams.assignor.name", "sticky"),
    (32, "g", "streams.num.warmup.replicas", "3"),
    (32, "g", "streams.rack.aware.assignment.tags", "a, b"),
];

/// What the node's file may say.
const FILE: &[(&str, &str)] = &[
    ("log.retention.hours", "1"),
    ("log.retention.minutes", "5"),
    ("log.segment.bytes", " 2000000"),
    ("log.roll.jitter.hours", "2"),
    ("group.share.session.timeout.ms", "46000"),
    ("ssl.keystore.password", "secret"),
    ("listener.name.controller.ssl.keystore.password", "secret"),
    ("a.key.of.nobody", "x"),
    ("super.users", "User:a"),
    ("log.cleanup.policy", "delete , compact"),
];

pub(crate) fn told_alike(context: &mut Context) {
    let mut rng = Rng::with_seed(context.seed);
    let count = match klamm_suite::is_full() {
        true => FULL_CLUSTERS,
        false => CLUSTERS,
    };
    let mut compared = 0;
    for _ in 0..count {
        compared += compare(context, &mut rng);
    }
    println!("controller: {count} clusters; {compared} configs described");
    assert!(compared > count * 100);
}

/// Makes a cluster and compares everything that is told of it; says how many configs that is.
fn compare(context: &mut Context, rng: &mut Rng) -> usize {
    let mut image = Image::new();
    let mut config = ControllerConfig::new(BrokerId(100));
    let fixed = [
        ("process.roles", "controller"),
        ("node.id", "100"),
        ("controller.quorum.voters", "100@localhost:1"),
        ("controller.listener.names", "CONTROLLER"),
        ("listeners", "CONTROLLER://localhost:1"),
    ];
    let chosen = FILE.iter().filter(|_| rng.bool()).chain(&fixed);
    config.properties = chosen
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect();
    let mut records = vec![
        json!([12, { "name": "metadata.version", "featureLevel": 33 }]),
        json!([2, { "name": "t", "topicId": "AAAAAAAAAAAAAAAAAAAAAQ" }]),
    ];
    apply(
        &mut image,
        FeatureLevelRecord {
            name: "metadata.version".into(),
            feature_level: 33,
            ..Default::default()
        },
    );
    apply(
        &mut image,
        TopicRecord {
            name: "t".into(),
            topic_id: klamm_protocol::Uuid::from_bytes([1; 16]),
            ..Default::default()
        },
    );
    for (kind, resource, key, value) in STORED.iter().filter(|_| rng.bool()) {
        records.push(json!([4, {
            "resourceType": kind, "resourceName": resource, "name": key, "value": value,
        }]));
        apply(
            &mut image,
            ConfigRecord {
                resource_type: *kind,
                resource_name: (*resource).into(),
                name: (*key).into(),
                value: Some((*value).into()),
                ..Default::default()
            },
        );
    }
    let resources = [
        (2, "t"),
        (2, "x"),
        (2, ""),
        (2, "a b"),
        (4, ""),
        (4, "100"),
        (4, "1"),
        (4, "z"),
        (16, "m"),
        (16, "n"),
        (16, ""),
        (32, "g"),
        (32, "h"),
        (32, ""),
        (8, ""),
        (8, "2"),
    ];
    let keys: [Option<&[&str]>; 3] = [None, Some(&[]), Some(&["retention.ms", "no.such.key"])];
    let keys = keys[rng.usize(..keys.len())];
    let include_synonyms = rng.u8(..4) > 0;
    let asked = resources.map(|(kind, name)| {
        json!({
            "resourceType": kind, "resourceName": name, "configurationKeys": keys,
        })
    });
    let answers = context.java.call(
        "describe",
        json!({
            "records": records, "properties": config.properties,
            "asked": [["configs", {
                "resources": asked, "includeSynonyms": include_synonyms,
                "includeDocumentation": false,
            }]],
        }),
    );
    let answers = answers.unwrap();
    let request = DescribeConfigsRequest {
        resources: resources
            .map(|(kind, name)| DescribeConfigsResource {
                resource_type: kind,
                resource_name: name.into(),
                configuration_keys: keys.map(|keys| keys.iter().map(|key| (*key).into()).collect()),
                ..Default::default()
            })
            .into(),
        include_synonyms,
        ..Default::default()
    };
    let asked = DescribeConfigs {
        request: &request,
        may_describe: &|_, _| true,
    };
    let ours = asked.answer(&View::new(&image, &config).unwrap());
    let theirs = answers[0]["results"].as_array().unwrap();
    let mut compared = 0;
    for (ours, theirs) in ours.results.iter().zip(theirs) {
        let told = told(ours);
        compared += told.len();
        let (kind, name) = (ours.resource_type, &ours.resource_name);
        assert_eq!(
            Value::from(ours.error_code),
            theirs["errorCode"],
            "{kind} {name}"
        );
        let message = ours.error_message.as_ref().map(ToString::to_string);
        let message = message.filter(|text| !text.is_empty());
        let theirs_message = theirs["errorMessage"]
            .as_str()
            .filter(|text| !text.is_empty());
        assert_eq!(message.as_deref(), theirs_message, "{kind} {name}");
        let theirs = theirs["configs"].as_array().unwrap().iter();
        let theirs: BTreeMap<String, Value> = theirs
            .map(|config| (config["name"].to_string(), config.clone()))
            .collect();
        for (key, config) in &told {
            let expected = theirs.get(key);
            assert_eq!(
                Some(config),
                expected,
                "{kind} {name}, {:?}",
                config_of(&image)
            );
        }
        assert_eq!(
            told.len(),
            theirs.len(),
            "{kind} {name}: {:?}",
            theirs.keys()
        );
    }
    compared
}

fn apply(image: &mut Image, record: impl Into<Record>) {
    image.apply(&record.into()).unwrap();
}

fn config_of(image: &Image) -> Vec<Record> {
    image.snapshot().collect()
}

/// The configs of an answer as Apache Kafka's own JSON has them, by name.
fn told(result: &DescribeConfigsResult) -> BTreeMap<String, Value> {
    let text = |text: &Option<klamm_protocol::SmallString>| text.as_ref().map(ToString::to_string);
    let configs = result.configs.iter().map(|config| {
        let synonyms = config.synonyms.iter().map(|synonym| {
            json!({
                "name": synonym.name.to_string(), "value": text(&synonym.value),
                "source": synonym.source,
            })
        });
        let synonyms: Vec<Value> = synonyms.collect();
        let told = json!({
            "name": config.name.to_string(), "value": text(&config.value),
            "readOnly": config.read_only, "configSource": config.config_source,
            "isSensitive": config.is_sensitive, "synonyms": synonyms,
            "configType": config.config_type, "documentation": text(&config.documentation),
        });
        (told["name"].to_string(), told)
    });
    configs.collect()
}
