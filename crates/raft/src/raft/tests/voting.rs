use klamm_protocol::messages::vote::VoteRequest;
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, Offset};

use super::support::*;
use crate::*;

/// Node 1 of three, with a log that ends at offset 10 of epoch 3, and no leader.
fn voter_1() -> World {
    let mut start = formatted([1, 2, 3]);
    start.log.append(LeaderEpoch(3), Offset(10));
    let mut world = World::start(settings(1), start);
    world.outputs();
    world
}

fn granted(world: &mut World, request: VoteRequest) -> bool {
    let response = vote_answer(world.request(2, Request::Vote(request)));
    let partition = &response.topics[0].partitions[0];
    assert_eq!(partition.error_code, 0);
    partition.vote_granted
}

#[test]
fn a_vote_is_durable_before_it_is_given() {
    let mut world = voter_1();
    let outputs = world.request(2, Request::Vote(vote(4, (3, 10), false)));
    let is_vote = |output: &Output| match output {
        Output::Persist(state) => state.voted.is_some_and(|key| key.id == BrokerId(2)),
        _ => false,
    };
    let voted = outputs.iter().position(is_vote).unwrap();
    let answered = outputs
        .iter()
        .position(|output| matches!(output, Output::Answer(_)))
        .unwrap();
    assert!(voted < answered, "{outputs:?}");
    // The same candidate gets it again, nobody else does.
    assert!(granted(&mut world, vote(4, (3, 10), false)));
    let mut other = vote(4, (3, 99), false);
    other.topics[0].partitions[0].replica_id = 3;
    assert!(!granted(&mut world, other));
}

#[test]
fn a_candidate_with_fewer_records_gets_no_vote() {
    for (tip, is_granted) in [
        ((3, 9), false),
        ((2, 99), false),
        ((3, 10), true),
        ((3, 11), true),
    ] {
        let mut world = voter_1();
        assert_eq!(
            granted(&mut world, vote(5, tip, false)),
            is_granted,
            "{tip:?}"
        );
        assert_eq!(
            world.raft.epoch(),
            LeaderEpoch(5),
            "the epoch counts anyhow"
        );
    }
}

#[test]
fn bad_votes_get_apache_kafkas_errors() {
    let with = |change: &dyn Fn(&mut VoteRequest)| {
        let mut request = vote(4, (3, 10), false);
        change(&mut request);
        request
    };
    let cases = [
        (
            with(&|r| r.cluster_id = Some("other".into())),
            ErrorCode::INCONSISTENT_CLUSTER_ID,
        ),
        (
            with(&|r| r.topics[0].topic_name = "other".into()),
            ErrorCode::INVALID_REQUEST,
        ),
        (
            with(&|r| r.topics[0].partitions[0].partition_index = 1),
            ErrorCode::INVALID_REQUEST,
        ),
        (with(&|r| r.topics.clear()), ErrorCode::INVALID_REQUEST),
        (
            with(&|r| r.topics[0].partitions[0].replica_id = -1),
            ErrorCode::INVALID_REQUEST,
        ),
        (with(&|r| r.voter_id = 3), ErrorCode::INVALID_VOTER_KEY),
        (
            with(&|r| r.topics[0].partitions[0].voter_directory_id = directory(9)),
            ErrorCode::INVALID_VOTER_KEY,
        ),
        (vote(4, (4, 10), false), ErrorCode::INVALID_REQUEST),
        (vote(4, (5, 10), true), ErrorCode::INVALID_REQUEST),
        (vote(4, (3, -1), false), ErrorCode::INVALID_REQUEST),
        (vote(4, (-1, 10), false), ErrorCode::INVALID_REQUEST),
        (vote(2, (1, 10), false), ErrorCode::FENCED_LEADER_EPOCH),
    ];
    for (request, error) in cases {
        let mut world = voter_1();
        let response = vote_answer(world.request(2, Request::Vote(request.clone())));
        let code = match response.topics.first() {
            Some(topic) => topic.partitions[0].error_code,
            None => response.error_code,
        };
        assert_eq!(ErrorCode(code), error, "{request:?}");
    }
    // An older version does not say whom it means.
    let mut world = voter_1();
    assert!(granted(&mut world, with(&|r| r.voter_id = -1)));
}

#[test]
fn a_pre_vote_changes_nothing_and_is_refused_by_who_has_a_leader() {
    let mut world = voter_1();
    assert!(granted(&mut world, vote(3, (3, 10), true)));
    assert!(!granted(&mut world, vote(3, (3, 9), true)));
    assert_eq!(world.raft.epoch(), LeaderEpoch(3));
    // A leader that has not answered yet may not be there.
    let outputs = world.follow(4);
    assert!(granted(&mut world, vote(4, (3, 10), true)));
    let (id, _) = sent_fetch(&outputs);
    world.respond(id, super::following::records(4, bytes::Bytes::new(), 0));
    assert!(!granted(&mut world, vote(4, (3, 10), true)));
}

#[test]
fn an_election_asks_first_and_begins_an_epoch_then() {
    let mut world = voter_1();
    let outputs = world.wait(2_001);
    let pre_votes = sends(&outputs);
    assert_eq!(pre_votes.len(), 2);
    for (_, request) in &pre_votes {
        let Request::Vote(request) = request else {
            panic!("{request:?}");
        };
        let partition = &request.topics[0].partitions[0];
        assert!(partition.pre_vote);
        assert_eq!((partition.replica_epoch, partition.last_offset), (3, 10));
    }
    let outputs = world.respond(pre_votes[0].0, vote_response(LeaderEpoch(3), true));
    assert_eq!(world.raft.epoch(), LeaderEpoch(4));
    let votes = sends(&outputs);
    assert_eq!(votes.len(), 2);
    let outputs = world.respond(votes[1].0, vote_response(LeaderEpoch(4), true));
    assert!(world.raft.is_leader());
    let begins = sends(&outputs);
    assert_eq!(begins.len(), 2);
    assert!(
        begins
            .iter()
            .all(|(_, request)| matches!(request, Request::BeginQuorumEpoch(_)))
    );
}

#[test]
fn a_node_says_what_it_is_in_kafkas_words() {
    let mut world = voter_1();
    assert_eq!(world.raft.state(), "unattached");
    assert!(granted(&mut world, vote(4, (3, 10), false)));
    assert_eq!(world.raft.state(), "unattached-voted");
    let pre_votes = sends(&world.wait_for_deadline());
    assert_eq!(world.raft.state(), "prospective-voted");
    let votes = world.respond(pre_votes[0].0, vote_response(LeaderEpoch(4), true));
    assert_eq!(world.raft.state(), "candidate");
    let votes = sends(&votes);
    world.respond(votes[0].0, vote_response(LeaderEpoch(5), true));
    assert_eq!(world.raft.state(), "leader");
    assert_eq!(world.raft.observer_count(world.now), 0);
    world.raft.resign(LeaderEpoch(5), world.now);
    assert_eq!(world.raft.state(), "unattached");
    world.follow(6);
    assert_eq!(world.raft.state(), "follower");
    let mut undecided = voter_1();
    undecided.wait_for_deadline();
    assert_eq!(undecided.raft.state(), "prospective");
    let mut observer = World::start(settings(8), formatted([1, 2, 3]));
    observer.follow(4);
    assert_eq!(observer.raft.state(), "observer");
}

#[test]
fn a_voter_that_knows_no_pre_vote_is_asked_for_its_vote() {
    let mut world = voter_1();
    let pre_votes = sends(&world.wait(2_001));
    world.raft.handle_response(
        pre_votes[0].0,
        Err(SendError::UnsupportedVersion),
        world.now,
    );
    let votes = sends(&world.outputs());
    assert_eq!(votes.len(), 2);
    assert_eq!(world.raft.epoch(), LeaderEpoch(4));
}

#[test]
fn a_lost_pre_vote_leaves_the_epoch_alone() {
    let mut world = voter_1();
    for (id, _) in sends(&world.wait(2_001)) {
        world.respond(id, vote_response(LeaderEpoch(3), false));
    }
    assert_eq!(world.raft.epoch(), LeaderEpoch(3));
    assert!(world.raft.deadline().is_some(), "it tries again");
}

#[test]
fn an_observer_never_starts_an_election() {
    let mut world = World::start(settings(8), formatted([1, 2, 3]));
    for _ in 0..100 {
        let outputs = world.wait(1_000);
        let requests = sends(&outputs);
        assert!(
            requests
                .iter()
                .all(|(_, request)| matches!(request, Request::Fetch(_)))
        );
    }
    assert_eq!(world.raft.epoch(), LeaderEpoch(0));
}
