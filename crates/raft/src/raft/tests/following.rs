use bytes::{Bytes, BytesMut};
use klamm_protocol::messages::end_quorum_epoch::{
    EndQuorumEpochRequest, ReplicaInfo, RequestPartitionData, RequestTopicData,
};
use klamm_protocol::messages::fetch::{FetchResponse, FetchableTopicResponse, PartitionData};
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, Offset};

use super::support::*;
use crate::*;

pub(super) fn response(epoch: i32, partition: PartitionData) -> Response {
    let mut partition = partition;
    partition.current_leader.leader_id = 2;
    partition.current_leader.leader_epoch = epoch;
    Response::Fetch(FetchResponse {
        responses: vec![FetchableTopicResponse {
            topic_id: METADATA_TOPIC_ID,
            partitions: vec![partition],
            ..FetchableTopicResponse::default()
        }],
        ..FetchResponse::default()
    })
}

/// Records from node 2, the leader of an epoch.
pub(super) fn records(epoch: i32, records: Bytes, high_watermark: i64) -> Response {
    let partition = PartitionData {
        high_watermark,
        records: Some(records),
        ..PartitionData::default()
    };
    response(epoch, partition)
}

fn diverging(epoch: i32, at: (i32, i64)) -> Response {
    let mut partition = PartitionData::default();
    partition.diverging_epoch.epoch = at.0;
    partition.diverging_epoch.end_offset = at.1;
    response(epoch, partition)
}

/// Node 1 of three follows node 2 in epoch 4. Its log has ten records of epoch 3, and its Fetch is
/// out.
fn follower() -> (World, RequestId) {
    let mut start = formatted([1, 2, 3]);
    start.log.append(LeaderEpoch(3), Offset(10));
    let mut world = World::start(settings(1), start);
    world.outputs();
    let (id, request) = sent_fetch(&world.follow(4));
    let partition = &request.topics[0].partitions[0];
    assert_eq!(
        (partition.fetch_offset, partition.last_fetched_epoch),
        (10, 3)
    );
    assert_eq!(
        partition.high_watermark, -1,
        "nothing is known to be committed"
    );
    (world, id)
}

#[test]
fn what_is_fetched_is_durable_before_more_is() {
    let (mut world, id) = follower();
    let mut both = BytesMut::new();
    both.extend_from_slice(&batch(10, 3));
    both.extend_from_slice(&batch(11, 4));
    both.extend_from_slice(&batch(12, 4)[..50]);
    let outputs = world.respond(id, records(4, both.freeze(), 11));
    let Output::Append(append) = &outputs[0] else {
        panic!("{outputs:?}");
    };
    // The batch whose end is missing comes again.
    assert_eq!((append.base, append.end), (Offset(10), Offset(12)));
    assert_eq!(world.raft.high_watermark(), Some(Offset(11)));
    assert!(sends(&outputs).is_empty());
    let (_, request) = sent_fetch(&world.flush(&outputs));
    let partition = &request.topics[0].partitions[0];
    assert_eq!(
        (partition.fetch_offset, partition.last_fetched_epoch),
        (12, 4)
    );
    assert_eq!(partition.high_watermark, 11);
}

#[test]
fn a_node_asks_for_as_much_as_it_is_set_to() {
    let mut settings = settings(1);
    settings.fetch_max_bytes = 1_000;
    let mut world = World::start(settings, formatted([1, 2, 3]));
    world.outputs();
    let (_, request) = sent_fetch(&world.follow(4));
    assert_eq!(request.max_bytes, 1_000);
}

#[test]
fn the_leaders_high_watermark_counts_up_to_the_end_of_the_log() {
    let (mut world, id) = follower();
    world.respond(id, records(4, Bytes::new(), 99));
    assert_eq!(world.raft.high_watermark(), Some(Offset(10)));
}

#[test]
fn records_that_do_not_fit_are_left_alone() {
    for bad in [
        batch(11, 4),
        batch(10, 5),
        batch(10, 2),
        batch(10, 4).slice(..40),
    ] {
        let (mut world, id) = follower();
        let outputs = world.respond(id, records(4, bad, 10));
        assert!(
            matches!(outputs[0], Output::Incident(Incident::BadRecords { .. })),
            "{outputs:?}"
        );
        assert_eq!(world.raft.log().end(), Offset(10));
        assert_eq!(world.raft.high_watermark(), None);
    }
}

#[test]
fn a_diverging_log_is_cut_and_fetched_on() {
    let (mut world, id) = follower();
    let outputs = world.respond(id, diverging(4, (3, 8)));
    assert!(
        matches!(outputs[0], Output::Truncate(Offset(8))),
        "{outputs:?}"
    );
    let (_, request) = sent_fetch(&outputs);
    assert_eq!(request.topics[0].partitions[0].fetch_offset, 8);
}

#[test]
fn committed_records_are_never_cut() {
    let (mut world, id) = follower();
    let outputs = world.respond(id, records(4, Bytes::new(), 10));
    let (id, _) = sent_fetch(&outputs);
    let outputs = world.respond(id, diverging(4, (3, 8)));
    assert!(
        matches!(
            outputs[0],
            Output::Incident(Incident::CommittedRecordsDiverge { .. })
        ),
        "{outputs:?}"
    );
    assert_eq!(world.raft.log().end(), Offset(10));
}

#[test]
fn a_later_leader_is_followed_and_an_earlier_one_refused() {
    let (mut world, _) = follower();
    let refused = answers(world.request(1, begin_epoch(3, 3)));
    let Response::BeginQuorumEpoch(response) = &refused[0].response else {
        panic!("{refused:?}");
    };
    let partition = &response.topics[0].partitions[0];
    assert_eq!(
        ErrorCode(partition.error_code),
        ErrorCode::FENCED_LEADER_EPOCH
    );
    assert_eq!((partition.leader_id, partition.leader_epoch), (2, 4));
    assert_eq!(&*response.node_endpoints[0].host, "host-2");
    let outputs = world.request(1, begin_epoch(5, 3));
    assert!(matches!(outputs[0], Output::Persist(state) if state.epoch == LeaderEpoch(5)));
    assert_eq!(world.raft.leader(), Some(BrokerId(3)));
}

#[test]
fn a_second_leader_of_an_epoch_is_an_incident() {
    let (mut world, _) = follower();
    let outputs = world.request(1, begin_epoch(4, 3));
    assert!(matches!(
        outputs[0],
        Output::Incident(Incident::InconsistentLeader { .. })
    ));
    assert_eq!(world.raft.leader(), Some(BrokerId(2)));
}

#[test]
fn a_leader_that_does_not_answer_is_replaced() {
    let (mut world, _) = follower();
    let outputs = world.wait(2_001);
    let requests = sends(&outputs);
    assert!(
        requests
            .iter()
            .all(|(_, request)| matches!(request, Request::Vote(_)))
    );
    assert_eq!(requests.len(), 2);
    assert_eq!(
        world.raft.epoch(),
        LeaderEpoch(4),
        "a pre-vote begins no epoch"
    );
}

#[test]
fn the_preferred_successor_stands_for_election_at_once() {
    let resignation = |first: i32, second: i32| {
        let candidates = [first, second].map(|id| ReplicaInfo {
            candidate_id: id,
            candidate_directory_id: directory(id),
            ..ReplicaInfo::default()
        });
        Request::EndQuorumEpoch(EndQuorumEpochRequest {
            topics: vec![RequestTopicData {
                topic_name: METADATA_TOPIC.into(),
                partitions: vec![RequestPartitionData {
                    leader_id: 2,
                    leader_epoch: 4,
                    preferred_candidates: candidates.to_vec(),
                    ..RequestPartitionData::default()
                }],
                ..RequestTopicData::default()
            }],
            ..EndQuorumEpochRequest::default()
        })
    };
    let votes = |outputs: &[Output]| {
        let requests = sends(outputs);
        let votes = requests
            .iter()
            .filter(|(_, request)| matches!(request, Request::Vote(_)));
        votes.count()
    };
    let (mut first, _) = follower();
    assert_eq!(votes(&first.request(1, resignation(1, 3))), 2);
    let (mut second, _) = follower();
    assert_eq!(votes(&second.request(1, resignation(3, 1))), 0);
    assert_eq!(votes(&second.wait(501)), 2, "half of the longest wait");
}
