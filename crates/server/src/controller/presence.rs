use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use klamm_controller::EarlierRun;
use klamm_metadata::BrokerEpoch;
use klamm_protocol::BrokerId;

/// A connection's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ConnectionId(pub(crate) u64);

/// A connection, as requests that came by it know it.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) id: ConnectionId,
    is_closed: Arc<AtomicBool>,
}

impl Peer {
    pub(crate) fn new(id: ConnectionId) -> Self {
        let is_closed = Arc::default();
        Self { id, is_closed }
    }

    /// Notes that the connection is gone: requests of it that wait claim nothing any more.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }
}

/// Which brokers have connections to this controller.
///
/// A broker's Fetch names it, but not its run; a heartbeat with the epoch of its registration comes
/// of that very run. What came after a broker had lost all connections may be another run of it, and so
/// may what came after this controller began, until a heartbeat says otherwise.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    connections: BTreeMap<ConnectionId, BrokerId>,
    brokers: BTreeMap<BrokerId, Present>,
}

#[derive(Debug, Default)]
struct Present {
    connections: BTreeMap<ConnectionId, Proof>,
    /// When the last connection was lost.
    lost_at: Option<Duration>,
    /// Whose the connections without a proof are.
    run: Run,
}

/// What is known of the run that has connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Run {
    /// Nothing since this controller began.
    #[default]
    Unknown,
    /// The broker has proven itself and had a connection ever since.
    Proven,
    /// The broker had lost all connections since.
    AfterLoss,
}

/// What is known of the run that a connection belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// Whatever run that is connected.
    Id,
    /// The run that registered with this epoch.
    Epoch(BrokerEpoch),
}

impl Presence {
    /// A request names the broker that it comes from, and perhaps the epoch of its registration.
    pub(crate) fn claim(&mut self, peer: &Peer, broker: BrokerId, epoch: Option<BrokerEpoch>) {
        if peer.is_closed.load(Ordering::Acquire) {
            return;
        }
        if let Some(other) = self.connections.insert(peer.id, broker)
            && other != broker
        {
            self.forget(peer.id, other, None);
        }
        let present = self.brokers.entry(broker).or_default();
        present.lost_at = None;
        let proof = present.connections.entry(peer.id).or_insert(Proof::Id);
        if let Some(epoch) = epoch {
            *proof = Proof::Epoch(epoch);
            present.run = Run::Proven;
        }
    }

    /// A connection is gone. Says whose last one it was.
    pub(crate) fn closed(&mut self, id: ConnectionId, now: Duration) -> Option<BrokerId> {
        let broker = self.connections.remove(&id)?;
        self.forget(id, broker, Some(now));
        let present = self.brokers.get(&broker)?;
        present.connections.is_empty().then_some(broker)
    }

    fn forget(&mut self, id: ConnectionId, broker: BrokerId, now: Option<Duration>) {
        if let Some(present) = self.brokers.get_mut(&broker) {
            present.connections.remove(&id);
            if present.connections.is_empty() {
                present.lost_at = now;
                present.run = Run::AfterLoss;
            }
        }
    }

    /// Whether the run of a broker that registered with an epoch still has a connection.
    pub(crate) fn run(&self, broker: BrokerId, epoch: BrokerEpoch) -> EarlierRun {
        let Some(present) = self.brokers.get(&broker) else {
            return EarlierRun::Gone;
        };
        let has = |wanted| present.connections.values().any(|proof| *proof == wanted);
        match present.run {
            _ if has(Proof::Epoch(epoch)) => EarlierRun::Connected,
            Run::Proven if has(Proof::Id) => EarlierRun::Connected,
            Run::Unknown if has(Proof::Id) => EarlierRun::Unknown,
            _ => EarlierRun::Gone,
        }
    }

    /// The brokers that have had no connection since a moment or longer.
    pub(crate) fn lost_since(&self, moment: Duration) -> impl Iterator<Item = BrokerId> {
        let lost = self.brokers.iter();
        let lost = lost.filter(move |(_, present)| present.lost_at.is_some_and(|at| at <= moment));
        lost.map(|(id, _)| *id)
    }

    /// When the first of the brokers without a connection lost it.
    pub(crate) fn first_lost(&self) -> Option<Duration> {
        let lost = self.brokers.values();
        lost.filter_map(|present| present.lost_at).min()
    }

    /// Takes note that a broker's loss was acted on. That it was lost stays known: what comes next
    /// may be another run of it.
    pub(crate) fn settled(&mut self, broker: BrokerId) {
        if let Some(present) = self.brokers.get_mut(&broker) {
            present.lost_at = None;
        }
    }

    /// Forgets a broker that is none, and has no connection.
    pub(crate) fn forgotten(&mut self, broker: BrokerId) {
        let present = self.brokers.get(&broker);
        if present.is_some_and(|present| present.connections.is_empty()) {
            self.brokers.remove(&broker);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BROKER: BrokerId = BrokerId(1);
    const EPOCH: BrokerEpoch = BrokerEpoch(5);

    fn peer(id: u64) -> Peer {
        Peer::new(ConnectionId(id))
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn lost(presence: &Presence, moment: u64) -> Vec<BrokerId> {
        presence.lost_since(seconds(moment)).collect()
    }

    #[test]
    fn a_broker_is_lost_with_its_last_connection() {
        let mut presence = Presence::default();
        presence.claim(&peer(1), BROKER, None);
        presence.claim(&peer(2), BROKER, Some(EPOCH));
        assert_eq!(presence.closed(ConnectionId(1), seconds(1)), None);
        assert_eq!(presence.closed(ConnectionId(2), seconds(2)), Some(BROKER));
        assert_eq!(presence.closed(ConnectionId(2), seconds(3)), None);
        assert_eq!(lost(&presence, 1), []);
        assert_eq!(lost(&presence, 2), [BROKER]);
        assert_eq!(presence.first_lost(), Some(seconds(2)));
        presence.settled(BROKER);
        assert_eq!(presence.first_lost(), None);
        presence.claim(&peer(3), BROKER, None);
        assert_eq!(presence.run(BROKER, EPOCH), EarlierRun::Gone, "after it");
    }

    #[test]
    fn who_is_forgotten_was_not_there() {
        let mut presence = Presence::default();
        presence.claim(&peer(1), BROKER, None);
        presence.forgotten(BROKER);
        assert_ne!(presence.run(BROKER, EPOCH), EarlierRun::Gone, "connected");
        presence.closed(ConnectionId(1), seconds(1));
        presence.forgotten(BROKER);
        assert_eq!(presence.first_lost(), None);
        presence.claim(&peer(2), BROKER, None);
        assert_eq!(presence.run(BROKER, EPOCH), EarlierRun::Unknown);
    }

    #[test]
    fn a_broker_that_comes_back_is_not_lost() {
        let mut presence = Presence::default();
        presence.claim(&peer(1), BROKER, None);
        presence.closed(ConnectionId(1), seconds(1));
        presence.claim(&peer(2), BROKER, None);
        assert_eq!(lost(&presence, 9), []);
    }

    #[test]
    fn a_fetch_proves_nothing_of_the_run() {
        let mut presence = Presence::default();
        assert_eq!(presence.run(BROKER, EPOCH), EarlierRun::Gone);
        presence.claim(&peer(1), BROKER, None);
        assert_eq!(presence.run(BROKER, EPOCH), EarlierRun::Unknown);
        presence.closed(ConnectionId(1), seconds(1));
        presence.claim(&peer(2), BROKER, None);
        assert_eq!(presence.run(BROKER, EPOCH), EarlierRun::Gone, "after it");
        presence.claim(&peer(3), BROKER, Some(EPOCH));
        assert_eq!(presence.run(BROKER, EPOCH), EarlierRun::Connected);
        presence.closed(ConnectionId(3), seconds(2));
        assert_eq!(presence.run(BROKER, EPOCH), EarlierRun::Connected);
        presence.closed(ConnectionId(2), seconds(3));
        assert_eq!(presence.run(BROKER, EPOCH), EarlierRun::Gone);
    }

    #[test]
    fn what_a_closed_connection_has_asked_claims_nothing() {
        let mut presence = Presence::default();
        let gone = peer(1);
        gone.close();
        presence.claim(&gone, BROKER, None);
        assert_eq!(presence.run(BROKER, EPOCH), EarlierRun::Gone);
    }

    #[test]
    fn a_connection_is_of_the_broker_that_it_named_last() {
        let mut presence = Presence::default();
        presence.claim(&peer(1), BROKER, None);
        presence.claim(&peer(1), BrokerId(2), None);
        assert_eq!(presence.run(BROKER, EPOCH), EarlierRun::Gone);
        assert_eq!(
            presence.closed(ConnectionId(1), seconds(1)),
            Some(BrokerId(2))
        );
        assert_eq!(lost(&presence, 1), [BrokerId(2)]);
    }
}
