//! A controller whose brokers are registrations without anyone behind them: replicas cost no files, and
//! nobody but the test changes an ISR.

use std::collections::BTreeMap;

use klamm_cluster::{Cluster, Program, Spec};
use klamm_protocol::messages::alter_partition::{
    AlterPartitionRequest, BrokerState, RequestPartitionData, RequestTopicData,
};
use klamm_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, ReassignablePartition, ReassignableTopic,
};
use klamm_protocol::messages::broker_heartbeat::BrokerHeartbeatRequest;
use klamm_protocol::messages::broker_registration::{BrokerRegistrationRequest, Feature, Listener};
use klamm_protocol::messages::create_topics::{
    CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest,
};
use klamm_protocol::{ErrorCode, Uuid};

use crate::wire::Wire;

const FEATURES: [&str; 7] = [
    "eligible.leader.replicas.version",
    "group.version",
    "kraft.version",
    "metadata.version",
    "share.version",
    "streams.version",
    "transaction.version",
];

pub(crate) struct Phantoms {
    pub(crate) cluster: Cluster,
    pub(crate) wire: Wire,
    /// The epoch of each broker's registration.
    epochs: BTreeMap<i32, i64>,
}

impl Phantoms {
    /// Brokers 1 to `count`, none of them fenced.
    pub(crate) fn start(program: &Program, count: i32) -> Self {
        // Nobody sends heartbeats for the brokers after the first.
        let cluster = Spec::separate(1, 0)
            .controllers(program.clone())
            .property("broker.session.timeout.ms", "600000")
            .start();
        let mut wire = Wire::connect(&cluster.controller(101));
        let epochs = (1..=count).map(|id| (id, register(&mut wire, cluster.id(), id)));
        let epochs = epochs.collect();
        Self {
            cluster,
            wire,
            epochs,
        }
    }

    /// Another connection to the controller.
    pub(crate) fn connect(&self) -> Wire {
        Wire::connect(&self.cluster.controller(101))
    }

    /// Creates a topic whose partitions all have these replicas. The first leads, all are in sync.
    pub(crate) fn create(&mut self, topic: &str, partitions: i32, replicas: &[i32]) -> Uuid {
        let assignments = (0..partitions).map(|partition| CreatableReplicaAssignment {
            partition_index: partition,
            broker_ids: replicas.iter().copied().collect(),
            ..Default::default()
        });
        let request = CreateTopicsRequest {
            topics: vec![CreatableTopic {
                name: topic.into(),
                num_partitions: -1,
                replication_factor: -1,
                assignments: assignments.collect(),
                ..Default::default()
            }],
            timeout_ms: 30_000,
            ..Default::default()
        };
        let answer = self.wire.call(7, &request);
        let topic = &answer.topics[0];
        assert_eq!(ErrorCode(topic.error_code), ErrorCode::NONE, "{topic:?}");
        topic.topic_id
    }

    /// Gives every partition of a topic these replicas. Where they are in sync already, that changes
    /// the preferred leader, and not the leader; else the reassignment goes on until they are.
    pub(crate) fn reassign(&mut self, topic: &str, partitions: i32, replicas: &[i32]) {
        let request = reassignment(topic, partitions, replicas);
        let answer = self.wire.call(0, &request);
        assert_eq!(ErrorCode(answer.error_code), ErrorCode::NONE);
        let mut partitions = answer.responses[0].partitions.iter();
        let failed = partitions.find(|p| p.error_code != 0);
        assert!(failed.is_none(), "{failed:?}");
    }

    /// Sets the ISR of a partition for its leader, which has led in this epoch since it was created.
    pub(crate) fn set_isr(&mut self, leader: i32, topic_id: Uuid, partition: i32, isr: &[i32]) {
        let brokers = isr.iter().map(|&broker_id| BrokerState {
            broker_id,
            broker_epoch: self.epochs[&broker_id],
            ..Default::default()
        });
        let mut request = AlterPartitionRequest {
            broker_id: leader,
            broker_epoch: self.epochs[&leader],
            topics: vec![RequestTopicData {
                topic_id,
                partitions: vec![RequestPartitionData {
                    partition_index: partition,
                    new_isr_with_epochs: brokers.collect(),
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        };
        // Each change of a partition adds one to its epoch; here there are few.
        for epoch in 0..10 {
            request.topics[0].partitions[0].partition_epoch = epoch;
            let answer = self.wire.call(3, &request);
            assert_eq!(ErrorCode(answer.error_code), ErrorCode::NONE);
            let changed = &answer.topics[0].partitions[0];
            match ErrorCode(changed.error_code) {
                ErrorCode::INVALID_UPDATE_VERSION => {}
                code => {
                    assert_eq!(code, ErrorCode::NONE, "{changed:?}");
                    assert_eq!(changed.isr[..], *isr);
                    return;
                }
            }
        }
        panic!("no partition epoch below 10 is right");
    }
}

/// A request to give every partition of a topic these replicas.
pub(crate) fn reassignment(
    topic: &str,
    partitions: i32,
    replicas: &[i32],
) -> AlterPartitionReassignmentsRequest {
    let partitions = (0..partitions).map(|partition| ReassignablePartition {
        partition_index: partition,
        replicas: Some(replicas.iter().copied().collect()),
        ..Default::default()
    });
    AlterPartitionReassignmentsRequest {
        topics: vec![ReassignableTopic {
            name: topic.into(),
            partitions: partitions.collect(),
            ..Default::default()
        }],
        timeout_ms: 30_000,
        ..Default::default()
    }
}

fn uuid(kind: u8, id: i32) -> Uuid {
    let mut bytes = [kind; 16];
    bytes[12..].copy_from_slice(&id.to_be_bytes());
    Uuid::from_bytes(bytes)
}

/// Registers a broker and takes it out of its fence; its epoch.
fn register(wire: &mut Wire, cluster_id: &str, id: i32) -> i64 {
    let request = BrokerRegistrationRequest {
        broker_id: id,
        cluster_id: cluster_id.into(),
        incarnation_id: uuid(0x10, id),
        listeners: vec![Listener {
            name: "PLAINTEXT".into(),
            host: "127.0.0.1".into(),
            port: 1,
            ..Default::default()
        }],
        features: FEATURES
            .map(|name| Feature {
                name: name.into(),
                max_supported_version: 100,
                ..Default::default()
            })
            .to_vec(),
        log_dirs: vec![uuid(0x20, id)],
        ..Default::default()
    };
    let answer = wire.call(4, &request);
    assert_eq!(ErrorCode(answer.error_code), ErrorCode::NONE);
    let epoch = answer.broker_epoch;
    let request = BrokerHeartbeatRequest {
        broker_id: id,
        broker_epoch: epoch,
        current_metadata_offset: epoch,
        want_fence: false,
        ..Default::default()
    };
    let answer = wire.call(1, &request);
    assert_eq!(ErrorCode(answer.error_code), ErrorCode::NONE);
    assert!(!answer.is_fenced);
    epoch
}
