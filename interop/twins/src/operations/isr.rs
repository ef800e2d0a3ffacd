//! What leaders and replicas tell: who is in sync, and in which directories they are.

use fastrand::Rng;
use klamm_metadata::Image;
use klamm_protocol::BrokerId;
use klamm_protocol::messages::alter_partition::{
    AlterPartitionRequest, BrokerState, RequestPartitionData, RequestTopicData,
};
use klamm_protocol::messages::assign_replicas_to_dirs::{
    AssignReplicasToDirsRequest, RequestDirectoryData, RequestPartitionData as DirectoryPartition,
    RequestTopicData as DirectoryTopic,
};

use super::{How, Operation, off, once_in, partition, pick, place};
use crate::side::Side;
use crate::wire::Said;

/// The leader of a partition tells who is in sync.
#[derive(Debug)]
struct AlterPartition {
    broker: i32,
    broker_epoch_off: i32,
    topic: &'static str,
    index: i32,
    leader_epoch_off: i32,
    partition_epoch_off: i32,
    /// Each with what is added to its epoch; `None` is the epoch that stands for any.
    isr: Vec<(i32, Option<i32>)>,
    recovery: i8,
}

pub(super) fn alteration(rng: &mut Rng, image: &Image) -> Box<dyn Operation> {
    let at = place(rng, image);
    let known = partition(image, at);
    let replicas: Vec<i32> =
        known.map_or(vec![1], |p| p.replicas().iter().map(|id| id.0).collect());
    let isr: Vec<i32> = known.map_or(vec![1], |p| p.isr().iter().map(|id| id.0).collect());
    let leader = known.map_or(-1, |p| p.leader().0);
    let broker = match leader < 0 || once_in(rng, 20) {
        true => pick(rng, &replicas),
        false => leader,
    };
    let mut new: Vec<i32> = match rng.u8(..4) {
        // Everyone catches up.
        0 => replicas,
        // Somebody falls behind.
        1 => isr
            .into_iter()
            .filter(|id| *id == broker || rng.bool())
            .collect(),
        // Somebody catches up, or falls behind.
        _ => replicas
            .into_iter()
            .filter(|id| *id == broker || rng.bool())
            .collect(),
    };
    if once_in(rng, 30) {
        new.push(rng.i32(1..=6));
    }
    // A replica in a directory that has failed is in the table of differences.
    let is_online = |id: i32| {
        let broker = image.cluster().broker(BrokerId(id));
        let dir = known.and_then(|partition| partition.directory(BrokerId(id)));
        broker
            .zip(dir)
            .is_none_or(|(broker, dir)| broker.has_online_dir(dir))
    };
    new.retain(|id| is_online(*id));
    if once_in(rng, 40) {
        new.retain(|id| *id != broker);
    }
    let is_recovering = known.is_some_and(|p| p.recovery().to_wire() == 1);
    let recovery = match rng.u8(..12) {
        // A state that is none is in the table of differences.
        0 => rng.i8(0..=1),
        _ => i8::from(is_recovering && rng.bool()),
    };
    let isr = new.into_iter().map(|id| match rng.u8(..40) {
        0 => (id, None),
        _ => (id, Some(off(rng) * i32::from(once_in(rng, 3)))),
    });
    let isr = isr.collect();
    Box::new(AlterPartition {
        broker,
        broker_epoch_off: off(rng) * i32::from(once_in(rng, 2)),
        topic: at.0,
        index: at.1,
        leader_epoch_off: off(rng) * i32::from(once_in(rng, 2)),
        partition_epoch_off: off(rng) * i32::from(once_in(rng, 2)),
        isr,
        recovery,
    })
}

impl Operation for AlterPartition {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let known = side.partition(self.topic, self.index);
        let epochs = known.map(|p| (p.leader_epoch().0, p.partition_epoch().0));
        let (leader_epoch, partition_epoch) = epochs.unwrap_or((0, 0));
        let state = |(id, off): &(i32, Option<i32>)| BrokerState {
            broker_id: *id,
            broker_epoch: off.map_or(-1, |off| side.epoch(*id) + i64::from(off)),
            ..Default::default()
        };
        let request = AlterPartitionRequest {
            broker_id: self.broker,
            broker_epoch: side.epoch(self.broker) + i64::from(self.broker_epoch_off),
            topics: vec![RequestTopicData {
                topic_id: side.topic_id(self.topic),
                partitions: vec![RequestPartitionData {
                    partition_index: self.index,
                    leader_epoch: leader_epoch + self.leader_epoch_off,
                    partition_epoch: partition_epoch + self.partition_epoch_off,
                    new_isr_with_epochs: self.isr.iter().map(state).collect(),
                    leader_recovery_state: self.recovery,
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        };
        // Version 2 has no epochs of replicas.
        side.ask(How { version: 0, ..how }, &request)
    }
}

/// A broker tells in which of its directories replicas are.
#[derive(Debug)]
struct AssignDirs {
    broker: i32,
    epoch_off: i32,
    dir: u8,
    places: Vec<(&'static str, i32)>,
}

pub(super) fn directories(rng: &mut Rng, image: &Image) -> Box<dyn Operation> {
    let first = place(rng, image);
    let count = rng.usize(0..=2);
    let mut places: Vec<_> = (0..count).map(|_| place(rng, image)).collect();
    places.push(first);
    places.sort_unstable();
    places.dedup();
    let replicas = partition(image, first);
    let replicas: Vec<i32> =
        replicas.map_or(vec![1], |p| p.replicas().iter().map(|id| id.0).collect());
    Box::new(AssignDirs {
        broker: pick(rng, &replicas),
        epoch_off: off(rng),
        dir: rng.u8(..4),
        places,
    })
}

impl Operation for AssignDirs {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let topics = self.places.iter().map(|(topic, index)| DirectoryTopic {
            topic_id: side.topic_id(topic),
            partitions: vec![DirectoryPartition {
                partition_index: *index,
                ..Default::default()
            }],
            ..Default::default()
        });
        let request = AssignReplicasToDirsRequest {
            broker_id: self.broker,
            broker_epoch: side.epoch(self.broker) + i64::from(self.epoch_off),
            directories: vec![RequestDirectoryData {
                id: side.dir(self.broker, self.dir),
                topics: topics.collect(),
                ..Default::default()
            }],
            ..Default::default()
        };
        side.ask(how, &request)
    }
}
