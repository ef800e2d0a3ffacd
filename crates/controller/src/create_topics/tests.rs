use klamm_protocol::BrokerId;
use klamm_protocol::messages::create_topics::{CreatableReplicaAssignment, CreatableTopicConfig};

use super::*;
use crate::testing::Fixture;

fn topic(name: &str, num_partitions: i32, replication_factor: i16) -> CreatableTopic {
    CreatableTopic {
        name: name.into(),
        num_partitions,
        replication_factor,
        ..Default::default()
    }
}

fn assigned(name: &str, assignment: &[(i32, &[i32])]) -> CreatableTopic {
    let assignments = assignment
        .iter()
        .map(|(index, brokers)| CreatableReplicaAssignment {
            partition_index: *index,
            broker_ids: (*brokers).into(),
            ..Default::default()
        });
    CreatableTopic {
        assignments: assignments.collect(),
        ..topic(name, -1, -1)
    }
}

fn with_config(topic: CreatableTopic, name: &str, value: Option<&str>) -> CreatableTopic {
    let config = CreatableTopicConfig {
        name: name.into(),
        value: value.map(Into::into),
        ..Default::default()
    };
    CreatableTopic {
        configs: vec![config],
        ..topic
    }
}

fn decide_for(
    fixture: &Fixture,
    request: &CreateTopicsRequest,
    may_create: &dyn Fn(&str) -> bool,
) -> Decision<CreateTopicsResponse> {
    let mut next = 0;
    let ids = || {
        next += 1;
        Uuid::from_bytes([0xc0 + next; 16])
    };
    let asked = CreateTopics {
        request,
        may_create,
        may_describe_configs: &|name| name != "hidden",
    };
    asked.decide(&fixture.view(), ids, |_| 0)
}

fn decide(fixture: &Fixture, topics: Vec<CreatableTopic>) -> Decision<CreateTopicsResponse> {
    let request = CreateTopicsRequest {
        topics,
        ..Default::default()
    };
    decide_for(fixture, &request, &|_| true)
}

fn codes(decision: &Decision<CreateTopicsResponse>) -> Vec<(String, i16)> {
    let results = decision.response.topics.iter();
    results
        .map(|result| (result.name.to_string(), result.error_code))
        .collect()
}

/// The code of the only topic.
fn code(fixture: &Fixture, topic: CreatableTopic) -> ErrorCode {
    let decision = decide(fixture, vec![topic]);
    let code = ErrorCode(decision.response.topics[0].error_code);
    assert_eq!(decision.records.is_empty(), code != ErrorCode::NONE);
    code
}

#[test]
fn a_topic_is_placed_and_led() {
    let mut fixture = Fixture::new(3);
    fixture.fence(3, true);
    let decision = decide(&fixture, vec![topic("t", 2, 3)]);
    let result = &decision.response.topics[0];
    assert_eq!((result.num_partitions, result.replication_factor), (2, 3));
    assert!(decision.atomic);
    for record in &decision.records {
        fixture.apply(record.clone());
    }
    let made = fixture.image.topics().by_name("t").unwrap();
    assert_eq!(made.id(), result.topic_id);
    for (_, partition) in made.partitions() {
        // The fenced broker is a replica, and neither the leader nor in sync.
        assert_eq!(partition.replicas()[2], BrokerId(3));
        assert_eq!(partition.isr()[..], partition.replicas()[..2]);
        assert_eq!(partition.leader(), partition.replicas()[0]);
        assert_eq!(
            partition.directory(BrokerId(1)),
            Some(Uuid::from_bytes([0x71; 16]))
        );
    }
}

#[test]
fn what_is_not_said_comes_from_the_configuration() {
    let mut fixture = Fixture::new(3);
    fixture.config.num_partitions = 4;
    fixture.config.default_replication_factor = 2;
    let decision = decide(&fixture, vec![topic("t", -1, -1)]);
    let result = &decision.response.topics[0];
    assert_eq!((result.num_partitions, result.replication_factor), (4, 2));
    fixture.config.num_partitions = 0;
    assert_eq!(
        code(&fixture, topic("u", -1, 1)),
        ErrorCode::INVALID_PARTITIONS
    );
}

#[test]
fn an_assignment_is_taken_as_it_is() {
    let mut fixture = Fixture::new(3);
    fixture.fence(2, true);
    let decision = decide(&fixture, vec![assigned("t", &[(1, &[3, 1]), (0, &[2, 3])])]);
    assert_eq!(codes(&decision), [("t".to_owned(), 0)]);
    for record in &decision.records {
        fixture.apply(record.clone());
    }
    let made = fixture.image.topics().by_name("t").unwrap();
    let leaders: Vec<_> = made
        .partitions()
        .map(|(_, partition)| partition.leader().0)
        .collect();
    assert_eq!(leaders, [3, 3]);
}

#[test]
fn an_assignment_that_cannot_be_is_refused() {
    let mut fixture = Fixture::new(3);
    fixture.fence(3, true);
    let invalid = ErrorCode::INVALID_REPLICA_ASSIGNMENT;
    let refused = |assignment: &[(i32, &[i32])]| {
        assert_eq!(
            code(&fixture, assigned("t", assignment)),
            invalid,
            "{assignment:?}"
        );
    };
    refused(&[(0, &[])]);
    refused(&[(0, &[9])]);
    refused(&[(0, &[1, 1])]);
    refused(&[(0, &[1]), (0, &[2])]);
    refused(&[(0, &[1]), (2, &[2])]);
    refused(&[(-1, &[1]), (0, &[2])]);
    refused(&[(0, &[1]), (1, &[2, 1])]);
    refused(&[(0, &[3])]);
    for (partitions, factor) in [(2, -1), (-1, 1)] {
        let both = CreatableTopic {
            num_partitions: partitions,
            replication_factor: factor,
            ..assigned("t", &[(0, &[1])])
        };
        assert_eq!(code(&fixture, both), ErrorCode::INVALID_REQUEST);
    }
}

#[test]
fn cordoned_brokers_get_no_replicas() {
    let mut fixture = Fixture::new(2);
    let broker = klamm_protocol::data::metadata::BrokerRegistrationChangeRecord {
        broker_id: 1,
        broker_epoch: 1,
        cordoned_log_dirs: Some(vec![Uuid::from_bytes([0x71; 16])]),
        ..Default::default()
    };
    fixture.apply(broker);
    assert_eq!(
        code(&fixture, topic("t", 1, 2)),
        ErrorCode::INVALID_REPLICATION_FACTOR
    );
    assert_eq!(code(&fixture, topic("t", 4, 1)), ErrorCode::NONE);
    let chosen = assigned("t", &[(0, &[1])]);
    assert_eq!(
        code(&fixture, chosen),
        ErrorCode::INVALID_REPLICA_ASSIGNMENT
    );
}

#[test]
fn brokers_that_stop_get_no_replicas_until_they_have() {
    let mut fixture = Fixture::new(2);
    fixture.apply(
        klamm_protocol::data::metadata::BrokerRegistrationChangeRecord {
            broker_id: 1,
            broker_epoch: 1,
            in_controlled_shutdown: 1,
            ..Default::default()
        },
    );
    let both = || topic("t", 1, 2);
    assert_eq!(
        code(&fixture, both()),
        ErrorCode::INVALID_REPLICATION_FACTOR
    );
    fixture.fence(1, true);
    assert_eq!(code(&fixture, both()), ErrorCode::NONE);
}

#[test]
fn sizes_that_cannot_be_are_refused() {
    let fixture = Fixture::new(2);
    let factor = ErrorCode::INVALID_REPLICATION_FACTOR;
    for wrong in [topic("t", 1, 0), topic("t", 1, -2), topic("t", 1, 3)] {
        assert_eq!(code(&fixture, wrong), factor);
    }
    for wrong in [0, -2, i32::MIN] {
        assert_eq!(
            code(&fixture, topic("t", wrong, 1)),
            ErrorCode::INVALID_PARTITIONS
        );
    }
    assert_eq!(
        code(&fixture, topic("t", i32::MAX, 1)),
        ErrorCode::POLICY_VIOLATION
    );
    assert_eq!(code(&fixture, topic("t", 50_000, 1)), ErrorCode::NONE);
    let mut old = Fixture::new(2);
    old.feature("metadata.version", 12);
    assert_eq!(
        code(&old, topic("t", 50_000, 1)),
        ErrorCode::POLICY_VIOLATION
    );
    let nobody = Fixture::new(0);
    assert_eq!(code(&nobody, topic("t", 1, 1)), factor);
}

#[test]
fn names_are_checked() {
    let mut fixture = Fixture::new(1);
    fixture.topic("a.b", &[&[1]]);
    let invalid = ErrorCode::INVALID_TOPIC_EXCEPTION;
    for name in ["", ".", "..", "a b", "é", "a/b", "a_b", &"x".repeat(250)] {
        assert_eq!(code(&fixture, topic(name, 1, 1)), invalid, "{name}");
    }
    assert_eq!(
        code(&fixture, topic(&"x".repeat(249), 1, 1)),
        ErrorCode::NONE
    );
    assert_eq!(
        code(&fixture, topic("a.b", 1, 1)),
        ErrorCode::TOPIC_ALREADY_EXISTS
    );
    assert_eq!(code(&fixture, topic("a-b", 1, 1)), ErrorCode::NONE);
    let metadata = topic("__cluster_metadata", 1, 1);
    assert_eq!(code(&fixture, metadata), ErrorCode::INVALID_REQUEST);
    // Two of one request collide as well; the first is made.
    let decision = decide(&fixture, vec![topic("c.d", 1, 1), topic("c_d", 1, 1)]);
    assert_eq!(
        codes(&decision),
        [("c.d".to_owned(), 0), ("c_d".to_owned(), invalid.0)]
    );
}

#[test]
fn a_topic_that_fails_does_not_hold_up_the_others() {
    let fixture = Fixture::new(1);
    let topics = vec![
        topic("t", 1, 9),
        topic("u", 1, 1),
        topic("v", 1, 1),
        topic("v", 2, 1),
    ];
    let request = CreateTopicsRequest {
        topics,
        ..Default::default()
    };
    let decision = decide_for(&fixture, &request, &|name| name != "u");
    let expected = [
        ("t", ErrorCode::INVALID_REPLICATION_FACTOR),
        ("u", ErrorCode::TOPIC_AUTHORIZATION_FAILED),
        ("v", ErrorCode::INVALID_REQUEST),
    ];
    let expected = expected.map(|(name, code)| (name.to_owned(), code.0));
    assert_eq!(codes(&decision), expected);
    assert_eq!(decision.records, []);
}

#[test]
fn configs_are_checked_and_stored_between_topic_and_partitions() {
    let fixture = Fixture::new(1);
    let kinds = |decision: &Decision<CreateTopicsResponse>| {
        let kinds = decision.records.iter().map(|record| record.kind().1);
        kinds.collect::<Vec<_>>()
    };
    let good = with_config(topic("t", 1, 1), "retention.ms", Some("7"));
    let decision = decide(&fixture, vec![good]);
    let made = ["TopicRecord", "ConfigRecord", "PartitionRecord"];
    assert_eq!(kinds(&decision), made);
    let refused = [
        ("retention.ms", Some("x")),
        ("retention.ms", Some("-2")),
        ("retention.ms", None),
        ("no.such.key", Some("7")),
        ("min.compaction.lag.ms", Some("9223372036854775808")),
    ];
    for (key, value) in refused {
        let wrong = with_config(topic("t", 1, 1), key, value);
        assert_eq!(code(&fixture, wrong), ErrorCode::INVALID_CONFIG, "{key}");
    }
    // As in Apache Kafka, the new topic's partitions are told to forget what they never had.
    let min_isr = with_config(topic("t", 1, 1), "min.insync.replicas", Some("2"));
    let mut fixture = fixture;
    let decision = decide(&fixture, vec![min_isr]);
    let made = [
        "TopicRecord",
        "ConfigRecord",
        "ClearElrRecord",
        "PartitionRecord",
    ];
    assert_eq!(kinds(&decision), made);
    fixture.carry_out(&decision);
}

#[test]
fn a_new_topic_is_described_with_what_it_inherits() {
    let mut fixture = Fixture::new(1);
    let file = [
        ("log.retention.hours", "2"),
        ("log.segment.bytes", "2000000"),
    ];
    let file = file.map(|(key, value)| (key.to_owned(), value.to_owned()));
    fixture.config.properties = file.into();
    fixture.config(4, "", "log.segment.bytes", "3000000");
    fixture.config(4, "100", "compression.type", "zstd");
    fixture.config(4, "1", "message.max.bytes", "1");
    let asked = with_config(topic("t", 1, 1), "flush.ms", Some(" 7"));
    let decision = decide(&fixture, vec![asked]);
    let described = decision.response.topics[0].configs.as_ref().unwrap();
    assert!(described.is_sorted_by_key(|config| config.name.to_string()));
    let of = |name: &str| {
        let mut configs = described.iter();
        let config = configs.find(|config| *config.name == *name);
        config.map(|config| (config.value.as_deref().unwrap(), config.config_source))
    };
    assert_eq!(of("flush.ms"), Some((" 7", 1)));
    assert_eq!(of("compression.type"), Some(("zstd", 2)));
    assert_eq!(of("segment.bytes"), Some(("3000000", 3)));
    assert_eq!(of("retention.ms"), Some(("7200000", 4)));
    assert_eq!(of("max.message.bytes"), Some(("1048588", 5)));
    assert_eq!(of("leader.replication.throttled.replicas"), Some(("", 5)));
    assert_eq!(of("internal.segment.bytes"), None);
    let hidden = with_config(topic("hidden", 1, 1), "retention.ms", Some("7"));
    let result = &decide(&fixture, vec![hidden]).response.topics[0];
    assert_eq!(
        result.topic_config_error_code,
        ErrorCode::TOPIC_AUTHORIZATION_FAILED.0
    );
    assert_eq!((result.num_partitions, result.error_code), (-1, 0));
}

#[test]
fn a_request_to_validate_changes_nothing() {
    let fixture = Fixture::new(1);
    let request = CreateTopicsRequest {
        topics: vec![topic("t", 1, 1), topic("u", 1, 9)],
        validate_only: true,
        ..Default::default()
    };
    let decision = decide_for(&fixture, &request, &|_| true);
    let factor = ErrorCode::INVALID_REPLICATION_FACTOR.0;
    assert_eq!(
        codes(&decision),
        [("t".to_owned(), 0), ("u".to_owned(), factor)]
    );
    assert_eq!(decision.records, []);
}
