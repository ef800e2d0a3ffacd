//! What a leader answers.

use klamm_protocol::messages::describe_quorum::{self, DescribeQuorumRequest};
use klamm_protocol::messages::fetch::FetchRequest;
use klamm_protocol::{ErrorCode, LeaderEpoch, Offset};

use super::support::*;
use crate::*;

/// A leader of epoch 1 alone, with three records that are committed.
fn leader() -> World {
    let mut world = World::new([1]);
    world.elected();
    assert_eq!(world.raft.high_watermark(), Some(Offset(3)));
    world
}

fn fetched(world: &mut World, request: FetchRequest) -> (ErrorCode, Option<Read>) {
    let (response, read) = fetch_answer(world.request(17, Request::Fetch(request)));
    let code = match response.responses.first() {
        Some(topic) => topic.partitions[0].error_code,
        None => response.error_code,
    };
    (ErrorCode(code), read)
}

#[test]
fn a_fetch_gets_the_records_after_its_offset() {
    let mut world = leader();
    let read = |from| {
        Some(Read::Log {
            from: Offset(from),
            max_bytes: 8 << 20,
        })
    };
    assert_eq!(
        fetched(&mut world, fetch(5, 1, (0, 0))),
        (ErrorCode::NONE, read(0))
    );
    assert_eq!(
        fetched(&mut world, fetch(5, 1, (1, 2))),
        (ErrorCode::NONE, read(2))
    );
}

#[test]
fn a_fetch_names_the_leader_at_the_listener_that_was_asked() {
    let mut settings = settings(1);
    let other = Endpoint {
        host: "outside".into(),
        port: 19093,
    };
    settings.endpoints = [
        (LISTENER.to_owned(), endpoint(1)),
        ("Other".to_owned(), other),
    ]
    .into_iter()
    .collect();
    let mut world = World::start(settings, formatted([1]));
    world.elected();
    for (listener, version, host) in [
        (LISTENER, 17, Some("host-1")),
        ("OTHER", 18, Some("outside")),
        ("OTHER", 16, None),
        ("UNHEARD_OF", 17, None),
    ] {
        let request = Request::Fetch(fetch(5, 1, (0, 0)));
        let (response, _) = fetch_answer(world.request_at(listener, version, request));
        let hosts: Vec<&str> = response
            .node_endpoints
            .iter()
            .map(|node| &*node.host)
            .collect();
        assert_eq!(hosts, Vec::from_iter(host), "{listener} {version}");
        let leader = &response.responses[0].partitions[0].current_leader;
        assert_eq!((leader.leader_id, leader.leader_epoch), (1, 1));
    }
}

#[test]
fn bad_fetches_get_apache_kafkas_errors() {
    let with = |change: &dyn Fn(&mut FetchRequest)| {
        let mut request = fetch(5, 1, (1, 3));
        change(&mut request);
        request
    };
    let cases = [
        (
            with(&|r| r.cluster_id = Some("other".into())),
            ErrorCode::INCONSISTENT_CLUSTER_ID,
        ),
        (with(&|r| r.topics.clear()), ErrorCode::INVALID_REQUEST),
        (
            with(&|r| r.topics[0].topic_id = directory(1)),
            ErrorCode::INVALID_REQUEST,
        ),
        (
            with(&|r| r.topics[0].partitions[0].partition = 1),
            ErrorCode::INVALID_REQUEST,
        ),
        (with(&|r| r.max_wait_ms = -1), ErrorCode::INVALID_REQUEST),
        (fetch(5, 1, (1, -1)), ErrorCode::INVALID_REQUEST),
        (fetch(5, 1, (-1, 1)), ErrorCode::INVALID_REQUEST),
        (fetch(5, 1, (2, 1)), ErrorCode::INVALID_REQUEST),
        (fetch(5, 0, (0, 0)), ErrorCode::FENCED_LEADER_EPOCH),
        (fetch(5, 2, (1, 3)), ErrorCode::UNKNOWN_LEADER_EPOCH),
        (fetch(1, 1, (1, 3)), ErrorCode::UNKNOWN_SERVER_ERROR),
    ];
    let mut world = leader();
    for (request, error) in cases {
        assert_eq!(
            fetched(&mut world, request.clone()),
            (error, None),
            "{request:?}"
        );
    }
    let mut follower = World::new([1, 2, 3]);
    follower.follow(4);
    let refused = fetched(&mut follower, fetch(5, 4, (0, 0)));
    assert_eq!(refused, (ErrorCode::NOT_LEADER_OR_FOLLOWER, None));
}

#[test]
fn a_replica_with_other_records_is_told_where_to_cut() {
    let mut start = formatted([1]);
    start.log.append(LeaderEpoch(2), Offset(10));
    let mut world = World::start(settings(1), start);
    world.elected();
    for (tip, cut) in [((1, 4), (0, 0)), ((2, 12), (2, 10)), ((3, 99), (3, 13))] {
        let request = Request::Fetch(fetch(5, 3, tip));
        let (response, read) = fetch_answer(world.request(17, request));
        let diverging = &response.responses[0].partitions[0].diverging_epoch;
        assert_eq!((diverging.epoch, diverging.end_offset), cut);
        assert_eq!(read, None);
    }
}

#[test]
fn a_fetch_with_nothing_to_bring_waits_for_records() {
    let mut world = leader();
    assert!(answers(world.request(17, Request::Fetch(fetch(5, 1, (1, 3))))).is_empty());
    world
        .raft
        .append(LeaderEpoch(1), batch(3, 1), world.now)
        .unwrap();
    let outputs = world.outputs();
    // The records are in the log before they are read.
    assert!(
        matches!(outputs[..], [Output::Append(_), Output::Answer(_)]),
        "{outputs:?}"
    );
    let (response, read) = fetch_answer(outputs);
    assert!(matches!(
        read,
        Some(Read::Log {
            from: Offset(3),
            ..
        })
    ));
    assert_eq!(response.responses[0].partitions[0].high_watermark, 3);
}

#[test]
fn a_fetch_that_waits_in_vain_is_answered_in_time() {
    let mut world = leader();
    assert!(answers(world.request(17, Request::Fetch(fetch(5, 1, (1, 3))))).is_empty());
    assert!(answers(world.wait(499)).is_empty());
    let (response, read) = fetch_answer(world.wait(1));
    assert_eq!(response.responses[0].partitions[0].error_code, 0);
    assert_eq!(read, None);
    let mut impatient = fetch(5, 1, (1, 3));
    impatient.max_wait_ms = 0;
    assert_eq!(fetched(&mut world, impatient), (ErrorCode::NONE, None));
}

/// KIP-1166: a replica that does not know what is committed does not wait to hear it.
#[test]
fn a_fetch_with_an_older_high_watermark_does_not_wait() {
    let knows = |high_watermark| {
        let mut request = fetch(5, 1, (1, 4));
        request.topics[0].partitions[0].high_watermark = high_watermark;
        Request::Fetch(request)
    };
    let mut world = leader();
    world
        .raft
        .append(LeaderEpoch(1), batch(3, 1), world.now)
        .unwrap();
    let appended = world.outputs();
    let (response, _) = fetch_answer(world.request(18, knows(2)));
    assert_eq!(response.responses[0].partitions[0].high_watermark, 3);
    assert!(answers(world.request(18, knows(3))).is_empty());
    // An earlier version cannot say what it knows, and waits for records.
    assert!(answers(world.request(17, Request::Fetch(fetch(6, 1, (1, 4))))).is_empty());
    let (response, _) = fetch_answer(world.flush(&appended));
    assert_eq!(response.responses[0].partitions[0].high_watermark, 4);
}

fn describe(topic: &str) -> Request {
    Request::DescribeQuorum(DescribeQuorumRequest {
        topics: vec![describe_quorum::RequestTopicData {
            topic_name: topic.into(),
            partitions: vec![describe_quorum::RequestPartitionData::default()],
            ..describe_quorum::RequestTopicData::default()
        }],
        ..DescribeQuorumRequest::default()
    })
}

fn described(
    world: &mut World,
    version: i16,
    topic: &str,
) -> describe_quorum::DescribeQuorumResponse {
    match answers(world.request(version, describe(topic)))
        .remove(0)
        .response
    {
        Response::DescribeQuorum(response) => {
            klamm_protocol::encode(&response, version).expect("it fits the version");
            response
        }
        response => panic!("{response:?}"),
    }
}

#[test]
fn the_quorum_is_described_with_who_has_caught_up_when() {
    let mut world = leader();
    let start = world.now.timestamp_ms;
    world.request(17, Request::Fetch(fetch(5, 1, (0, 0))));
    world.wait(100);
    // It has what the leader had at its last Fetch: it was caught up then.
    world
        .raft
        .append(LeaderEpoch(1), batch(3, 1), world.now)
        .unwrap();
    world.request(17, Request::Fetch(fetch(5, 1, (1, 3))));
    let response = described(&mut world, 2, METADATA_TOPIC);
    let partition = &response.topics[0].partitions[0];
    assert_eq!((partition.leader_id, partition.leader_epoch), (1, 1));
    assert_eq!(partition.high_watermark, 3);
    let voter = &partition.current_voters[0];
    assert_eq!(
        (voter.replica_id, voter.replica_directory_id),
        (1, directory(1))
    );
    assert_eq!(voter.last_fetch_timestamp, start + 100);
    let observer = &partition.observers[0];
    assert_eq!((observer.replica_id, observer.log_end_offset), (5, 3));
    assert_eq!(observer.last_fetch_timestamp, start + 100);
    assert_eq!(observer.last_caught_up_timestamp, start);
    assert_eq!(&*response.nodes[0].listeners[0].host, "host-1");
    for version in [0, 1] {
        described(&mut world, version, METADATA_TOPIC);
    }
    // Who has not fetched for five minutes is forgotten.
    assert_eq!(world.raft.observer_count(world.now), 1);
    world.wait(300_000);
    assert_eq!(world.raft.observer_count(world.now), 0);
    let response = described(&mut world, 2, METADATA_TOPIC);
    assert!(response.topics[0].partitions[0].observers.is_empty());
}

#[test]
fn only_the_leader_describes_the_quorum_and_no_other_topic() {
    let code = |response: describe_quorum::DescribeQuorumResponse| {
        ErrorCode(response.topics[0].partitions[0].error_code)
    };
    let mut world = leader();
    let other = described(&mut world, 1, "other");
    assert_eq!(code(other), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    let mut follower = World::new([1, 2, 3]);
    follower.follow(4);
    let refused = described(&mut follower, 2, METADATA_TOPIC);
    assert_eq!(code(refused), ErrorCode::NOT_LEADER_OR_FOLLOWER);
}

#[test]
fn a_majority_commits_and_no_less() {
    let mut world = World::new([1, 2, 3]);
    world.elected();
    assert_eq!(world.raft.high_watermark(), None);
    let epoch = world.raft.epoch();
    // An observer, and a voter's id with another directory, do not count.
    world.request(17, Request::Fetch(fetch(9, epoch.0, (epoch.0, 3))));
    let mut stranger = fetch(2, epoch.0, (epoch.0, 3));
    stranger.topics[0].partitions[0].replica_directory_id = directory(9);
    world.request(17, Request::Fetch(stranger));
    assert_eq!(world.raft.high_watermark(), None);
    world.request(17, Request::Fetch(fetch(3, epoch.0, (epoch.0, 3))));
    assert_eq!(world.raft.high_watermark(), Some(Offset(3)));
}

#[test]
fn a_leader_without_a_majority_resigns_and_tells_the_others_whom_to_elect() {
    let mut world = World::new([1, 2, 3]);
    world.elected();
    let epoch = world.raft.epoch();
    world.request(17, Request::Fetch(fetch(3, epoch.0, (epoch.0, 2))));
    // One of two other voters is a majority together with the leader.
    world.wait(2_999);
    assert!(world.raft.is_leader());
    let parked = answers(world.request(17, Request::Fetch(fetch(2, epoch.0, (epoch.0, 3)))));
    assert!(parked.is_empty());
    assert!(
        world
            .wait(2_999)
            .iter()
            .all(|output| !matches!(output, Output::Incident(_)))
    );
    let outputs = world.wait(2);
    assert!(!world.raft.is_leader());
    assert!(outputs.iter().any(|output| matches!(
        output,
        Output::Incident(Incident::QuorumLost { epoch: lost }) if *lost == epoch
    )));
    let successors: Vec<Vec<i32>> = sends(&outputs)
        .into_iter()
        .map(|(_, request)| match request {
            Request::EndQuorumEpoch(request) => {
                let keys = &request.topics[0].partitions[0].preferred_candidates;
                keys.iter().map(|key| key.candidate_id).collect()
            }
            request => panic!("{request:?}"),
        })
        .collect();
    assert_eq!(
        successors,
        [[2, 3], [2, 3]],
        "the one with more records first"
    );
}
