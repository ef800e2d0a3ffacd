use super::*;
use crate::testing::Fixture;

const TOPIC: i8 = 2;
const NODE: i8 = 4;
const LOGGER: i8 = 8;
const CLIENT_METRICS: i8 = 16;
const GROUP: i8 = 32;

fn describe_with(
    fixture: &Fixture,
    kind: i8,
    name: &str,
    keys: Option<&[&str]>,
) -> DescribeConfigsResult {
    let keys = keys.map(|keys| keys.iter().map(|key| (*key).into()).collect());
    let request = DescribeConfigsRequest {
        resources: vec![DescribeConfigsResource {
            resource_type: kind,
            resource_name: name.into(),
            configuration_keys: keys,
            ..Default::default()
        }],
        include_synonyms: true,
        ..Default::default()
    };
    let asked = DescribeConfigs {
        request: &request,
        may_describe: &|_, name| name != "hidden",
    };
    asked.answer(&fixture.view()).results.remove(0)
}

fn describe(fixture: &Fixture, kind: i8, name: &str) -> DescribeConfigsResult {
    describe_with(fixture, kind, name, None)
}

/// A config's value and source.
fn of<'a>(result: &'a DescribeConfigsResult, name: &str) -> Option<(Option<&'a str>, i8)> {
    let mut configs = result.configs.iter();
    let config = configs.find(|config| *config.name == *name)?;
    Some((config.value.as_deref(), config.config_source))
}

fn synonyms(result: &DescribeConfigsResult, name: &str) -> Vec<String> {
    let mut configs = result.configs.iter();
    let config = configs.find(|config| *config.name == *name).unwrap();
    let synonyms = config.synonyms.iter();
    let shown = synonyms.map(|s| format!("{}={:?} {}", s.name, s.value.as_deref(), s.source));
    shown.collect()
}

fn cluster() -> Fixture {
    let mut fixture = Fixture::new(1);
    fixture.topic("t", &[&[1]]);
    let file = [
        ("node.id", "100"),
        ("log.segment.bytes", "2000000"),
        ("log.retention.hours", "1"),
        ("ssl.keystore.password", "secret"),
        ("no.such.key", "secret"),
    ];
    let file = file.map(|(key, value)| (key.to_owned(), value.to_owned()));
    fixture.config.properties = file.into();
    fixture.config(NODE, "", "log.roll.ms", "70000");
    fixture.config(NODE, "", "log.dirs", "/nobody/takes/this");
    fixture.config(NODE, "100", "message.max.bytes", " 70000");
    fixture.config(NODE, "100", "log.segment.bytes", "not a number");
    fixture.config(TOPIC, "t", "cleanup.policy", " compact , delete");
    fixture.config(TOPIC, "t", "message.format.version", "2.8");
    fixture
}

#[test]
fn a_topic_has_its_own_and_what_it_inherits() {
    let result = describe(&cluster(), TOPIC, "t");
    assert_eq!(
        of(&result, "cleanup.policy"),
        Some((Some("compact,delete"), 1))
    );
    assert_eq!(of(&result, "max.message.bytes"), Some((Some("70000"), 2)));
    assert_eq!(of(&result, "segment.ms"), Some((Some("70000"), 3)));
    assert_eq!(of(&result, "segment.bytes"), Some((Some("2000000"), 4)));
    assert_eq!(of(&result, "flush.messages").unwrap().1, 5);
    // A key of another release is there, and nobody knows whether it is secret.
    assert_eq!(of(&result, "message.format.version"), Some((None, 1)));
    assert_eq!(of(&result, "internal.segment.bytes"), None);
    assert_eq!(
        synonyms(&result, "cleanup.policy"),
        [
            r#"cleanup.policy=Some("compact,delete") 1"#,
            r#"log.cleanup.policy=Some("delete") 5"#
        ]
    );
    assert_eq!(
        synonyms(&result, "segment.ms"),
        [
            r#"log.roll.ms=Some("70000") 3"#,
            r#"log.roll.hours=Some("168") 5"#
        ]
    );
}

#[test]
fn the_own_node_has_every_key_and_no_secret() {
    let result = describe(&cluster(), NODE, "100");
    assert!(result.configs.len() > 340);
    assert_eq!(of(&result, "message.max.bytes"), Some((Some("70000"), 2)));
    assert_eq!(of(&result, "log.roll.ms"), Some((Some("70000"), 3)));
    assert_eq!(of(&result, "log.segment.bytes"), Some((Some("2000000"), 4)));
    assert_eq!(of(&result, "broker.id"), Some((Some("100"), 4)));
    assert_eq!(of(&result, "log.dirs"), Some((None, 5)));
    for secret in ["ssl.keystore.password", "no.such.key"] {
        assert_eq!(of(&result, secret), Some((None, 4)), "{secret}");
        assert!(synonyms(&result, secret)[0].contains("None"), "{secret}");
    }
    let sensitive = result.configs.iter().filter(|config| config.is_sensitive);
    assert!(sensitive.clone().count() > 5);
    assert!(sensitive.clone().all(|config| config.value.is_none()));
    let all = describe(&cluster(), NODE, "");
    let names: Vec<_> = all.configs.iter().map(|config| &*config.name).collect();
    assert_eq!(names, ["log.roll.ms"]);
}

#[test]
fn groups_and_subscriptions_have_defaults() {
    let mut fixture = cluster();
    fixture.config(GROUP, "g", "share.session.timeout.ms", "50000");
    fixture.config(CLIENT_METRICS, "m", "interval.ms", "1000");
    let group = describe(&fixture, GROUP, "g");
    assert_eq!(
        of(&group, "share.session.timeout.ms"),
        Some((Some("50000"), 8))
    );
    assert_eq!(
        of(&group, "streams.assignor.name"),
        Some((Some("sticky"), 5))
    );
    assert_eq!(
        of(&describe(&fixture, GROUP, "h"), "share.isolation.level")
            .unwrap()
            .1,
        5
    );
    let metrics = describe(&fixture, CLIENT_METRICS, "m");
    assert_eq!(of(&metrics, "interval.ms"), Some((Some("1000"), 7)));
    assert_eq!(metrics.configs.len(), 3);
}

#[test]
fn only_keys_that_are_asked_for_are_told() {
    let fixture = cluster();
    let wanted = describe_with(&fixture, TOPIC, "t", Some(&["flush.ms", "no.such.key"]));
    assert_eq!(wanted.configs.len(), 1);
    let all = describe_with(&fixture, TOPIC, "t", Some(&[]));
    assert_eq!(
        all.configs.len(),
        describe(&fixture, TOPIC, "t").configs.len()
    );
}

#[test]
fn resources_that_cannot_be_are_refused() {
    let fixture = cluster();
    for (kind, name, expected) in [
        (TOPIC, "u", ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "", ErrorCode::INVALID_TOPIC_EXCEPTION),
        (TOPIC, "hidden", ErrorCode::TOPIC_AUTHORIZATION_FAILED),
        (GROUP, "hidden", ErrorCode::GROUP_AUTHORIZATION_FAILED),
        (NODE, "1", ErrorCode::INVALID_REQUEST),
        (NODE, "x", ErrorCode::INVALID_REQUEST),
        (LOGGER, "", ErrorCode::INVALID_REQUEST),
        (LOGGER, "1", ErrorCode::INVALID_REQUEST),
        (LOGGER, "100", ErrorCode::NONE),
        (GROUP, "", ErrorCode::INVALID_REQUEST),
        (CLIENT_METRICS, "", ErrorCode::INVALID_REQUEST),
        (99, "", ErrorCode::INVALID_REQUEST),
    ] {
        let result = describe(&fixture, kind, name);
        assert_eq!(ErrorCode(result.error_code), expected, "{kind} {name}");
        assert_eq!(result.configs, []);
    }
}
