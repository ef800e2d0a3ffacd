use std::collections::BTreeMap;
use std::time::Duration;

use klamm_metadata::{Broker, BrokerEpoch, Cluster};
use klamm_protocol::{BrokerId, Offset};

use crate::Now;

#[cfg(test)]
mod tests;

/// When each broker was last heard of. Only the active controller knows, and nobody writes it down.
///
/// A session belongs to one registration: that of an earlier one says nothing of the next.
#[derive(Clone, Debug)]
pub struct Sessions {
    timeout: Duration,
    brokers: BTreeMap<BrokerId, Session>,
}

#[derive(Clone, Copy, Debug)]
struct Session {
    epoch: BrokerEpoch,
    last_contact: Now,
    /// How far the broker has followed the metadata log; `None` before its first heartbeat.
    metadata_offset: Option<Offset>,
    /// The log's end when the broker handed over its partitions.
    shutdown_offset: Option<Offset>,
}

impl Sessions {
    /// The sessions of a controller that becomes active: every unfenced broker has a full one first,
    /// since none could be heard of before. A fenced one has none until it is.
    pub fn new(timeout: Duration, cluster: &Cluster, now: Now) -> Self {
        let mut sessions = Self {
            timeout,
            brokers: BTreeMap::new(),
        };
        for broker in cluster.brokers().filter(|broker| !broker.fenced) {
            sessions.registered(broker.id, broker.epoch, now);
        }
        sessions
    }

    /// A broker registered, or registered again.
    pub fn registered(&mut self, id: BrokerId, epoch: BrokerEpoch, now: Now) {
        let session = Session {
            epoch,
            last_contact: now,
            metadata_offset: None,
            shutdown_offset: None,
        };
        let known = self.brokers.entry(id).or_insert(session);
        if known.epoch != epoch {
            *known = session;
        }
        known.last_contact = now;
    }

    /// A heartbeat of a registered broker arrived.
    pub fn heard(&mut self, broker: &Broker, metadata_offset: Offset, now: Now) {
        self.registered(broker.id, broker.epoch, now);
        if let Some(session) = self.brokers.get_mut(&broker.id) {
            session.metadata_offset = Some(metadata_offset);
        }
    }

    /// A broker has handed over its partitions with the records up to an offset. The first such
    /// offset counts.
    pub fn handed_over(&mut self, id: BrokerId, offset: Offset) {
        if let Some(session) = self.brokers.get_mut(&id) {
            session.shutdown_offset.get_or_insert(offset);
        }
    }

    /// A broker is unregistered.
    pub fn unregistered(&mut self, id: BrokerId) {
        self.brokers.remove(&id);
    }

    /// Whether this registration of a broker, which may be fenced, has been heard of lately.
    pub fn is_valid(&self, broker: &Broker, now: Now) -> bool {
        self.valid_until(broker, now).is_some()
    }

    /// When the session of this registration of a broker ends, if it has not.
    pub(crate) fn valid_until(&self, broker: &Broker, now: Now) -> Option<Now> {
        self.end(broker).filter(|end| now <= *end)
    }

    /// How long this registration of a broker has not been heard of.
    pub fn unheard_for(&self, broker: &Broker, now: Now) -> Option<Duration> {
        let session = self.brokers.get(&broker.id)?;
        let is_its = session.epoch == broker.epoch;
        is_its.then(|| now.0.saturating_sub(session.last_contact.0))
    }

    /// The unfenced broker whose session ended first, if one has. Brokers are fenced one by one, so
    /// that each election knows of all those fenced before.
    pub fn stale<'a>(&self, cluster: &'a Cluster, now: Now) -> Option<&'a Broker> {
        let unfenced = cluster
            .brokers()
            .filter(|broker| !self.is_valid(broker, now) && !broker.fenced);
        unfenced.min_by_key(|broker| (self.end(broker), broker.id))
    }

    /// When [`Sessions::stale`] is to be asked next; `None` while no broker is unfenced.
    pub fn next_deadline(&self, cluster: &Cluster) -> Option<Now> {
        let unfenced = cluster.brokers().filter(|broker| !broker.fenced);
        let ends = unfenced.map(|broker| self.end(broker).unwrap_or_default());
        ends.min().map(|end| end.after(Duration::from_nanos(1)))
    }

    /// Whether a broker that has handed over its partitions may stop: every active broker knows.
    pub(crate) fn may_stop(&self, broker: &Broker, cluster: &Cluster) -> bool {
        let session = self.brokers.get(&broker.id);
        let Some(offset) = session.and_then(|session| session.shutdown_offset) else {
            return false;
        };
        let active = cluster.brokers().filter(|broker| broker.is_active());
        active.into_iter().all(|active| {
            let session = self.brokers.get(&active.id);
            session
                .and_then(|session| session.metadata_offset)
                .is_some_and(|at| at >= offset)
        })
    }

    fn end(&self, broker: &Broker) -> Option<Now> {
        let session = self.brokers.get(&broker.id)?;
        let is_its = session.epoch == broker.epoch;
        is_its.then(|| session.last_contact.after(self.timeout))
    }
}
