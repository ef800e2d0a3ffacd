//! Replicas that a controller places by itself, beginning anywhere: both sides have to place them
//! as well, not alike.

use std::collections::BTreeSet;

use fastrand::Rng;
use klamm_metadata::{Cluster, Record};
use klamm_protocol::messages::create_topics::{CreatableTopic, CreateTopicsRequest};
use klamm_protocol::{BrokerId, Request};
use serde_json::{Value, json};

use super::topics::create;
use super::{How, Operation, once_in};
use crate::log::Entry;
use crate::side::Side;
use crate::wire::Said;

/// The topic that is placed; it is deleted before the next operation.
pub(crate) const TOPIC: &str = "placed";

/// A topic whose replicas the controller places.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    partitions: i32,
    factor: i16,
    validate_only: bool,
}

pub(super) fn spread(rng: &mut Rng) -> Box<dyn Operation> {
    Box::new(Spread {
        partitions: if once_in(rng, 10) {
            rng.i32(-2..=0)
        } else {
            rng.i32(1..=12)
        },
        factor: rng.i16(-1..=4),
        validate_only: once_in(rng, 5),
    })
}

impl Operation for Spread {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let request = CreateTopicsRequest {
            topics: vec![CreatableTopic {
                name: TOPIC.into(),
                num_partitions: self.partitions,
                replication_factor: self.factor,
                ..Default::default()
            }],
            timeout_ms: 60_000,
            validate_only: self.validate_only,
            ..Default::default()
        };
        // Before version 4 there are no defaults.
        let is_old = CreateTopicsRequest::STABLE.max - i16::from(how.version % 6) < 4;
        let version = if is_old { 0 } else { how.version };
        create(side, How { version, ..how }, &request)
    }

    fn spread(&self) -> Option<&Spread> {
        Some(self)
    }
}

impl Spread {
    /// What is the same of each partition, wherever the controller began.
    pub(crate) fn shown(&self, entry: &Entry, cluster: &Cluster) -> Value {
        let Record::Partition(partition) = &entry.record else {
            return entry.shown();
        };
        let replicas = &partition.replicas;
        let distinct: BTreeSet<i32> = replicas.iter().copied().collect();
        let racks: BTreeSet<Option<&str>> = replicas
            .iter()
            .filter_map(|id| cluster.broker(BrokerId(*id)))
            .map(|broker| broker.rack.as_deref())
            .collect();
        let leader = cluster.broker(BrokerId(partition.leader));
        json!({
            "partition": partition.partition_id,
            "replicas": distinct.len(),
            "racks": racks.len(),
            "leader is in service": leader.is_some_and(|broker| !broker.fenced),
            "leader is in sync": partition.isr.contains(&partition.leader),
            "epochs": [partition.leader_epoch, partition.partition_epoch],
        })
    }
}
