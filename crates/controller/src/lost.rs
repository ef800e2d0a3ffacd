use std::collections::BTreeMap;

use klamm_metadata::{Broker, BrokerEpoch, Cluster, Partition};
use klamm_protocol::BrokerId;

use crate::Now;

#[cfg(test)]
mod tests;

/// Brokers that were fenced since they had lost their connections, before their sessions were over:
/// they may be alive, and have what nobody else has. Until their sessions would have ended that is not
/// given up.
#[derive(Clone, Debug, Default)]
pub struct Lost {
    brokers: BTreeMap<BrokerId, (BrokerEpoch, Now)>,
}

impl Lost {
    /// Those of a controller that becomes active, where brokers are fenced early. It does not know
    /// since when a broker has been fenced: each may come back until a session would have ended.
    pub fn new(cluster: &Cluster, session_end: Now) -> Self {
        let mut lost = Self::default();
        for broker in cluster.brokers().filter(|broker| broker.fenced) {
            lost.add(broker, session_end);
        }
        lost
    }

    /// A broker is fenced early; its session would end then.
    pub fn add(&mut self, broker: &Broker, session_end: Now) {
        self.brokers.insert(broker.id, (broker.epoch, session_end));
    }

    /// Forgets those whose sessions are over by now. The answer is whether one of them did not come
    /// back: then there may be leaders to elect that could not be elected before
    /// ([`elect_leaderless`](crate::elect_leaderless)).
    pub fn end_sessions(&mut self, cluster: &Cluster, now: Now) -> bool {
        let mut has_ended = false;
        self.brokers.retain(|id, (epoch, end)| {
            let is_same = |broker: &Broker| broker.fenced && broker.epoch == *epoch;
            let is_awaited = cluster.broker(*id).is_some_and(is_same);
            has_ended |= is_awaited && *end <= now;
            is_awaited && *end > now
        });
        has_ended
    }

    /// When [`Lost::end_sessions`] is to be asked next.
    pub fn next_deadline(&self) -> Option<Now> {
        self.brokers.values().map(|(_, end)| *end).min()
    }

    /// Whether a partition's records may be with one of them alone.
    pub(crate) fn may_have(&self, partition: &Partition) -> bool {
        let [isr, elr, last] = [partition.isr(), partition.elr(), partition.last_known_elr()];
        let mut members = isr.iter().chain(elr.iter()).chain(last.iter());
        members.any(|id| self.brokers.contains_key(id))
    }
}
