use std::collections::BTreeMap;

use klamm_metadata::{Cluster, Partition};
use klamm_protocol::BrokerId;

use crate::Now;

#[cfg(test)]
mod tests;

/// Brokers that were fenced since they had lost their connections, before their sessions were over:
/// they may be alive, and have what nobody else has. Until their sessions would have ended that is not
/// given up; who is unfenced before, is awaited no longer.
#[derive(Clone, Debug, Default)]
pub struct Lost {
    /// When the session of each would end.
    brokers: BTreeMap<BrokerId, Now>,
}

impl Lost {
    /// Those of a controller that becomes active, where brokers are fenced early. It does not know
    /// since when a broker has been fenced: each may come back until a session would have ended.
    pub fn new(cluster: &Cluster, session_end: Now) -> Self {
        let mut lost = Self::default();
        for broker in cluster.brokers().filter(|broker| broker.fenced) {
            lost.add(broker.id, session_end);
        }
        lost
    }

    /// A broker is fenced early; its session would end then.
    pub fn add(&mut self, id: BrokerId, session_end: Now) {
        self.brokers.insert(id, session_end);
    }

    /// Forgets those who are back or gone, and those whose sessions are over by now. The answer is
    /// whether there were any: then there may be leaders to elect that could not be elected before
    /// ([`elect_leaderless`](crate::elect_leaderless)).
    pub fn end_sessions(&mut self, cluster: &Cluster, now: Now) -> bool {
        let before = self.brokers.len();
        self.brokers
            .retain(|id, end| is_fenced(cluster, *id) && *end > now);
        self.brokers.len() < before
    }

    /// When [`Lost::end_sessions`] is to be asked next.
    pub fn next_deadline(&self) -> Option<Now> {
        self.brokers.values().min().copied()
    }

    /// Whether a partition's records may be with one of them alone, other than the one that is
    /// coming back now.
    pub(crate) fn may_have(
        &self,
        cluster: &Cluster,
        partition: &Partition,
        coming: Option<BrokerId>,
    ) -> bool {
        let [isr, elr, last] = [partition.isr(), partition.elr(), partition.last_known_elr()];
        let mut members = isr.iter().chain(elr.iter()).chain(last.iter());
        members.any(|id| {
            self.brokers.contains_key(id) && is_fenced(cluster, *id) && coming != Some(*id)
        })
    }
}

/// Whether a broker is registered and has not come into service.
fn is_fenced(cluster: &Cluster, id: BrokerId) -> bool {
    cluster.broker(id).is_some_and(|broker| broker.fenced)
}
