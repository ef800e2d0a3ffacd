use klamm_protocol::data::metadata::{BrokerRegistrationChangeRecord, PartitionChangeRecord};
use klamm_protocol::messages::alter_partition::RequestTopicData;
use klamm_protocol::{SmallVec, Uuid};

use super::*;
use crate::testing::{Fixture, topic_id};

/// What the leader of partition 0 of topic `t` asks for, whose epochs are those of the partition.
fn request(fixture: &Fixture, isr: &[i32]) -> AlterPartitionRequest {
    let partition = fixture.partition("t", 0);
    let state = |id: &i32| BrokerState {
        broker_id: *id,
        broker_epoch: (*id).into(),
        ..Default::default()
    };
    let asked = RequestPartitionData {
        partition_index: 0,
        leader_epoch: partition.leader_epoch().0,
        partition_epoch: partition.partition_epoch().0,
        new_isr_with_epochs: isr.iter().map(state).collect(),
        leader_recovery_state: partition.recovery().to_wire(),
        ..Default::default()
    };
    let topic = RequestTopicData {
        topic_id: topic_id("t"),
        partitions: vec![asked],
        ..Default::default()
    };
    AlterPartitionRequest {
        broker_id: 1,
        broker_epoch: 1,
        topics: vec![topic],
        ..Default::default()
    }
}

fn decide(fixture: &Fixture, request: &AlterPartitionRequest) -> Decision<AlterPartitionResponse> {
    AlterPartition {
        request,
        version: 3,
    }
    .decide(&fixture.view())
}

fn only(decision: &Decision<AlterPartitionResponse>) -> &ResponsePartitionData {
    assert_eq!(decision.response.error_code, 0);
    &decision.response.topics[0].partitions[0]
}

fn cluster() -> Fixture {
    let mut fixture = Fixture::new(4);
    fixture.topic("t", &[&[1, 2, 3]]);
    fixture
}

#[test]
fn the_leader_shrinks_and_expands_the_isr() {
    let mut fixture = cluster();
    for isr in [&[1, 3][..], &[1], &[1, 2], &[1, 2, 3]] {
        let decision = decide(&fixture, &request(&fixture, isr));
        fixture.carry_out(&decision);
        let partition = fixture.partition("t", 0);
        assert_eq!(partition.isr().to_wire()[..], *isr);
        assert_eq!(only(&decision), &described(PartitionIndex(0), partition));
        assert_eq!(partition.leader_epoch().0, 0);
        assert_eq!(decision.leader_changes, []);
    }
    // What changes nothing is answered with what is.
    let same = decide(&fixture, &request(&fixture, &[1, 2, 3]));
    assert_eq!(same.records, []);
    assert_eq!(only(&same).partition_epoch, 4);
}

#[test]
fn version_2_names_brokers_without_epochs() {
    let fixture = cluster();
    let mut request = request(&fixture, &[]);
    request.topics[0].partitions[0].new_isr = SmallVec::from_slice(&[1, 2]);
    let decision = AlterPartition {
        request: &request,
        version: 2,
    }
    .decide(&fixture.view());
    assert_eq!(only(&decision).error_code, 0);
    assert_eq!(only(&decision).isr[..], [1, 2]);
}

#[test]
fn requests_that_do_not_fit_are_refused() {
    let refused = |change: &dyn Fn(&mut AlterPartitionRequest), code: ErrorCode| {
        let mut fixture = cluster();
        // Epochs above 0, so that there are lower ones.
        fixture.change(
            "t",
            0,
            PartitionChangeRecord {
                leader: 1,
                ..Default::default()
            },
        );
        let mut request = request(&fixture, &[1, 2]);
        change(&mut request);
        let decision = decide(&fixture, &request);
        assert_eq!(decision.records, []);
        assert_eq!(only(&decision).error_code, code.0);
    };
    let partition = |change: fn(&mut RequestPartitionData)| {
        move |request: &mut AlterPartitionRequest| change(&mut request.topics[0].partitions[0])
    };
    refused(
        &partition(|p| p.leader_epoch += 1),
        ErrorCode::NOT_CONTROLLER,
    );
    refused(
        &partition(|p| p.partition_epoch += 1),
        ErrorCode::NOT_CONTROLLER,
    );
    refused(
        &partition(|p| p.leader_epoch -= 1),
        ErrorCode::FENCED_LEADER_EPOCH,
    );
    refused(
        &partition(|p| p.partition_epoch -= 1),
        ErrorCode::INVALID_UPDATE_VERSION,
    );
    refused(
        &partition(|p| p.partition_index = 9),
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
    );
    refused(
        &partition(|p| p.new_isr_with_epochs.clear()),
        ErrorCode::INVALID_REQUEST,
    );
    refused(
        &partition(|p| _ = p.new_isr_with_epochs.remove(0)),
        ErrorCode::INVALID_REQUEST,
    );
    refused(
        &partition(|p| p.new_isr_with_epochs[1].broker_id = 4),
        ErrorCode::INVALID_REQUEST,
    );
    refused(
        &partition(|p| p.new_isr_with_epochs[1].broker_id = 1),
        ErrorCode::INVALID_REQUEST,
    );
    refused(
        &partition(|p| p.leader_recovery_state = 1),
        ErrorCode::INVALID_REQUEST,
    );
    refused(
        &partition(|p| p.leader_recovery_state = 5),
        ErrorCode::INVALID_REQUEST,
    );
    refused(
        &partition(|p| p.new_isr_with_epochs[1].broker_epoch = 1),
        ErrorCode::INELIGIBLE_REPLICA,
    );
    refused(
        &|request| request.topics[0].topic_id = Uuid::ZERO,
        ErrorCode::UNKNOWN_TOPIC_ID,
    );
    let not_leader = |request: &mut AlterPartitionRequest| {
        request.broker_id = 2;
        request.broker_epoch = 2;
    };
    refused(&not_leader, ErrorCode::INVALID_REQUEST);
}

#[test]
fn an_unknown_epoch_of_a_replica_is_not_held_against_it() {
    let fixture = cluster();
    let mut request = request(&fixture, &[1, 2]);
    request.topics[0].partitions[0].new_isr_with_epochs[1].broker_epoch = -1;
    assert_eq!(only(&decide(&fixture, &request)).error_code, 0);
}

#[test]
fn a_stale_broker_epoch_is_refused_as_a_whole() {
    let fixture = cluster();
    let mut request = request(&fixture, &[1]);
    for (id, epoch) in [(1, 0), (9, 9)] {
        (request.broker_id, request.broker_epoch) = (id, epoch);
        let response = decide(&fixture, &request).response;
        assert_eq!(response.error_code, ErrorCode::STALE_BROKER_EPOCH.0);
        assert_eq!(response.topics, []);
    }
}

#[test]
fn who_is_fenced_or_shutting_down_does_not_join() {
    let mut fixture = cluster();
    fixture.fence(2, true);
    fixture.apply(BrokerRegistrationChangeRecord {
        broker_id: 3,
        broker_epoch: 3,
        in_controlled_shutdown: 1,
        ..Default::default()
    });
    for isr in [[1, 2], [1, 3]] {
        let decision = decide(&fixture, &request(&fixture, &isr));
        assert_eq!(only(&decision).error_code, ErrorCode::INELIGIBLE_REPLICA.0);
    }
}

/// The leader may not have heard yet that the directory of a follower has failed.
#[test]
fn who_has_lost_its_directory_does_not_join() {
    let mut fixture = cluster();
    let gone = Uuid::from_bytes([0x99; 16]);
    let moved = PartitionChangeRecord {
        isr: Some([1, 3][..].into()),
        directories: Some(vec![gone; 3]),
        ..Default::default()
    };
    fixture.change("t", 0, moved);
    for (online, code) in [(gone, 0), (Uuid::from_bytes([0x98; 16]), 107)] {
        for broker_id in 1..=3 {
            fixture.apply(BrokerRegistrationChangeRecord {
                broker_id,
                broker_epoch: broker_id.into(),
                log_dirs: if broker_id == 2 {
                    vec![online]
                } else {
                    vec![gone]
                },
                ..Default::default()
            });
        }
        let decision = decide(&fixture, &request(&fixture, &[1, 2, 3]));
        assert_eq!(only(&decision).error_code, code);
    }
}

#[test]
fn a_recovering_leader_is_alone_until_it_has_recovered() {
    let mut fixture = cluster();
    fixture.change(
        "t",
        0,
        PartitionChangeRecord {
            isr: Some([1][..].into()),
            leader_recovery_state: 1,
            ..Default::default()
        },
    );
    let early = decide(&fixture, &request(&fixture, &[1, 2]));
    assert_eq!(only(&early).error_code, ErrorCode::INVALID_REQUEST.0);
    let mut recovered = request(&fixture, &[1, 2]);
    recovered.topics[0].partitions[0].leader_recovery_state = 0;
    let decision = decide(&fixture, &recovered);
    fixture.carry_out(&decision);
    let partition = fixture.partition("t", 0);
    assert_eq!(partition.recovery(), LeaderRecoveryState::Recovered);
    assert_eq!(partition.isr().len(), 2);
}

#[test]
fn the_same_partition_twice_changes_once() {
    let fixture = cluster();
    let mut request = request(&fixture, &[1, 2]);
    let again = request.topics[0].partitions[0].clone();
    request.topics[0].partitions.push(again);
    let decision = decide(&fixture, &request);
    assert_eq!(decision.records.len(), 1);
    let codes = decision.response.topics[0]
        .partitions
        .iter()
        .map(|p| p.error_code);
    assert_eq!(
        codes.collect::<Vec<_>>(),
        [0, ErrorCode::INVALID_UPDATE_VERSION.0]
    );
}

#[test]
fn the_end_of_a_reassignment_may_take_the_lead_away() {
    let mut fixture = cluster();
    fixture.change(
        "t",
        0,
        PartitionChangeRecord {
            replicas: Some([4, 2, 3, 1][..].into()),
            adding_replicas: Some([4][..].into()),
            removing_replicas: Some([1][..].into()),
            ..Default::default()
        },
    );
    let decision = decide(&fixture, &request(&fixture, &[1, 2, 3, 4]));
    assert_eq!(only(&decision).error_code, ErrorCode::NEW_LEADER_ELECTED.0);
    assert_eq!(decision.leader_changes[0].why, Why::Reassignment);
    fixture.carry_out(&decision);
    let partition = fixture.partition("t", 0);
    assert_eq!(partition.replicas().to_wire()[..], [4, 2, 3]);
    assert_eq!(partition.leader(), BrokerId(4));
}
