use klamm_protocol::messages::create_partitions::CreatePartitionsAssignment;

use super::*;
use crate::testing::Fixture;

fn topic(name: &str, count: i32, assignments: Option<&[&[i32]]>) -> CreatePartitionsTopic {
    let assignment = |brokers: &&[i32]| CreatePartitionsAssignment {
        broker_ids: (*brokers).into(),
        ..Default::default()
    };
    CreatePartitionsTopic {
        name: name.into(),
        count,
        assignments: assignments.map(|all| all.iter().map(assignment).collect()),
        ..Default::default()
    }
}

fn decide(
    fixture: &Fixture,
    topics: Vec<CreatePartitionsTopic>,
    validate_only: bool,
) -> Decision<CreatePartitionsResponse> {
    let request = CreatePartitionsRequest {
        topics,
        validate_only,
        ..Default::default()
    };
    let asked = CreatePartitions {
        request: &request,
        may_alter: &|name| name != "secret",
    };
    asked.decide(&fixture.view(), |_| 0)
}

fn codes(decision: &Decision<CreatePartitionsResponse>) -> Vec<(String, i16)> {
    let results = decision.response.results.iter();
    results
        .map(|result| (result.name.to_string(), result.error_code))
        .collect()
}

fn cluster() -> Fixture {
    let mut fixture = Fixture::new(3);
    fixture.topic("t", &[&[1, 2]]);
    fixture
}

#[test]
fn partitions_are_added_with_as_many_replicas() {
    for assignments in [None, Some(&[&[2, 3][..], &[3, 1][..]][..])] {
        let mut fixture = cluster();
        let decision = decide(&fixture, vec![topic("t", 3, assignments)], false);
        assert_eq!(codes(&decision), [("t".to_owned(), 0)]);
        assert!(decision.atomic);
        fixture.carry_out(&decision);
        let made = fixture.image.topics().by_name("t").unwrap();
        assert_eq!(made.partition_count(), 3);
        for (_, partition) in made.partitions() {
            assert_eq!(partition.replicas().len(), 2);
            assert_eq!(partition.isr(), partition.replicas());
            assert_eq!(partition.leader(), partition.replicas()[0]);
        }
        if assignments.is_some() {
            assert_eq!(fixture.partition("t", 2).replicas().to_wire()[..], [3, 1]);
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let mut fixture = cluster();
    fixture.fence(3, true);
    let code = |topic: CreatePartitionsTopic| {
        let decision = decide(&fixture, vec![topic], false);
        assert_eq!(decision.records, []);
        ErrorCode(decision.response.results[0].error_code)
    };
    for count in [1, 0, -1, i32::MIN] {
        assert_eq!(code(topic("t", count, None)), ErrorCode::INVALID_PARTITIONS);
    }
    assert_eq!(
        code(topic("no", 2, None)),
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
    );
    assert_eq!(
        code(topic("secret", 2, None)),
        ErrorCode::TOPIC_AUTHORIZATION_FAILED
    );
    assert_eq!(
        code(topic("t", i32::MAX, None)),
        ErrorCode::POLICY_VIOLATION
    );
    let invalid = ErrorCode::INVALID_REPLICA_ASSIGNMENT;
    let assignments: [&[&[i32]]; 6] = [
        &[],
        &[&[1, 2], &[1, 2]],
        &[&[1]],
        &[&[1, 9]],
        &[&[1, 1]],
        &[&[3, 9]],
    ];
    for assignment in assignments {
        assert_eq!(
            code(topic("t", 2, Some(assignment))),
            invalid,
            "{assignment:?}"
        );
    }
    let mut stopped = fixture.clone();
    stopped.fence(1, true);
    stopped.fence(2, true);
    let none_active = decide(&stopped, vec![topic("t", 2, Some(&[&[1, 2]]))], false);
    assert_eq!(none_active.response.results[0].error_code, invalid.0);
    let none_to_place = decide(&stopped, vec![topic("t", 2, None)], false);
    let factor = ErrorCode::INVALID_REPLICATION_FACTOR.0;
    assert_eq!(none_to_place.response.results[0].error_code, factor);
}

#[test]
fn a_name_that_is_there_twice_is_refused_once() {
    let mut fixture = cluster();
    fixture.topic("u", &[&[1]]);
    let topics = vec![
        topic("t", 2, None),
        topic("u", 2, None),
        topic("t", 3, None),
    ];
    let decision = decide(&fixture, topics, false);
    let invalid = ErrorCode::INVALID_REQUEST.0;
    assert_eq!(
        codes(&decision),
        [("t".to_owned(), invalid), ("u".to_owned(), 0)]
    );
    assert_eq!(decision.records.len(), 1);
}

#[test]
fn a_request_to_validate_changes_nothing() {
    let decision = decide(&cluster(), vec![topic("t", 2, None)], true);
    assert_eq!(codes(&decision), [("t".to_owned(), 0)]);
    assert_eq!(decision.records, []);
}
