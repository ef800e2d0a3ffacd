use bytes::Bytes;
use klamm_protocol::messages::fetch_snapshot::{
    FetchSnapshotRequest, FetchSnapshotResponse, RequestPartitionSnapshot, RequestTopicSnapshot,
    ResponsePartitionSnapshot, ResponseTopicSnapshot,
};
use klamm_protocol::{ErrorCode, LeaderEpoch, Offset};

use super::following::response;
use super::support::*;
use crate::*;

fn id(epoch: i32, offset: i64) -> OffsetAndEpoch {
    OffsetAndEpoch {
        epoch: LeaderEpoch(epoch),
        offset: Offset(offset),
    }
}

/// The leader of epoch 6 alone, with ten records of epoch 5 before its own and a snapshot of eight.
fn leader() -> World {
    let mut start = formatted([1]);
    start.log.append(LeaderEpoch(5), Offset(10));
    let mut world = World::start(settings(1), start);
    world.elected();
    world.raft.snapshot_made(id(5, 8), 1_000).unwrap();
    world
}

fn fetch_snapshot(of: OffsetAndEpoch, position: i64) -> FetchSnapshotRequest {
    let mut partition = RequestPartitionSnapshot {
        current_leader_epoch: 6,
        position,
        ..RequestPartitionSnapshot::default()
    };
    partition.snapshot_id.end_offset = of.offset.0;
    partition.snapshot_id.epoch = of.epoch.0;
    FetchSnapshotRequest {
        cluster_id: Some("a cluster".into()),
        replica_id: 5,
        max_bytes: 300,
        topics: vec![RequestTopicSnapshot {
            name: METADATA_TOPIC.into(),
            partitions: vec![partition],
            ..RequestTopicSnapshot::default()
        }],
        ..FetchSnapshotRequest::default()
    }
}

fn answer(
    world: &mut World,
    request: FetchSnapshotRequest,
) -> (FetchSnapshotResponse, Option<Read>) {
    let answer = answers(world.request(1, Request::FetchSnapshot(request))).remove(0);
    match answer.response {
        Response::FetchSnapshot(response) => (response, answer.read),
        response => panic!("{response:?}"),
    }
}

#[test]
fn a_snapshot_is_of_committed_records_and_of_their_epoch() {
    let mut world = leader();
    let end = world
        .raft
        .append(LeaderEpoch(6), batch(13, 6), world.now)
        .unwrap();
    let mut refused = |epoch, offset| world.raft.snapshot_made(id(epoch, offset), 1).unwrap_err();
    assert_eq!(refused(6, end.0), SnapshotError::NotCommitted(id(6, 14)));
    assert_eq!(refused(6, 9), SnapshotError::NoPlace(id(6, 9)));
    let unknown = SnapshotError::Unknown(id(5, 9));
    assert_eq!(world.raft.trim(id(5, 9)).unwrap_err(), unknown);
}

#[test]
fn who_needs_more_than_the_log_has_is_sent_to_the_snapshot() {
    let mut world = leader();
    let redirected = |world: &mut World, tip| {
        let (response, read) = fetch_answer(world.request(17, Request::Fetch(fetch(5, 6, tip))));
        let snapshot = &response.responses[0].partitions[0].snapshot_id;
        let is_redirected = (snapshot.epoch, snapshot.end_offset) == (5, 8);
        assert!(is_redirected != read.is_some());
        is_redirected
    };
    // Who has nothing gets there sooner with it; who has something goes on while it can.
    assert!(redirected(&mut world, (0, 0)));
    assert!(!redirected(&mut world, (5, 3)));
    world.raft.trim(id(5, 8)).unwrap();
    assert!(redirected(&mut world, (5, 3)));
    assert!(redirected(&mut world, (4, 8)));
    assert!(!redirected(&mut world, (5, 8)));
    assert!(!redirected(&mut world, (5, 10)));
}

#[test]
fn a_part_of_a_snapshot_is_answered_with_what_to_read() {
    let mut world = leader();
    let (response, read) = answer(&mut world, fetch_snapshot(id(5, 8), 400));
    let partition = &response.topics[0].partitions[0];
    assert_eq!(
        (partition.error_code, partition.size, partition.position),
        (0, 1_000, 400)
    );
    assert_eq!(
        (
            partition.snapshot_id.epoch,
            partition.snapshot_id.end_offset
        ),
        (5, 8)
    );
    assert_eq!(
        (
            partition.current_leader.leader_id,
            partition.current_leader.leader_epoch
        ),
        (1, 6)
    );
    assert_eq!(&*response.node_endpoints[0].host, "host-1");
    let expected = Read::Snapshot {
        id: id(5, 8),
        position: 400,
        max_bytes: 300,
    };
    assert_eq!(read, Some(expected));
}

#[test]
fn bad_requests_for_snapshots_get_apache_kafkas_errors() {
    let with = |change: &dyn Fn(&mut FetchSnapshotRequest)| {
        let mut request = fetch_snapshot(id(5, 8), 0);
        change(&mut request);
        request
    };
    let epoch = |epoch| {
        with(&move |r: &mut FetchSnapshotRequest| {
            r.topics[0].partitions[0].current_leader_epoch = epoch;
        })
    };
    let cases = [
        (
            with(&|r| r.cluster_id = Some("other".into())),
            ErrorCode::INCONSISTENT_CLUSTER_ID,
        ),
        (with(&|r| r.topics.clear()), ErrorCode::INVALID_REQUEST),
        (
            with(&|r| r.topics[0].name = "other".into()),
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        ),
        (epoch(5), ErrorCode::FENCED_LEADER_EPOCH),
        (epoch(7), ErrorCode::UNKNOWN_LEADER_EPOCH),
        (fetch_snapshot(id(5, 7), 0), ErrorCode::SNAPSHOT_NOT_FOUND),
        // The bootstrap snapshot is there, and not for others.
        (
            fetch_snapshot(OffsetAndEpoch::BOOTSTRAP, 0),
            ErrorCode::SNAPSHOT_NOT_FOUND,
        ),
        (
            fetch_snapshot(id(5, 8), -1),
            ErrorCode::POSITION_OUT_OF_RANGE,
        ),
        (
            fetch_snapshot(id(5, 8), 1_000),
            ErrorCode::POSITION_OUT_OF_RANGE,
        ),
    ];
    for (request, error) in cases {
        let (response, read) = answer(&mut leader(), request.clone());
        let code = match response.topics.first() {
            Some(topic) => topic.partitions[0].error_code,
            None => response.error_code,
        };
        assert_eq!((ErrorCode(code), read), (error, None), "{request:?}");
    }
}

/// A part of the snapshot of 20 records of epoch 3, from node 2, the leader of epoch 4.
fn part(error: ErrorCode, position: i64, bytes: &'static [u8]) -> Response {
    let mut partition = ResponsePartitionSnapshot {
        error_code: error.0,
        size: 10,
        position,
        unaligned_records: Bytes::from_static(bytes),
        ..ResponsePartitionSnapshot::default()
    };
    partition.snapshot_id.end_offset = 20;
    partition.snapshot_id.epoch = 3;
    partition.current_leader.leader_id = 2;
    partition.current_leader.leader_epoch = 4;
    Response::FetchSnapshot(FetchSnapshotResponse {
        topics: vec![ResponseTopicSnapshot {
            name: METADATA_TOPIC.into(),
            partitions: vec![partition],
            ..ResponseTopicSnapshot::default()
        }],
        ..FetchSnapshotResponse::default()
    })
}

/// Node 1 of three, which the leader has sent to that snapshot.
fn redirected() -> (World, RequestId) {
    let mut world = World::new([1, 2, 3]);
    world.outputs();
    let (fetch, _) = sent_fetch(&world.follow(4));
    let mut partition = klamm_protocol::messages::fetch::PartitionData::default();
    partition.snapshot_id.end_offset = 20;
    partition.snapshot_id.epoch = 3;
    let outputs = world.respond(fetch, response(4, partition));
    let (request, position) = sent_snapshot_fetch(&outputs);
    assert_eq!(position, 0);
    (world, request)
}

fn sent_snapshot_fetch(outputs: &[Output]) -> (RequestId, i64) {
    match &sends(outputs)[..] {
        [(id, Request::FetchSnapshot(request))] => {
            assert_eq!(request.max_bytes, 1 << 20);
            (*id, request.topics[0].partitions[0].position)
        }
        sent => panic!("{sent:?}"),
    }
}

#[test]
fn a_snapshot_is_fetched_part_by_part_and_takes_the_place_of_the_log() {
    let (mut world, request) = redirected();
    let outputs = world.respond(request, part(ErrorCode::NONE, 0, b"first "));
    assert!(matches!(&outputs[0], Output::WriteSnapshot(part) if part.position == 0));
    let (request, position) = sent_snapshot_fetch(&outputs);
    assert_eq!(position, 6);
    let outputs = world.respond(request, part(ErrorCode::NONE, 6, b"last"));
    assert!(
        matches!(
            outputs[..],
            [Output::WriteSnapshot(_), Output::InstallSnapshot(_)]
        ),
        "nothing else before it is in its place: {outputs:?}"
    );
    assert!(world.wait(10_000).is_empty());
    // What the snapshot says of the voters counts.
    let voters: VoterSet = [voter(1), voter(2)].into_iter().collect();
    let control = [
        (
            Offset(19),
            ControlRecord::KRaftVersion(KRaftVersion::DYNAMIC),
        ),
        (Offset(19), ControlRecord::Voters(voters)),
    ];
    world
        .raft
        .snapshot_installed(id(3, 20), 10, &control, world.now);
    assert_eq!(world.raft.voters().len(), 2);
    assert_eq!(world.raft.high_watermark(), Some(Offset(20)));
    assert_eq!(
        (world.raft.log().start(), world.raft.log().last_epoch()),
        (Offset(20), LeaderEpoch(3))
    );
}

#[test]
fn what_is_fetched_after_a_snapshot_follows_it() {
    let (mut world, request) = redirected();
    world.respond(request, part(ErrorCode::NONE, 0, b"all of it "));
    world.raft.snapshot_installed(id(3, 20), 10, &[], world.now);
    let (_, request) = sent_fetch(&world.outputs());
    let partition = &request.topics[0].partitions[0];
    assert_eq!(
        (partition.fetch_offset, partition.last_fetched_epoch),
        (20, 3)
    );
    assert_eq!(partition.high_watermark, 20);
}

#[test]
fn a_snapshot_that_is_gone_or_does_not_fit_is_given_up() {
    let (mut world, request) = redirected();
    let outputs = world.respond(request, part(ErrorCode::SNAPSHOT_NOT_FOUND, 0, b""));
    sent_fetch(&outputs);
    let unfit: [(i64, &'static [u8]); 3] = [(3, b"x"), (0, b""), (0, b"more than ten bytes")];
    for (position, bytes) in unfit {
        let (mut world, request) = redirected();
        let outputs = world.respond(request, part(ErrorCode::NONE, position, bytes));
        assert!(
            matches!(outputs[0], Output::Incident(Incident::Malformed { .. })),
            "{outputs:?}"
        );
    }
}

#[test]
fn a_node_that_starts_with_a_snapshot_knows_that_it_is_committed() {
    let mut start = formatted([1, 2, 3]);
    start.log = LogShape::new(Offset(20));
    start.log.add_snapshot(id(3, 20), 10);
    let world = World::start(settings(1), start);
    assert_eq!(world.raft.high_watermark(), Some(Offset(20)));
    assert_eq!(world.raft.epoch(), LeaderEpoch(3));
}
