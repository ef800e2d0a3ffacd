//! The metadata and the controller that changes it.

use std::collections::BTreeMap;

use klamm_metadata::{BrokerEpoch, LeaderRecoveryState, Partition};
use klamm_protocol::data::metadata::PartitionRecord;
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, PartitionEpoch};
use klamm_replica::{Brokers, CommittedIsr, ProposedIsr, Standing};

use crate::world::BROKERS;

/// The metadata: the partition and who is up.
pub(crate) struct Controller {
    pub(crate) leader: Option<BrokerId>,
    pub(crate) leader_epoch: LeaderEpoch,
    pub(crate) partition_epoch: PartitionEpoch,
    pub(crate) isr: Vec<BrokerId>,
    pub(crate) up: BTreeMap<BrokerId, BrokerEpoch>,
}

impl Brokers for Controller {
    fn standing(&self, broker: BrokerId) -> Option<Standing> {
        self.up.get(&broker).map(|epoch| Standing {
            epoch: *epoch,
            is_shutting_down: false,
        })
    }
}

impl Controller {
    pub(crate) fn partition(&self) -> Partition {
        let record = PartitionRecord {
            replicas: (0..BROKERS as i32).collect(),
            isr: self.isr.iter().map(|broker| broker.0).collect(),
            leader: self.leader.unwrap_or(BrokerId::NONE).0,
            leader_epoch: self.leader_epoch.0,
            partition_epoch: self.partition_epoch.0,
            ..Default::default()
        };
        Partition::from_record(&record).unwrap()
    }

    pub(crate) fn change(&mut self, leader: Option<BrokerId>) {
        self.partition_epoch.0 += 1;
        if leader != self.leader {
            self.leader = leader;
            self.leader_epoch.0 += 1;
        }
    }

    fn candidate(&self) -> Option<BrokerId> {
        let mut isr = self.isr.iter();
        isr.find(|broker| self.up.contains_key(broker)).copied()
    }

    pub(crate) fn crash(&mut self, broker: BrokerId) {
        self.up.remove(&broker);
        if self.isr.len() > 1 {
            self.isr.retain(|member| *member != broker);
        }
        let leader = self.leader.filter(|leader| *leader != broker);
        self.change(leader.or_else(|| self.candidate()));
    }

    pub(crate) fn alter(
        &mut self,
        from: BrokerId,
        wanted: &ProposedIsr,
    ) -> Result<CommittedIsr, ErrorCode> {
        if self.leader != Some(from) || wanted.leader_epoch != self.leader_epoch {
            return Err(ErrorCode::FENCED_LEADER_EPOCH);
        }
        if wanted.partition_epoch != self.partition_epoch {
            return Err(ErrorCode::INVALID_UPDATE_VERSION);
        }
        let eligible = wanted.isr.iter().all(|member| {
            let up = self.up.get(&member.broker);
            up.is_some_and(|up| member.epoch.is_none_or(|epoch| epoch == *up))
        });
        if !eligible {
            return Err(ErrorCode::INELIGIBLE_REPLICA);
        }
        self.isr = wanted.isr.iter().map(|member| member.broker).collect();
        self.change(self.leader);
        Ok(CommittedIsr {
            leader_epoch: self.leader_epoch,
            partition_epoch: self.partition_epoch,
            isr: self.isr.iter().copied().collect(),
            recovery: LeaderRecoveryState::Recovered,
        })
    }
}
