use std::collections::BTreeMap;

use fastrand::Rng;
use klamm_metadata::{ConfigResource, Record};
use klamm_protocol::data::metadata::ClearElrRecord;
use klamm_protocol::messages::incremental_alter_configs::AlterableConfig;

use super::*;
use crate::testing::Fixture;

const TOPIC: i8 = 2;
const NODE: i8 = 4;
const LOGGER: i8 = 8;
const CLIENT_METRICS: i8 = 16;
const GROUP: i8 = 32;

const SET: i8 = 0;
const DELETE: i8 = 1;
const APPEND: i8 = 2;
const SUBTRACT: i8 = 3;

fn resource(kind: i8, name: &str, ops: &[(&str, i8, Option<&str>)]) -> AlterConfigsResource {
    let configs = ops.iter().map(|(key, op, value)| AlterableConfig {
        name: (*key).into(),
        config_operation: *op,
        value: value.map(Into::into),
        ..Default::default()
    });
    AlterConfigsResource {
        resource_type: kind,
        resource_name: name.into(),
        configs: configs.collect(),
        ..Default::default()
    }
}

fn decide(
    fixture: &Fixture,
    resources: Vec<AlterConfigsResource>,
) -> Decision<IncrementalAlterConfigsResponse> {
    decide_from(fixture, resources, false)
}

fn decide_from(
    fixture: &Fixture,
    resources: Vec<AlterConfigsResource>,
    forwarded: bool,
) -> Decision<IncrementalAlterConfigsResponse> {
    let request = IncrementalAlterConfigsRequest {
        resources,
        ..Default::default()
    };
    let asked = IncrementalAlterConfigs {
        request: &request,
        forwarded,
        may_alter: &|_, name| name != "hidden",
        may_act: forwarded,
    };
    let decision = asked.decide(&fixture.view());
    assert!(decision.atomic);
    decision
}

/// The error of the only resource.
fn code(fixture: &Fixture, resource: AlterConfigsResource) -> ErrorCode {
    let decision = decide(fixture, vec![resource]);
    let answer = &decision.response.responses[0];
    let code = ErrorCode(answer.error_code);
    assert_eq!(answer.error_message.is_some(), code != ErrorCode::NONE);
    if code != ErrorCode::NONE {
        assert_eq!(decision.records, []);
    }
    code
}

fn cluster() -> Fixture {
    let mut fixture = Fixture::new(2);
    for topic in ["t", "hidden"] {
        fixture.topic(topic, &[&[1, 2]]);
    }
    fixture
}

/// Random changes against a map that says what they come to.
#[test]
fn changes_add_up_as_in_a_map() {
    const KEYS: [&str; 3] = [
        "ssl.cipher.suites",
        "sasl.enabled.mechanisms",
        "no.such.key",
    ];
    const VALUES: [&str; 6] = ["a", "b", "a,b", "c,c", "", "b,,d"];
    let mut rng = Rng::with_seed(7);
    let mut fixture = cluster();
    let mut model: BTreeMap<&str, String> = BTreeMap::new();
    let defaults = BTreeMap::from([("sasl.enabled.mechanisms", "GSSAPI")]);
    let mut refused = 0;
    for _ in 0..3_000 {
        let key = KEYS[rng.usize(..KEYS.len())];
        let op = rng.i8(0..4);
        let value = VALUES[rng.usize(..VALUES.len())];
        let decision = decide(
            &fixture,
            vec![resource(NODE, "1", &[(key, op, Some(value))])],
        );
        let is_list = op < APPEND || key != "no.such.key";
        assert_eq!(decision.response.responses[0].error_code == 0, is_list);
        fixture.carry_out(&decision);
        if !is_list {
            refused += 1;
            continue;
        }
        let old = model.get(key).map(String::as_str);
        let old = old.or(defaults.get(key).copied()).unwrap_or_default();
        let mut items: Vec<&str> = old.split(',').filter(|item| !item.is_empty()).collect();
        match op {
            SET => _ = model.insert(key, value.to_owned()),
            DELETE => _ = model.remove(key),
            APPEND => {
                for item in value.split(',') {
                    if !items.contains(&item) {
                        items.push(item);
                    }
                }
                model.insert(key, items.join(","));
            }
            _ => {
                for item in value.split(',') {
                    if let Some(at) = items.iter().position(|known| *known == item) {
                        items.remove(at);
                    }
                }
                model.insert(key, items.join(","));
            }
        }
        let resource = ConfigResource::node(klamm_protocol::BrokerId(1));
        let stored = fixture.image.configs().values(&resource);
        let expected = model.iter().map(|(key, value)| (*key, &**value));
        assert!(stored.eq(expected), "{model:?}");
    }
    assert!(refused > 100);
}

#[test]
fn what_is_set_already_is_written_for_nodes_only() {
    let mut fixture = cluster();
    for (kind, name, key, written) in [
        (TOPIC, "t", "flush.ms", 0),
        (GROUP, "g", "share.isolation.level", 0),
        (NODE, "", "message.max.bytes", 1),
    ] {
        let value = if kind == GROUP { "read_committed" } else { "7" };
        for (time, expected) in [(0, 1), (1, written)] {
            let asked = resource(kind, name, &[(key, SET, Some(value))]);
            let decision = decide(&fixture, vec![asked]);
            assert_eq!(decision.records.len(), expected, "{name}, {time}");
            fixture.carry_out(&decision);
        }
    }
}

#[test]
fn a_resource_changes_as_a_whole_and_the_others_do_not_care() {
    let fixture = cluster();
    let decision = decide(
        &fixture,
        vec![
            resource(
                TOPIC,
                "t",
                &[
                    ("flush.ms", SET, Some("7")),
                    ("retention.ms", SET, Some("x")),
                ],
            ),
            resource(NODE, "", &[("k", SET, Some("v"))]),
            resource(TOPIC, "hidden", &[("flush.ms", SET, Some("7"))]),
            resource(GROUP, "g", &[]),
            resource(GROUP, "g", &[]),
        ],
    );
    let codes = decision.response.responses.iter();
    let codes: Vec<_> = codes.map(|answer| ErrorCode(answer.error_code)).collect();
    assert_eq!(
        codes,
        [
            ErrorCode::INVALID_CONFIG,
            ErrorCode::NONE,
            ErrorCode::TOPIC_AUTHORIZATION_FAILED,
            ErrorCode::INVALID_REQUEST,
        ]
    );
    assert_eq!(decision.records.len(), 1);
}

#[test]
fn resources_that_cannot_be_are_refused() {
    let fixture = cluster();
    let set: &[_] = &[("flush.ms", SET, Some("7"))];
    let refused = |kind, name, expected| {
        assert_eq!(
            code(&fixture, resource(kind, name, set)),
            expected,
            "{name}"
        );
    };
    refused(TOPIC, "u", ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    refused(TOPIC, "a b", ErrorCode::INVALID_TOPIC_EXCEPTION);
    refused(TOPIC, "", ErrorCode::INVALID_REQUEST);
    refused(NODE, "3", ErrorCode::BROKER_ID_NOT_REGISTERED);
    refused(NODE, "-1", ErrorCode::INVALID_REQUEST);
    refused(NODE, "x", ErrorCode::INVALID_REQUEST);
    refused(NODE, "100", ErrorCode::NONE);
    refused(GROUP, "", ErrorCode::INVALID_REQUEST);
    refused(GROUP, "g", ErrorCode::INVALID_CONFIG);
    refused(CLIENT_METRICS, "", ErrorCode::INVALID_REQUEST);
    refused(CLIENT_METRICS, "m", ErrorCode::INVALID_REQUEST);
    refused(LOGGER, "1", ErrorCode::CLUSTER_AUTHORIZATION_FAILED);
    refused(0, "", ErrorCode::UNSUPPORTED_VERSION);
    let allowed = decide_from(&fixture, vec![resource(LOGGER, "1", set)], true);
    let error = ErrorCode(allowed.response.responses[0].error_code);
    assert_eq!(error, ErrorCode::INVALID_REQUEST);
}

#[test]
fn what_is_there_twice_is_answered_once_where_it_could_be_changed() {
    let fixture = cluster();
    let set = &[("k", SET, Some("v"))];
    for (kind, name, answers) in [
        (TOPIC, "t", 1),
        (NODE, "", 1),
        (CLIENT_METRICS, "m", 1),
        (GROUP, "g", 1),
        (LOGGER, "1", 2),
        (0, "", 2),
    ] {
        let twice = vec![resource(kind, name, set), resource(kind, name, set)];
        let decision = decide(&fixture, twice);
        assert_eq!(decision.response.responses.len(), answers, "{kind}");
        assert_eq!(decision.records, []);
    }
}

#[test]
fn operations_that_cannot_be_are_refused() {
    let fixture = cluster();
    let invalid = ErrorCode::INVALID_REQUEST;
    for (op, value, expected) in [
        (4, Some("x"), invalid),
        (-1, None, invalid),
        (APPEND, None, invalid),
        (SUBTRACT, None, invalid),
        (SET, None, ErrorCode::NONE),
        (DELETE, Some("ignored"), ErrorCode::NONE),
    ] {
        let asked = resource(TOPIC, "t", &[("cleanup.policy", op, value)]);
        assert_eq!(code(&fixture, asked), expected, "{op}");
    }
    let long = "7".repeat(40_000);
    for kind in [(TOPIC, "t", "flush.ms"), (NODE, "", "k")] {
        let (kind, name, key) = kind;
        let asked = resource(kind, name, &[(key, SET, Some(&long))]);
        assert_eq!(code(&fixture, asked), ErrorCode::INVALID_CONFIG);
    }
}

#[test]
fn who_is_eligible_is_so_by_the_old_minimum() {
    let mut fixture = cluster();
    let set: &[_] = &[("min.insync.replicas", SET, Some("2"))];
    let cleared = |fixture: &Fixture, kind, name| {
        let decision = decide(fixture, vec![resource(kind, name, set)]);
        let mut records = decision.records.into_iter();
        records.find_map(|record| match record {
            Record::ClearElr(ClearElrRecord { topic_name, .. }) => Some(topic_name.to_string()),
            _ => None,
        })
    };
    assert_eq!(cleared(&fixture, TOPIC, "t").as_deref(), Some("t"));
    assert_eq!(cleared(&fixture, NODE, "").as_deref(), Some(""));
    let invalid = ErrorCode::INVALID_CONFIG;
    assert_eq!(code(&fixture, resource(NODE, "1", set)), invalid);
    let delete = resource(NODE, "", &[("min.insync.replicas", DELETE, None)]);
    assert_eq!(code(&fixture, delete.clone()), invalid);
    fixture.feature("eligible.leader.replicas.version", 0);
    assert_eq!(cleared(&fixture, TOPIC, "t"), None);
    for allowed in [resource(NODE, "1", set), delete] {
        assert_eq!(code(&fixture, allowed), ErrorCode::NONE);
    }
}

#[test]
fn directories_are_cordoned_by_their_broker() {
    let mut fixture = cluster();
    let asked = |value| vec![resource(NODE, "1", &[("cordoned.log.dirs", SET, value)])];
    let code = |fixture: &Fixture, value, forwarded| {
        let decision = decide_from(fixture, asked(value), forwarded);
        ErrorCode(decision.response.responses[0].error_code)
    };
    let invalid = ErrorCode::INVALID_CONFIG;
    assert_eq!(code(&fixture, Some("/a"), false), invalid);
    assert_eq!(code(&fixture, None, false), ErrorCode::NONE);
    let decision = decide_from(&fixture, asked(Some("/a, /b")), true);
    fixture.carry_out(&decision);
    for (value, expected) in [
        ("/b", ErrorCode::NONE),
        ("", ErrorCode::NONE),
        ("/c", invalid),
    ] {
        assert_eq!(code(&fixture, Some(value), false), expected, "{value}");
    }
    fixture.feature("metadata.version", 29);
    assert_eq!(code(&fixture, Some("/a"), true), invalid);
}
