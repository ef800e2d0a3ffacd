use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use klamm_controller::EarlierRun;
use klamm_metadata::BrokerEpoch;
use klamm_protocol::BrokerId;

/// Which brokers have connections to a controller. A Fetch names the broker alone, a heartbeat also
/// the run of it.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    brokers: BTreeMap<BrokerId, Present>,
    /// Connections that are gone: what they have brought claims nothing any more.
    closed: BTreeSet<(BrokerId, u64)>,
}

#[derive(Debug, Default)]
struct Present {
    /// The connections, and the epoch of the run where one was told.
    connections: BTreeMap<u64, Option<BrokerEpoch>>,
    lost_at: Option<Duration>,
    /// Whether all connections were lost since the last epoch was told; `None` before the first.
    was_lost: Option<bool>,
}

impl Presence {
    /// A request came by a connection.
    pub(crate) fn claim(&mut self, broker: BrokerId, connection: u64, epoch: Option<BrokerEpoch>) {
        if self.closed.contains(&(broker, connection)) {
            return;
        }
        let present = self.brokers.entry(broker).or_default();
        present.lost_at = None;
        let known = present.connections.entry(connection).or_default();
        if epoch.is_some() {
            *known = epoch;
            present.was_lost = Some(false);
        }
    }

    /// A connection is gone.
    pub(crate) fn closed(&mut self, broker: BrokerId, connection: u64, now: Duration) {
        self.closed.insert((broker, connection));
        let Some(present) = self.brokers.get_mut(&broker) else {
            return;
        };
        if present.connections.remove(&connection).is_some() && present.connections.is_empty() {
            present.lost_at = Some(now);
            present.was_lost = Some(true);
        }
    }

    /// Whether the run of a broker that registered with an epoch still has a connection.
    pub(crate) fn run(&self, broker: BrokerId, epoch: BrokerEpoch) -> EarlierRun {
        let Some(present) = self.brokers.get(&broker) else {
            return EarlierRun::Gone;
        };
        let has = |wanted| present.connections.values().any(|told| *told == wanted);
        match (has(Some(epoch)), has(None), present.was_lost) {
            (true, _, _) | (_, true, Some(false)) => EarlierRun::Connected,
            (_, true, None) => EarlierRun::Unknown,
            (_, false, _) | (_, _, Some(true)) => EarlierRun::Gone,
        }
    }

    /// Takes the brokers that have had no connection since a moment or longer.
    pub(crate) fn take_lost(&mut self, since: Duration) -> Vec<BrokerId> {
        let lost = self.brokers.iter_mut();
        let lost = lost.filter(|(_, present)| present.lost_at.is_some_and(|at| at <= since));
        lost.map(|(id, present)| {
            present.lost_at = None;
            *id
        })
        .collect()
    }
}
