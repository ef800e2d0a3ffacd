use std::collections::BTreeSet;

use klamm_metadata::{LeaderRecoveryState, Partition, Place, Replicas, Topic};
use klamm_protocol::messages::alter_partition::{
    AlterPartitionRequest, AlterPartitionResponse, BrokerState, RequestPartitionData,
    ResponsePartitionData, ResponseTopicData,
};
use klamm_protocol::{BrokerId, ErrorCode, PartitionIndex};

use crate::{Decision, View, WantedChange, Why};

#[cfg(test)]
mod tests;

/// From this version on, a request names the epoch of every broker in the new ISR.
const NAMES_BROKER_EPOCHS: i16 = 3;

/// A leader's request to change the ISR of partitions (KIP-497, KIP-841, KIP-903).
#[derive(Clone, Copy, Debug)]
pub struct AlterPartition<'a> {
    /// The request.
    pub request: &'a AlterPartitionRequest,
    /// Its version.
    pub version: i16,
}

/// A partition's new ISR, parsed.
struct NewIsr {
    brokers: Vec<BrokerState>,
    recovery: LeaderRecoveryState,
}

impl NewIsr {
    fn replicas(&self) -> Replicas {
        self.brokers
            .iter()
            .map(|broker| BrokerId(broker.broker_id))
            .collect()
    }
}

impl AlterPartition<'_> {
    /// Decides every partition on its own.
    pub fn decide(&self, view: &View<'_>) -> Decision<AlterPartitionResponse> {
        let request = self.request;
        let broker = view.image().cluster().broker(BrokerId(request.broker_id));
        if broker.is_none_or(|broker| broker.epoch.0 != request.broker_epoch) {
            return Decision::answer(AlterPartitionResponse {
                error_code: ErrorCode::STALE_BROKER_EPOCH.0,
                ..Default::default()
            });
        }
        let mut decision = Decision::answer(AlterPartitionResponse::default());
        let mut changed = BTreeSet::new();
        for asked in &request.topics {
            let topic = view.image().topics().by_id(asked.topic_id);
            let partitions = asked.partitions.iter().map(|partition| {
                let altered = match topic {
                    Some(topic) => self.alter(view, topic, partition, &mut changed, &mut decision),
                    None => Err(ErrorCode::UNKNOWN_TOPIC_ID),
                };
                altered.unwrap_or_else(|error| ResponsePartitionData {
                    partition_index: partition.partition_index,
                    error_code: error.0,
                    ..Default::default()
                })
            });
            let partitions = partitions.collect();
            decision.response.topics.push(ResponseTopicData {
                topic_id: asked.topic_id,
                partitions,
                ..Default::default()
            });
        }
        decision
    }

    fn alter<R>(
        &self,
        view: &View<'_>,
        topic: &Topic,
        asked: &RequestPartitionData,
        changed: &mut BTreeSet<Place>,
        decision: &mut Decision<R>,
    ) -> Result<ResponsePartitionData, ErrorCode> {
        let place = Place {
            topic: topic.id(),
            index: PartitionIndex(asked.partition_index),
        };
        let partition = topic.partition(place.index);
        let partition = partition.ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
        self.check_epochs(partition, asked)?;
        if changed.contains(&place) {
            // The partition's epoch is a later one since an earlier entry of this request.
            return Err(ErrorCode::INVALID_UPDATE_VERSION);
        }
        let new_isr = self.parse(view, partition, asked)?;
        let kind = view.automatic(topic, partition);
        let wanted = WantedChange::new(place, partition, view.rules(topic, kind));
        let wanted = wanted.isr(new_isr.replicas()).recovery(new_isr.recovery);
        let change = wanted.build(
            |broker| view.is_live(partition, broker),
            |broker| view.default_dir(broker),
        );
        let Some(change) = change else {
            return Ok(described(place.index, partition));
        };
        let after = partition.changed_by(&change.record);
        let after = after.map_err(|_| ErrorCode::UNKNOWN_SERVER_ERROR)?;
        let why = match partition.is_reassigning() && !after.is_reassigning() {
            true => Why::Reassignment,
            false => Why::IsrChanged,
        };
        decision.change(place, partition, change, why);
        changed.insert(place);
        // The change ended a reassignment, and the leader with it.
        match after.leader() == partition.leader() {
            true => Ok(described(place.index, &after)),
            false => Err(ErrorCode::NEW_LEADER_ELECTED),
        }
    }

    /// A leader that is ahead of this controller talks to one that is none any more.
    fn check_epochs(
        &self,
        partition: &Partition,
        asked: &RequestPartitionData,
    ) -> Result<(), ErrorCode> {
        let leader_epoch = partition.leader_epoch().0;
        let partition_epoch = partition.partition_epoch().0;
        if asked.leader_epoch > leader_epoch || asked.partition_epoch > partition_epoch {
            Err(ErrorCode::NOT_CONTROLLER)
        } else if asked.leader_epoch < leader_epoch {
            Err(ErrorCode::FENCED_LEADER_EPOCH)
        } else if partition.leader().0 != self.request.broker_id {
            Err(ErrorCode::INVALID_REQUEST)
        } else if asked.partition_epoch < partition_epoch {
            Err(ErrorCode::INVALID_UPDATE_VERSION)
        } else {
            Ok(())
        }
    }

    fn parse(
        &self,
        view: &View<'_>,
        partition: &Partition,
        asked: &RequestPartitionData,
    ) -> Result<NewIsr, ErrorCode> {
        let state = |id: &i32| BrokerState {
            broker_id: *id,
            ..Default::default()
        };
        let brokers = match self.version >= NAMES_BROKER_EPOCHS {
            true => asked.new_isr_with_epochs.clone(),
            false => asked.new_isr.iter().map(state).collect(),
        };
        let recovery = LeaderRecoveryState::from_wire(asked.leader_recovery_state);
        let recovery = recovery.ok_or(ErrorCode::INVALID_REQUEST)?;
        let new_isr = NewIsr { brokers, recovery };
        let replicas = new_isr.replicas();
        let mut sorted = replicas.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let recovering = recovery == LeaderRecoveryState::Recovering;
        // While it recovers, the leader alone is in sync; and it does not fall back into recovery.
        let is_valid = sorted.len() == replicas.len()
            && partition.replicas().contains_all(&replicas)
            && replicas.contains(&partition.leader())
            && !(recovering && replicas.len() > 1)
            && !(recovering && partition.recovery() == LeaderRecoveryState::Recovered);
        if !is_valid {
            return Err(ErrorCode::INVALID_REQUEST);
        }
        let cluster = view.image().cluster();
        let is_eligible = |state: &BrokerState| {
            let id = BrokerId(state.broker_id);
            let epoch = cluster.broker(id).map(|broker| broker.epoch.0);
            // -1 stands for a leader that does not know the epoch. It may not know either that the
            // replica's directory has failed since the replica had everything.
            let is_same_run = state.broker_epoch == -1 || epoch == Some(state.broker_epoch);
            is_same_run && view.is_live(partition, id)
        };
        match new_isr.brokers.iter().all(is_eligible) {
            true => Ok(new_isr),
            false => Err(ErrorCode::INELIGIBLE_REPLICA),
        }
    }
}

fn described(index: PartitionIndex, partition: &Partition) -> ResponsePartitionData {
    ResponsePartitionData {
        partition_index: index.0,
        leader_id: partition.leader().0,
        leader_epoch: partition.leader_epoch().0,
        isr: partition.isr().to_wire(),
        leader_recovery_state: partition.recovery().to_wire(),
        partition_epoch: partition.partition_epoch().0,
        ..Default::default()
    }
}
