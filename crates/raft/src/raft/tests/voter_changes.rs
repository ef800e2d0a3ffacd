//! Who votes, and the level of `kraft.version`.

use klamm_protocol::messages::add_raft_voter::{self, AddRaftVoterRequest};
use klamm_protocol::messages::remove_raft_voter::RemoveRaftVoterRequest;
use klamm_protocol::messages::update_raft_voter::{
    self, UpdateRaftVoterRequest, UpdateRaftVoterResponse,
};
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, Offset, Uuid};

use super::support::*;
use crate::*;

/// A directory without voters: those of the configuration count.
fn static_voters(voters: impl IntoIterator<Item = i32>) -> Start {
    let voters = voters.into_iter().map(|id| Voter {
        key: ReplicaKey::new(BrokerId(id), Uuid::ZERO),
        ..voter(id)
    });
    Start {
        static_voters: voters.collect(),
        ..Start::default()
    }
}

fn leader() -> World {
    let mut world = World::new([1]);
    world.elected();
    world
}

/// Node 5 asks to be a voter.
fn addition() -> AddRaftVoterRequest {
    AddRaftVoterRequest {
        cluster_id: Some("a cluster".into()),
        voter_id: 5,
        voter_directory_id: directory(5),
        listeners: vec![add_raft_voter::Listener {
            name: LISTENER.into(),
            host: "host-5".into(),
            port: 9093,
            ..Default::default()
        }],
        ..Default::default()
    }
}

fn removal(id: i32) -> RemoveRaftVoterRequest {
    RemoveRaftVoterRequest {
        cluster_id: Some("a cluster".into()),
        voter_id: id,
        voter_directory_id: directory(id),
        ..Default::default()
    }
}

/// Node 1 tells what it listens on.
fn update(port: u16) -> UpdateRaftVoterRequest {
    let mut request = UpdateRaftVoterRequest {
        cluster_id: Some("a cluster".into()),
        current_leader_epoch: 1,
        voter_id: 1,
        voter_directory_id: directory(1),
        listeners: vec![update_raft_voter::Listener {
            name: LISTENER.into(),
            host: "host-1".into(),
            port,
            ..Default::default()
        }],
        ..Default::default()
    };
    request.k_raft_version_feature.max_supported_version = 1;
    request
}

fn add(world: &mut World, request: AddRaftVoterRequest) -> ErrorCode {
    let outputs = world.request(1, Request::AddRaftVoter(request));
    match &answers(outputs)[0].response {
        Response::AddRaftVoter(response) => {
            assert_eq!(response.error_code != 0, response.error_message.is_some());
            ErrorCode(response.error_code)
        }
        response => panic!("{response:?}"),
    }
}

fn remove(world: &mut World, request: RemoveRaftVoterRequest) -> ErrorCode {
    let outputs = world.request(0, Request::RemoveRaftVoter(request));
    match &answers(outputs)[0].response {
        Response::RemoveRaftVoter(response) => ErrorCode(response.error_code),
        response => panic!("{response:?}"),
    }
}

fn updated(outputs: Vec<Output>) -> UpdateRaftVoterResponse {
    match answers(outputs).remove(0).response {
        Response::UpdateRaftVoter(response) => response,
        response => panic!("{response:?}"),
    }
}

#[test]
fn a_voter_is_not_added() {
    let mut world = leader();
    let mut refused = |change: fn(&mut AddRaftVoterRequest)| {
        let mut request = addition();
        change(&mut request);
        add(&mut world, request)
    };
    let other = |r: &mut AddRaftVoterRequest| r.cluster_id = Some("another".into());
    assert_eq!(refused(other), ErrorCode::INCONSISTENT_CLUSTER_ID);
    let invalid = ErrorCode::INVALID_REQUEST;
    assert_eq!(refused(|r| r.voter_id = -1), invalid);
    assert_eq!(refused(|r| r.voter_directory_id = Uuid::ZERO), invalid);
    assert_eq!(refused(|r| r.listeners[0].name = "ELSE".into()), invalid);
    assert_eq!(refused(|r| r.voter_id = 1), ErrorCode::DUPLICATE_VOTER);
    assert_eq!(refused(|_| {}), ErrorCode::REQUEST_TIMED_OUT);
    // An observer that has everything is refused for good.
    let mut observer = fetch(5, 1, (1, 3));
    observer.topics[0].partitions[0].replica_directory_id = directory(5);
    world.request(17, Request::Fetch(observer));
    assert_eq!(add(&mut world, addition()), invalid);
    assert_eq!(world.raft.voters().len(), 1);
}

#[test]
fn a_voter_is_not_removed() {
    let mut world = leader();
    let mut stranger = removal(1);
    stranger.voter_directory_id = directory(9);
    assert_eq!(remove(&mut world, stranger), ErrorCode::VOTER_NOT_FOUND);
    assert_eq!(remove(&mut world, removal(5)), ErrorCode::VOTER_NOT_FOUND);
    let mut nobody = removal(1);
    nobody.voter_directory_id = Uuid::ZERO;
    assert_eq!(remove(&mut world, nobody), ErrorCode::INVALID_REQUEST);
    assert_eq!(remove(&mut world, removal(1)), ErrorCode::INVALID_REQUEST);
    assert_eq!(world.raft.voters().len(), 1);
}

#[test]
fn voters_of_the_configuration_do_not_change() {
    let mut world = World::start(settings(1), static_voters([1]));
    world.elected();
    let unsupported = ErrorCode::UNSUPPORTED_VERSION;
    assert_eq!(add(&mut world, addition()), unsupported);
    assert_eq!(remove(&mut world, removal(1)), unsupported);
    let end = world.raft.log().end();
    let outputs = world.request(0, Request::UpdateRaftVoter(update(9)));
    assert_eq!(updated(outputs).error_code, 0);
    assert_eq!(world.raft.log().end(), end);
}

#[test]
fn only_a_leader_that_has_committed_something_changes_voters() {
    let mut world = World::new([1]);
    world.outputs();
    assert!(world.raft.is_leader());
    let waits = ErrorCode::REQUEST_TIMED_OUT;
    assert_eq!(add(&mut world, addition()), waits);
    assert_eq!(remove(&mut world, removal(5)), waits);
    let outputs = world.request(0, Request::UpdateRaftVoter(update(9)));
    assert_eq!(ErrorCode(updated(outputs).error_code), waits);
    let epoch = world.raft.epoch();
    let error = world.raft.upgrade(epoch, KRaftVersion::DYNAMIC, world.now);
    assert_eq!(error, Err(UpgradeError::NotLeader(epoch)));

    let mut follower = World::new([1, 2, 3]);
    follower.follow(4);
    let elsewhere = ErrorCode::NOT_LEADER_OR_FOLLOWER;
    assert_eq!(add(&mut follower, addition()), elsewhere);
    assert_eq!(remove(&mut follower, removal(1)), elsewhere);
    let mut request = update(9);
    request.current_leader_epoch = 4;
    let response = updated(follower.request(0, Request::UpdateRaftVoter(request)));
    assert_eq!(ErrorCode(response.error_code), elsewhere);
    assert_eq!(response.current_leader.leader_id, 2);
}

#[test]
fn an_update_of_a_voter_is_answered_when_it_is_committed() {
    let mut world = leader();
    // What the log says already is not written again.
    let outputs = world.request(0, Request::UpdateRaftVoter(update(9093)));
    assert_eq!(world.raft.log().end(), Offset(3));
    let response = updated(outputs);
    assert_eq!(response.error_code, 0);
    let leader = response.current_leader;
    assert_eq!((leader.leader_id, leader.leader_epoch), (1, 1));
    assert_eq!((&*leader.host, leader.port), ("host-1", 9093));

    let appended = world.request(0, Request::UpdateRaftVoter(update(9)));
    assert_eq!(world.raft.log().end(), Offset(4));
    let known = world.raft.voters().voter(BrokerId(1)).unwrap();
    assert_eq!(known.endpoints.endpoint(LISTENER).unwrap().port, 9);
    let another = world.request(0, Request::UpdateRaftVoter(update(8)));
    let code = ErrorCode(updated(another).error_code);
    assert_eq!(code, ErrorCode::REQUEST_TIMED_OUT);
    assert_eq!(remove(&mut world, removal(5)), ErrorCode::REQUEST_TIMED_OUT);
    assert!(answers(world.wait(10)).is_empty());
    let outputs = world.flush(&appended);
    assert_eq!(updated(outputs).error_code, 0);
    assert_eq!(remove(&mut world, removal(5)), ErrorCode::VOTER_NOT_FOUND);
}

#[test]
fn a_leader_that_resigns_takes_back_its_word() {
    let mut world = leader();
    world.request(0, Request::UpdateRaftVoter(update(9)));
    world.raft.resign(LeaderEpoch(1), world.now);
    let outputs = world.outputs();
    let code = ErrorCode(updated(outputs).error_code);
    assert_eq!(code, ErrorCode::NOT_LEADER_OR_FOLLOWER);
}

#[test]
fn updates_that_cannot_be_are_refused() {
    let mut world = leader();
    let mut refused = |change: fn(&mut UpdateRaftVoterRequest)| {
        let mut request = update(9);
        change(&mut request);
        let outputs = world.request(0, Request::UpdateRaftVoter(request));
        ErrorCode(updated(outputs).error_code)
    };
    let other = |r: &mut UpdateRaftVoterRequest| r.cluster_id = Some("another".into());
    assert_eq!(refused(other), ErrorCode::INCONSISTENT_CLUSTER_ID);
    let stale = |r: &mut UpdateRaftVoterRequest| r.current_leader_epoch = 0;
    assert_eq!(refused(stale), ErrorCode::FENCED_LEADER_EPOCH);
    let early = |r: &mut UpdateRaftVoterRequest| r.current_leader_epoch = 2;
    assert_eq!(refused(early), ErrorCode::UNKNOWN_LEADER_EPOCH);
    let invalid = ErrorCode::INVALID_REQUEST;
    assert_eq!(refused(|r| r.voter_id = -1), invalid);
    assert_eq!(refused(|r| r.voter_directory_id = Uuid::ZERO), invalid);
    assert_eq!(refused(|r| r.listeners.clear()), invalid);
    let levels: [fn(&mut UpdateRaftVoterRequest); 3] = [
        |r| r.k_raft_version_feature.min_supported_version = -1,
        |r| r.k_raft_version_feature.min_supported_version = 2,
        |r| r.k_raft_version_feature.max_supported_version = 0,
    ];
    for change in levels {
        assert_eq!(refused(change), invalid);
    }
    assert_eq!(refused(|r| r.voter_id = 5), ErrorCode::VOTER_NOT_FOUND);
    assert_eq!(world.raft.log().end(), Offset(3));
}

#[test]
fn kraft_version_puts_the_voters_into_the_log() {
    let mut world = World::start(settings(1), static_voters([1]));
    world.elected();
    let (epoch, end) = (world.raft.epoch(), world.raft.log().end());
    let unknown = KRaftVersion(2);
    let error = world.raft.upgrade(epoch, unknown, world.now);
    assert_eq!(error, Err(UpgradeError::Unsupported(unknown)));
    let checked = world.raft.check_upgrade(epoch, KRaftVersion::DYNAMIC);
    assert_eq!(checked, Ok(()));
    assert_eq!(world.raft.kraft_version(), KRaftVersion::STATIC);
    let raised = world.raft.upgrade(epoch, KRaftVersion::DYNAMIC, world.now);
    assert_eq!(raised, Ok(Offset(end.0 + 2)));
    assert_eq!(world.raft.kraft_version(), KRaftVersion::DYNAMIC);
    assert_eq!(world.raft.voters(), &[voter(1)].into_iter().collect());
    let outputs = world.outputs();
    world.flush(&outputs);
    assert_eq!(world.raft.high_watermark(), Some(Offset(end.0 + 2)));
    // Once is enough.
    let again = world.raft.upgrade(epoch, KRaftVersion::DYNAMIC, world.now);
    assert_eq!(again, Ok(Offset(end.0 + 2)));
    assert_eq!(remove(&mut world, removal(5)), ErrorCode::VOTER_NOT_FOUND);
}

#[test]
fn voters_with_unknown_directories_stay_out_of_the_log() {
    let mut world = World::start(settings(1), static_voters([1, 2, 3]));
    world.elected();
    let epoch = world.raft.epoch();
    world.request(17, Request::Fetch(fetch(2, epoch.0, (epoch.0, 1))));
    assert_eq!(world.raft.high_watermark(), Some(Offset(1)));
    let error = world.raft.upgrade(epoch, KRaftVersion::DYNAMIC, world.now);
    assert_eq!(error, Err(UpgradeError::UnknownDirectories));
    assert_eq!(world.raft.log().end(), Offset(1));
}
