use klamm_metadata::{ConfigResource, Record};
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::alter_configs::AlterableConfig;

use super::*;
use crate::testing::Fixture;

const TOPIC: i8 = 2;
const NODE: i8 = 4;

fn resource(kind: i8, name: &str, configs: &[(&str, Option<&str>)]) -> AlterConfigsResource {
    let configs = configs.iter().map(|(key, value)| AlterableConfig {
        name: (*key).into(),
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
) -> Decision<AlterConfigsResponse> {
    let request = AlterConfigsRequest {
        resources,
        ..Default::default()
    };
    let asked = AlterConfigs {
        request: &request,
        forwarded: false,
        may_alter: &|_, name| name != "hidden",
    };
    asked.decide(&fixture.view())
}

#[test]
fn what_is_not_named_is_taken_away() {
    let mut fixture = Fixture::new(1);
    fixture.topic("t", &[&[1]]);
    fixture.config(TOPIC, "t", "flush.ms", "7");
    fixture.config(TOPIC, "t", "retention.ms", "7");
    fixture.config(TOPIC, "t", "segment.ms", "7");
    let wanted = [("retention.ms", Some("8")), ("segment.ms", Some("7"))];
    let decision = decide(&fixture, vec![resource(TOPIC, "t", &wanted)]);
    assert_eq!(decision.response.responses[0].error_code, 0);
    // What stays as it is needs no record.
    let changed = decision.records.iter().map(|record| match record {
        Record::Config(config) => (&*config.name, config.value.as_deref()),
        other => panic!("{other:?}"),
    });
    let changed: Vec<_> = changed.collect();
    assert_eq!(changed, [("retention.ms", Some("8")), ("flush.ms", None)]);
    fixture.carry_out(&decision);
    let resource = ConfigResource::topic("t");
    let values = fixture.image.configs().values(&resource);
    let values: Vec<_> = values.collect();
    assert_eq!(values, [("retention.ms", "8"), ("segment.ms", "7")]);
}

#[test]
fn what_elections_need_is_not_taken_away_by_not_naming_it() {
    let mut fixture = Fixture::new(1);
    fixture.config(NODE, "", "min.insync.replicas", "2");
    let code = |fixture: &Fixture| {
        let decision = decide(fixture, vec![resource(NODE, "", &[])]);
        let code = ErrorCode(decision.response.responses[0].error_code);
        assert_eq!(decision.records.is_empty(), code != ErrorCode::NONE);
        code
    };
    assert_eq!(code(&fixture), ErrorCode::INVALID_CONFIG);
    fixture.feature("eligible.leader.replicas.version", 0);
    assert_eq!(code(&fixture), ErrorCode::NONE);
}

#[test]
fn each_resource_is_decided_and_answered_once() {
    let mut fixture = Fixture::new(1);
    for topic in ["t", "hidden"] {
        fixture.topic(topic, &[&[1]]);
    }
    let decision = decide(
        &fixture,
        vec![
            resource(NODE, "1", &[("k", Some("v"))]),
            resource(TOPIC, "t", &[]),
            resource(TOPIC, "hidden", &[]),
            resource(TOPIC, "t", &[("flush.ms", Some("7"))]),
            resource(8, "1", &[]),
            resource(99, "?", &[]),
        ],
    );
    let answers = decision.response.responses.iter();
    let answers = answers.map(|answer| (&*answer.resource_name, ErrorCode(answer.error_code)));
    let answers: Vec<_> = answers.collect();
    assert_eq!(
        answers,
        [
            ("1", ErrorCode::NONE),
            ("t", ErrorCode::INVALID_REQUEST),
            ("hidden", ErrorCode::TOPIC_AUTHORIZATION_FAILED),
            ("1", ErrorCode::INVALID_REQUEST),
            ("?", ErrorCode::UNSUPPORTED_VERSION),
        ]
    );
    assert_eq!(decision.records.len(), 1);
}
