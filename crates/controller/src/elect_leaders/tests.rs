use klamm_protocol::BrokerId;
use klamm_protocol::data::metadata::PartitionChangeRecord;
use klamm_protocol::messages::elect_leaders::TopicPartitions;

use super::*;
use crate::How;
use crate::testing::Fixture;

const PREFERRED: i8 = 0;
const UNCLEAN: i8 = 1;

fn request(election_type: i8, topics: Option<&[(&str, &[i32])]>) -> ElectLeadersRequest {
    let listed = topics.map(|topics| {
        let topic = |(name, partitions): &(&str, &[i32])| TopicPartitions {
            topic: (*name).into(),
            partitions: (*partitions).into(),
            ..Default::default()
        };
        topics.iter().map(topic).collect()
    });
    ElectLeadersRequest {
        election_type,
        topic_partitions: listed,
        timeout_ms: 1000,
        ..Default::default()
    }
}

fn ask(request: &ElectLeadersRequest) -> ElectLeaders<'_> {
    ElectLeaders {
        request,
        version: 2,
        authorized: true,
        arrived: Now::default(),
    }
}

fn decide(
    fixture: &Fixture,
    election_type: i8,
    topics: Option<&[(&str, &[i32])]>,
) -> Decision<ElectLeadersResponse> {
    let request = request(election_type, topics);
    ask(&request).decide(&fixture.view(), Now::default())
}

/// Topic, partition and error of each result; a topic without results has none.
fn answers(decision: &Decision<ElectLeadersResponse>) -> Vec<(String, Vec<(i32, i16)>)> {
    let results = decision.response.replica_election_results.iter();
    let of_topic = |topic: &ReplicaElectionResult| {
        let partitions = topic.partition_result.iter();
        (
            topic.topic.to_string(),
            partitions
                .map(|result| (result.partition_id, result.error_code))
                .collect(),
        )
    };
    results.map(of_topic).collect()
}

fn answer(topic: &str, partitions: &[(i32, ErrorCode)]) -> (String, Vec<(i32, i16)>) {
    let codes = partitions.iter().map(|(index, code)| (*index, code.0));
    (topic.to_owned(), codes.collect())
}

/// Moves leadership to another replica, as after a failure of the preferred one.
fn led_by(leader: i32) -> PartitionChangeRecord {
    PartitionChangeRecord {
        leader,
        ..Default::default()
    }
}

/// Nobody in sync, these eligible, these last known.
fn leaderless(elr: &[i32], last_known: &[i32]) -> PartitionChangeRecord {
    PartitionChangeRecord {
        leader: -1,
        isr: Some(Default::default()),
        eligible_leader_replicas: Some(elr.into()),
        last_known_elr: Some(last_known.into()),
        ..Default::default()
    }
}

#[test]
fn the_preferred_leader_is_elected_where_it_is_in_sync() {
    let mut fixture = Fixture::new(3);
    fixture.topic("t", &[&[1, 2, 3], &[1, 2, 3]]);
    fixture.change("t", 1, led_by(2));
    let decision = decide(&fixture, PREFERRED, Some(&[("t", &[0, 1])]));
    let expected = [(0, ErrorCode::ELECTION_NOT_NEEDED), (1, ErrorCode::NONE)];
    assert_eq!(answers(&decision), [answer("t", &expected)]);
    assert_eq!(decision.response.error_code, 0);
    let change = decision.leader_changes[0];
    assert_eq!((change.from, change.to), (BrokerId(2), BrokerId(1)));
    assert_eq!(
        (change.how, change.why),
        (How::InSync, Why::PreferredRequested)
    );
    fixture.carry_out(&decision);
    assert_eq!(fixture.partition("t", 1).leader(), BrokerId(1));
    assert_eq!(fixture.partition("t", 1).isr().len(), 3);
}

#[test]
fn a_preferred_leader_that_is_fenced_or_out_of_sync_is_not_available() {
    let mut fixture = Fixture::new(3);
    fixture.topic("t", &[&[1, 2, 3], &[2, 3]]);
    fixture.change("t", 0, led_by(2));
    let out_of_sync = PartitionChangeRecord {
        leader: 3,
        isr: Some([3][..].into()),
        ..Default::default()
    };
    fixture.change("t", 1, out_of_sync);
    fixture.fence(1, true);
    let decision = decide(&fixture, PREFERRED, Some(&[("t", &[0, 1])]));
    let unavailable = ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE;
    assert_eq!(
        answers(&decision),
        [answer("t", &[(0, unavailable), (1, unavailable)])]
    );
    assert_eq!(decision.records, []);
}

#[test]
fn a_preferred_election_may_give_a_leaderless_partition_another_leader() {
    let mut fixture = Fixture::new(3);
    fixture.topic("t", &[&[1, 2, 3], &[1]]);
    fixture.change("t", 0, leaderless(&[1, 3], &[1]));
    fixture.fence(1, true);
    let decision = decide(&fixture, PREFERRED, Some(&[("t", &[0])]));
    assert_eq!(answers(&decision), [answer("t", &[(0, ErrorCode::NONE)])]);
    assert_eq!(decision.leader_changes[0].how, How::Eligible);
    fixture.carry_out(&decision);
    let partition = fixture.partition("t", 0);
    assert_eq!(
        (partition.leader(), partition.isr().len()),
        (BrokerId(3), 1)
    );
    assert_eq!(partition.elr()[..], [BrokerId(1)]);
}

#[test]
fn the_last_known_leader_needs_no_unclean_election() {
    let mut fixture = Fixture::new(2);
    fixture.topic("t", &[&[1, 2]]);
    fixture.change("t", 0, leaderless(&[], &[2]));
    let decision = decide(&fixture, PREFERRED, Some(&[("t", &[0])]));
    assert_eq!(answers(&decision), [answer("t", &[(0, ErrorCode::NONE)])]);
    assert_eq!(decision.leader_changes[0].how, How::LastKnownLeader);
}

#[test]
fn an_unclean_election_is_for_partitions_without_a_leader() {
    let mut fixture = Fixture::new(3);
    fixture.topic("t", &[&[1, 2], &[1, 2], &[1], &[1, 2]]);
    fixture.change("t", 1, leaderless(&[1], &[1]));
    fixture.change("t", 2, leaderless(&[1], &[1]));
    fixture.change("t", 3, leaderless(&[2], &[2]));
    fixture.fence(1, true);
    let decision = decide(&fixture, UNCLEAN, Some(&[("t", &[0, 1, 2, 3])]));
    let expected = [
        (0, ErrorCode::ELECTION_NOT_NEEDED),
        (1, ErrorCode::NONE),
        (2, ErrorCode::ELIGIBLE_LEADERS_NOT_AVAILABLE),
        (3, ErrorCode::NONE),
    ];
    assert_eq!(answers(&decision), [answer("t", &expected)]);
    let how: Vec<_> = decision
        .leader_changes
        .iter()
        .map(|change| change.how)
        .collect();
    assert_eq!(how, [How::Unclean, How::Eligible]);
    assert!(
        decision
            .leader_changes
            .iter()
            .all(|change| change.why == Why::UncleanRequested)
    );
    fixture.carry_out(&decision);
    assert_eq!(fixture.partition("t", 1).leader(), BrokerId(2));
}

#[test]
fn a_null_list_stands_for_every_partition_that_needs_an_election() {
    let mut fixture = Fixture::new(3);
    fixture.topic("a", &[&[1, 2], &[2, 1]]);
    fixture.topic("b", &[&[1, 2]]);
    fixture.topic("c", &[&[3, 1], &[3, 2]]);
    fixture.change("a", 1, led_by(1));
    fixture.change("c", 1, led_by(2));
    fixture.fence(3, true);
    let decision = decide(&fixture, PREFERRED, None);
    let unavailable = ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE;
    assert_eq!(
        answers(&decision),
        [
            answer("a", &[(1, ErrorCode::NONE)]),
            answer("b", &[]),
            answer("c", &[(1, unavailable)])
        ]
    );
}

#[test]
fn empty_lists_get_empty_results() {
    let mut fixture = Fixture::new(1);
    fixture.topic("t", &[&[1]]);
    assert_eq!(answers(&decide(&fixture, PREFERRED, Some(&[]))), []);
    let named = decide(&fixture, PREFERRED, Some(&[("t", &[]), ("unknown", &[])]));
    assert_eq!(answers(&named), [answer("t", &[]), answer("unknown", &[])]);
}

#[test]
fn what_is_unknown_does_not_hold_up_the_rest() {
    let mut fixture = Fixture::new(2);
    fixture.topic("t", &[&[1, 2]]);
    fixture.change("t", 0, led_by(2));
    let listed: &[(&str, &[i32])] = &[("no", &[0]), ("t", &[7, -1, 0])];
    let decision = decide(&fixture, PREFERRED, Some(listed));
    let unknown = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    assert_eq!(
        answers(&decision),
        [
            answer("no", &[(0, unknown)]),
            answer("t", &[(7, unknown), (-1, unknown), (0, ErrorCode::NONE)]),
        ]
    );
    assert_eq!(decision.records.len(), 1);
}

#[test]
fn what_is_named_twice_is_invalid() {
    let mut fixture = Fixture::new(2);
    fixture.topic("t", &[&[1, 2]]);
    fixture.topic("u", &[&[1, 2], &[1, 2]]);
    for (topic, index) in [("t", 0), ("u", 0), ("u", 1)] {
        fixture.change(topic, index, led_by(2));
    }
    let listed: &[(&str, &[i32])] = &[("t", &[0]), ("u", &[0, 1, 0]), ("t", &[0])];
    let decision = decide(&fixture, PREFERRED, Some(listed));
    let invalid = ErrorCode::INVALID_REQUEST;
    assert_eq!(
        answers(&decision),
        [
            answer("t", &[(0, invalid)]),
            answer("u", &[(0, invalid), (1, ErrorCode::NONE)]),
            answer("t", &[(0, invalid)]),
        ]
    );
    assert_eq!(decision.records.len(), 1);
}

/// A request that is refused as a whole, in each version, with a list and without.
fn refused(change: fn(&mut ElectLeadersRequest), authorized: bool, code: ErrorCode) {
    let mut fixture = Fixture::new(2);
    fixture.topic("t", &[&[1, 2]]);
    fixture.change("t", 0, led_by(2));
    for version in 0..=2 {
        for list in [Some(&[("t", &[0][..]), ("no", &[1, 1][..])][..]), None] {
            let mut request = request(PREFERRED, list);
            change(&mut request);
            let asked = ElectLeaders {
                version,
                authorized,
                ..ask(&request)
            };
            let decision = asked.decide(&fixture.view(), Now::default());
            let top_level = if version == 0 { 0 } else { code.0 };
            assert_eq!(decision.response.error_code, top_level);
            let expected = match list {
                Some(_) => vec![
                    answer("t", &[(0, code)]),
                    answer("no", &[(1, code), (1, code)]),
                ],
                None => vec![],
            };
            assert_eq!(answers(&decision), expected, "version {version}");
            assert_eq!(decision.records, []);
            klamm_protocol::encode(&decision.response, version).unwrap();
        }
    }
}

#[test]
fn who_may_not_alter_the_cluster_is_refused_before_anything_else() {
    let everything_wrong = |request: &mut ElectLeadersRequest| {
        request.election_type = 9;
        request.timeout_ms = -1;
    };
    refused(
        everything_wrong,
        false,
        ErrorCode::CLUSTER_AUTHORIZATION_FAILED,
    );
}

#[test]
fn a_deadline_that_has_passed_is_a_time_out() {
    refused(
        |request| request.timeout_ms = 0,
        true,
        ErrorCode::REQUEST_TIMED_OUT,
    );
    refused(
        |request| request.timeout_ms = i32::MIN,
        true,
        ErrorCode::REQUEST_TIMED_OUT,
    );
    let fixture = Fixture::new(1);
    let request = request(PREFERRED, None);
    let at = |ms| ask(&request).decide(&fixture.view(), Now(Duration::from_millis(ms)));
    assert_eq!(at(999).response.error_code, 0);
    assert_eq!(at(1000).response.error_code, ErrorCode::REQUEST_TIMED_OUT.0);
}

#[test]
fn an_unknown_election_type_is_invalid() {
    let fixture = Fixture::new(1);
    for election_type in [-1, 2, 127] {
        let decision = decide(&fixture, election_type, Some(&[("t", &[0])]));
        assert_eq!(decision.response.error_code, ErrorCode::INVALID_REQUEST.0);
        assert_eq!(
            answers(&decision),
            [answer("t", &[(0, ErrorCode::INVALID_REQUEST)])]
        );
    }
    // Version 0 has no election type.
    let request = request(9, Some(&[]));
    let asked = ElectLeaders {
        version: 0,
        ..ask(&request)
    };
    assert_eq!(
        asked.decide(&fixture.view(), Now::default()).response,
        Default::default()
    );
}

#[test]
fn there_is_no_limit_of_ten_thousand() {
    let mut fixture = Fixture::new(2);
    let assignment: Vec<&[i32]> = vec![&[1, 2]; 10_001];
    fixture.topic("t", &assignment);
    for index in 0..10_001 {
        fixture.change("t", index, led_by(2));
    }
    let decision = decide(&fixture, PREFERRED, None);
    assert_eq!(decision.records.len(), 10_001);
    fixture.carry_out(&decision);
    assert_eq!(decide(&fixture, PREFERRED, None).records.len(), 0);
}
