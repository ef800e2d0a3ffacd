use klamm_metadata::directory;
use klamm_protocol::data::metadata::PartitionChangeRecord;
use klamm_protocol::messages::assign_replicas_to_dirs::{
    RequestDirectoryData, RequestPartitionData, RequestTopicData,
};

use super::*;
use crate::testing::{Fixture, topic_id};

const ONLINE: Uuid = Uuid::from_bytes([0x71; 16]);
const OFFLINE: Uuid = Uuid::from_bytes([0x99; 16]);

/// Broker 1 has a partition of a topic in each of these directories.
fn request(directories: &[(Uuid, Uuid, i32)]) -> AssignReplicasToDirsRequest {
    let directory = |(id, topic_id, partition_index): &(Uuid, Uuid, i32)| {
        let partition = RequestPartitionData {
            partition_index: *partition_index,
            ..Default::default()
        };
        let topic = RequestTopicData {
            topic_id: *topic_id,
            partitions: vec![partition],
            ..Default::default()
        };
        RequestDirectoryData {
            id: *id,
            topics: vec![topic],
            ..Default::default()
        }
    };
    AssignReplicasToDirsRequest {
        broker_id: 1,
        broker_epoch: 1,
        directories: directories.iter().map(directory).collect(),
        ..Default::default()
    }
}

fn codes(decision: &Decision<AssignReplicasToDirsResponse>) -> Vec<i16> {
    assert_eq!(decision.response.error_code, 0);
    let topics = decision
        .response
        .directories
        .iter()
        .flat_map(|directory| &directory.topics);
    topics
        .flat_map(|topic| &topic.partitions)
        .map(|partition| partition.error_code)
        .collect()
}

fn cluster() -> Fixture {
    let mut fixture = Fixture::new(2);
    fixture.topic("t", &[&[1, 2], &[2]]);
    fixture
}

#[test]
fn a_directory_is_noted_once() {
    let mut fixture = cluster();
    let asked = request(&[(ONLINE, topic_id("t"), 0)]);
    let decision = assign_replicas_to_dirs(&fixture.view(), &asked);
    assert_eq!(codes(&decision), [0]);
    fixture.carry_out(&decision);
    let partition = fixture.partition("t", 0);
    assert_eq!(partition.directory(BrokerId(1)), Some(ONLINE));
    assert_eq!(partition.directory(BrokerId(2)), Some(directory::MIGRATING));
    assert_eq!((partition.leader().0, partition.leader_epoch().0), (1, 0));
    assert_eq!(assign_replicas_to_dirs(&fixture.view(), &asked).records, []);
}

#[test]
fn a_replica_in_an_offline_directory_leaves_the_isr() {
    let mut fixture = cluster();
    let asked = request(&[(OFFLINE, topic_id("t"), 0)]);
    let decision = assign_replicas_to_dirs(&fixture.view(), &asked);
    assert_eq!(decision.records.len(), 1);
    assert_eq!(decision.leader_changes[0].why, Why::DirectoryAssigned);
    fixture.carry_out(&decision);
    let partition = fixture.partition("t", 0);
    assert_eq!(partition.leader(), BrokerId(2));
    assert_eq!(partition.isr()[..], [BrokerId(2)]);
}

/// Its log in another directory may have less: to be there does not make it leader.
#[test]
fn a_replica_whose_directory_has_failed_does_not_lead_from_another() {
    for (before, leader) in [
        (directory::LOST, -1),
        (OFFLINE, -1),
        (directory::UNASSIGNED, 1),
    ] {
        let mut fixture = cluster();
        let change = PartitionChangeRecord {
            leader: -1,
            isr: Some(Default::default()),
            eligible_leader_replicas: Some([1][..].into()),
            directories: Some(vec![before, directory::UNASSIGNED]),
            ..Default::default()
        };
        fixture.change("t", 0, change);
        let asked = request(&[(ONLINE, topic_id("t"), 0)]);
        let decision = assign_replicas_to_dirs(&fixture.view(), &asked);
        fixture.carry_out(&decision);
        let partition = fixture.partition("t", 0);
        assert_eq!(partition.directory(BrokerId(1)), Some(ONLINE));
        assert_eq!(partition.leader(), BrokerId(leader), "{before}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let fixture = cluster();
    let t = topic_id("t");
    let directories = [
        (ONLINE, Uuid::ZERO, 0),
        (ONLINE, t, 7),
        (ONLINE, t, 1),
        (ONLINE, t, 0),
        (OFFLINE, t, 0),
    ];
    let decision = assign_replicas_to_dirs(&fixture.view(), &request(&directories));
    let expected = [
        ErrorCode::UNKNOWN_TOPIC_ID,
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode::NOT_LEADER_OR_FOLLOWER,
        ErrorCode::NONE,
        ErrorCode::INVALID_REQUEST,
    ];
    assert_eq!(codes(&decision), expected.map(|code| code.0));
    assert_eq!(decision.records.len(), 1);
}

#[test]
fn a_stale_epoch_or_an_old_cluster_is_refused_as_a_whole() {
    let mut fixture = cluster();
    let asked = request(&[(ONLINE, topic_id("t"), 0)]);
    let stale = AssignReplicasToDirsRequest {
        broker_epoch: 0,
        ..asked.clone()
    };
    let refused = assign_replicas_to_dirs(&fixture.view(), &stale).response;
    assert_eq!(refused.error_code, ErrorCode::STALE_BROKER_EPOCH.0);
    fixture.feature("metadata.version", 16);
    let refused = assign_replicas_to_dirs(&fixture.view(), &asked).response;
    assert_eq!(refused.error_code, ErrorCode::UNSUPPORTED_VERSION.0);
}
