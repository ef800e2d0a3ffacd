//! Partitions move to other replicas.

use fastrand::Rng;
use klamm_metadata::Image;
use klamm_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, ReassignablePartition, ReassignableTopic,
};
use klamm_protocol::messages::list_partition_reassignments::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsTopics,
};

use super::{How, Operation, TOPICS, once_in, partition, pick, place, replicas};
use crate::side::Side;
use crate::wire::Said;

#[derive(Debug)]
struct Reassign {
    /// Where to, or `None` to stay.
    moves: Vec<(&'static str, i32, Option<Vec<i32>>)>,
    may_change_factor: bool,
}

pub(super) fn reassignment(rng: &mut Rng, image: &Image) -> Box<dyn Operation> {
    let mut moves: Vec<(&'static str, i32, Option<Vec<i32>>)> = Vec::new();
    for _ in 0..rng.u8(1..=2) {
        let (topic, index) = place(rng, image);
        // A partition once: what klamm does otherwise is in the table of differences.
        if moves
            .iter()
            .any(|(name, at, _)| (*name, *at) == (topic, index))
        {
            continue;
        }
        let known = partition(image, (topic, index));
        let is_moving = known.is_some_and(|partition| partition.is_reassigning());
        let cancels = once_in(rng, if is_moving { 2 } else { 15 });
        let target = (!cancels).then(|| {
            let mut target = replicas(rng, image);
            if once_in(rng, 25) {
                target.extend(target.first().copied());
            }
            if once_in(rng, 50) {
                target.clear();
            }
            target
        });
        moves.push((topic, index, target));
    }
    let may_change_factor = !once_in(rng, 5);
    Box::new(Reassign {
        moves,
        may_change_factor,
    })
}

impl Operation for Reassign {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let topics = self
            .moves
            .iter()
            .map(|(topic, index, target)| ReassignableTopic {
                name: (*topic).into(),
                partitions: vec![ReassignablePartition {
                    partition_index: *index,
                    replicas: target.as_ref().map(|target| target.as_slice().into()),
                    ..Default::default()
                }],
                ..Default::default()
            });
        let request = AlterPartitionReassignmentsRequest {
            timeout_ms: 60_000,
            allow_replication_factor_change: self.may_change_factor,
            topics: topics.collect(),
            ..Default::default()
        };
        side.ask(how, &request)
    }
}

#[derive(Debug)]
struct ListReassignments(Option<Vec<(&'static str, i32)>>);

pub(super) fn list(rng: &mut Rng) -> Box<dyn Operation> {
    let all = rng.bool();
    let places = (!all).then(|| {
        let mut topics = TOPICS;
        rng.shuffle(&mut topics);
        let count = rng.usize(..3);
        let topics = topics.into_iter().take(count);
        topics
            .map(|topic| (topic, pick(rng, &[0, 0, 1, 9])))
            .collect()
    });
    Box::new(ListReassignments(places))
}

impl Operation for ListReassignments {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let topics = self.0.as_ref().map(|places| {
            let topics = places
                .iter()
                .map(|(topic, index)| ListPartitionReassignmentsTopics {
                    name: (*topic).into(),
                    partition_indexes: [*index].into_iter().collect(),
                    ..Default::default()
                });
            topics.collect()
        });
        let request = ListPartitionReassignmentsRequest {
            timeout_ms: 60_000,
            topics,
            ..Default::default()
        };
        side.ask(how, &request)
    }
}
