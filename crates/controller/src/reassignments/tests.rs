use klamm_protocol::data::metadata::PartitionChangeRecord;
use klamm_protocol::messages::alter_partition_reassignments::ReassignableTopic;
use klamm_protocol::messages::list_partition_reassignments::ListPartitionReassignmentsTopics;

use super::*;
use crate::testing::Fixture;

/// The replicas that partitions are to have; `None` cancels.
fn request(topic: &str, targets: &[(i32, Option<&[i32]>)]) -> AlterPartitionReassignmentsRequest {
    let partitions = targets
        .iter()
        .map(|(index, replicas)| ReassignablePartition {
            partition_index: *index,
            replicas: replicas.map(Into::into),
            ..Default::default()
        });
    AlterPartitionReassignmentsRequest {
        topics: vec![ReassignableTopic {
            name: topic.into(),
            partitions: partitions.collect(),
            ..Default::default()
        }],
        ..Default::default()
    }
}

fn codes(decision: &Decision<AlterPartitionReassignmentsResponse>) -> Vec<ErrorCode> {
    assert_eq!(decision.response.error_code, 0);
    let partitions = decision
        .response
        .responses
        .iter()
        .flat_map(|topic| &topic.partitions);
    partitions
        .map(|partition| ErrorCode(partition.error_code))
        .collect()
}

fn move_to(fixture: &mut Fixture, target: Option<&[i32]>) -> ErrorCode {
    let decision = alter_partition_reassignments(&fixture.view(), &request("t", &[(0, target)]));
    fixture.carry_out(&decision);
    codes(&decision)[0]
}

/// Replicas, to be added, to be removed, ISR, leader.
fn state(fixture: &Fixture) -> (Vec<i32>, Vec<i32>, Vec<i32>, Vec<i32>, i32) {
    let p = fixture.partition("t", 0);
    let ids = |replicas: &Replicas| replicas.to_wire().to_vec();
    (
        ids(p.replicas()),
        ids(p.adding()),
        ids(p.removing()),
        ids(p.isr()),
        p.leader().0,
    )
}

fn cluster() -> Fixture {
    let mut fixture = Fixture::new(6);
    fixture.topic("t", &[&[1, 2, 3], &[1]]);
    fixture
}

fn isr(fixture: &mut Fixture, isr: &[i32]) {
    let leader = isr[0];
    let change = PartitionChangeRecord {
        isr: Some(isr.into()),
        leader,
        ..Default::default()
    };
    fixture.change("t", 0, change);
}

#[test]
fn a_reassignment_begins_with_all_replicas_old_and_new() {
    let mut fixture = cluster();
    assert_eq!(move_to(&mut fixture, Some(&[5, 4, 2])), ErrorCode::NONE);
    let moving = (
        vec![5, 4, 2, 1, 3],
        vec![4, 5],
        vec![1, 3],
        vec![1, 2, 3],
        1,
    );
    assert_eq!(state(&fixture), moving);
    // The leader epoch stays: nobody is removed yet.
    assert_eq!(fixture.partition("t", 0).leader_epoch().0, 0);
    // Asked again, nothing changes.
    let again =
        alter_partition_reassignments(&fixture.view(), &request("t", &[(0, Some(&[5, 4, 2]))]));
    assert_eq!(
        (codes(&again), again.records.len()),
        (vec![ErrorCode::NONE], 0)
    );
}

#[test]
fn what_needs_no_new_replica_ends_at_once() {
    let mut fixture = cluster();
    // Another order is another preferred leader, and no other leader.
    assert_eq!(move_to(&mut fixture, Some(&[3, 1, 2])), ErrorCode::NONE);
    assert_eq!(
        state(&fixture),
        (vec![3, 1, 2], vec![], vec![], vec![1, 2, 3], 1)
    );
    assert_eq!(move_to(&mut fixture, Some(&[2, 3])), ErrorCode::NONE);
    assert_eq!(state(&fixture), (vec![2, 3], vec![], vec![], vec![2, 3], 2));
    assert_eq!(fixture.partition("t", 0).leader_epoch().0, 1);
}

#[test]
fn another_target_replaces_the_first() {
    let mut fixture = cluster();
    move_to(&mut fixture, Some(&[4, 2, 3]));
    move_to(&mut fixture, Some(&[4, 5, 3]));
    let moving = (
        vec![4, 5, 3, 1, 2],
        vec![4, 5],
        vec![1, 2],
        vec![1, 2, 3],
        1,
    );
    assert_eq!(state(&fixture), moving);
    // What is wanted back is not removed.
    move_to(&mut fixture, Some(&[1, 2, 3, 4]));
    let moving = (vec![1, 2, 3, 4, 5], vec![4], vec![5], vec![1, 2, 3], 1);
    assert_eq!(state(&fixture), moving);
}

#[test]
fn a_cancelled_reassignment_leaves_what_was() {
    let mut fixture = cluster();
    assert_eq!(
        move_to(&mut fixture, None),
        ErrorCode::NO_REASSIGNMENT_IN_PROGRESS
    );
    move_to(&mut fixture, Some(&[4, 5, 6]));
    isr(&mut fixture, &[4, 2]);
    assert_eq!(move_to(&mut fixture, None), ErrorCode::NONE);
    assert_eq!(state(&fixture), (vec![1, 2, 3], vec![], vec![], vec![2], 2));
}

#[test]
fn to_cancel_when_only_new_replicas_are_in_sync_is_unclean() {
    let mut fixture = cluster();
    move_to(&mut fixture, Some(&[4, 5, 6]));
    isr(&mut fixture, &[4, 5]);
    assert_eq!(
        move_to(&mut fixture, None),
        ErrorCode::INVALID_REPLICA_ASSIGNMENT
    );
    fixture.config(2, "t", "unclean.leader.election.enable", "true");
    assert_eq!(move_to(&mut fixture, None), ErrorCode::NONE);
    assert_eq!(state(&fixture), (vec![1, 2, 3], vec![], vec![], vec![1], 1));
    assert_eq!(
        fixture.partition("t", 0).recovery(),
        LeaderRecoveryState::Recovering
    );
}

#[test]
fn a_leaderless_partition_can_be_cancelled() {
    let mut fixture = cluster();
    move_to(&mut fixture, Some(&[4, 5, 6]));
    fixture.change(
        "t",
        0,
        PartitionChangeRecord {
            isr: Some(Default::default()),
            leader: -1,
            eligible_leader_replicas: Some([3][..].into()),
            last_known_elr: Some([3][..].into()),
            ..Default::default()
        },
    );
    fixture.fence(3, true);
    assert_eq!(move_to(&mut fixture, None), ErrorCode::NONE);
    assert_eq!(state(&fixture), (vec![1, 2, 3], vec![], vec![], vec![], -1));
    assert_eq!(fixture.partition("t", 0).elr()[..], [BrokerId(3)]);
}

#[test]
fn what_cannot_be_is_refused_and_does_not_hold_up_the_rest() {
    let fixture = cluster();
    let targets: &[(i32, Option<&[i32]>)] = &[
        (0, Some(&[])),
        (9, Some(&[1])),
        (1, Some(&[2])),
        (1, Some(&[3])),
        (-1, None),
    ];
    let decision = alter_partition_reassignments(&fixture.view(), &request("t", targets));
    let expected = [
        ErrorCode::INVALID_REPLICA_ASSIGNMENT,
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode::NONE,
        ErrorCode::INVALID_REQUEST,
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
    ];
    assert_eq!(codes(&decision), expected);
    assert_eq!(decision.records.len(), 1);
    for wrong in [&[1, 1][..], &[7]] {
        let asked = request("t", &[(0, Some(wrong))]);
        let decision = alter_partition_reassignments(&fixture.view(), &asked);
        assert_eq!(codes(&decision), [ErrorCode::INVALID_REPLICA_ASSIGNMENT]);
    }
    let unknown = alter_partition_reassignments(&fixture.view(), &request("no", &[(0, None)]));
    assert_eq!(codes(&unknown), [ErrorCode::UNKNOWN_TOPIC_OR_PARTITION]);
}

#[test]
fn the_replication_factor_may_be_held() {
    let mut fixture = cluster();
    let held = |fixture: &Fixture, target: &[i32]| {
        let asked = AlterPartitionReassignmentsRequest {
            allow_replication_factor_change: false,
            ..request("t", &[(0, Some(target))])
        };
        codes(&alter_partition_reassignments(&fixture.view(), &asked))[0]
    };
    assert_eq!(
        held(&fixture, &[4, 5]),
        ErrorCode::INVALID_REPLICATION_FACTOR
    );
    assert_eq!(held(&fixture, &[4, 5, 6]), ErrorCode::NONE);
    // While it is reassigned, the factor is that of the target.
    move_to(&mut fixture, Some(&[4, 5]));
    assert_eq!(
        held(&fixture, &[4, 5, 6]),
        ErrorCode::INVALID_REPLICATION_FACTOR
    );
    assert_eq!(held(&fixture, &[5, 6]), ErrorCode::NONE);
}

#[test]
fn those_under_way_are_listed() {
    let mut fixture = cluster();
    fixture.topic("u", &[&[1]]);
    move_to(&mut fixture, Some(&[4, 2, 3]));
    let list = |topics: Option<&[(&str, &[i32])]>| {
        let topics = topics.map(|topics| {
            let topic = |(name, indexes): &(&str, &[i32])| ListPartitionReassignmentsTopics {
                name: (*name).into(),
                partition_indexes: (*indexes).into(),
                ..Default::default()
            };
            topics.iter().map(topic).collect()
        });
        let request = ListPartitionReassignmentsRequest {
            topics,
            ..Default::default()
        };
        list_partition_reassignments(&fixture.view(), &request).topics
    };
    let all = list(None);
    assert_eq!(all.len(), 1);
    assert_eq!((&*all[0].name, all[0].partitions.len()), ("t", 1));
    let partition = &all[0].partitions[0];
    assert_eq!(partition.replicas[..], [4, 2, 3, 1]);
    assert_eq!(partition.adding_replicas[..], [4]);
    assert_eq!(partition.removing_replicas[..], [1]);
    assert_eq!(
        list(Some(&[("t", &[0, 1, 7, -1]), ("u", &[0]), ("no", &[0])])),
        all
    );
    assert_eq!(list(Some(&[("t", &[1])])), []);
    assert_eq!(list(Some(&[])), []);
}

#[test]
fn nothing_is_said_where_all_is_well() {
    let fixture = cluster();
    let moved = alter_partition_reassignments(&fixture.view(), &request("t", &[]));
    assert_eq!(moved.response.error_message, None);
    let all = ListPartitionReassignmentsRequest::default();
    let listed = list_partition_reassignments(&fixture.view(), &all);
    assert_eq!(listed.error_message, None);
}
