//! What befalls brokers.

use std::time::Duration;

use klamm_metadata::Place;
use klamm_protocol::{BrokerId, Uuid};

use crate::broker::Run;
use crate::cluster::Cluster;
use crate::cluster::events::Event;
use crate::data::DataLog;

impl Cluster {
    /// A broker's process is gone, with or without the power of its machine.
    pub(in crate::cluster) fn broker_crashes(&mut self, id: BrokerId) {
        if !self.brokers.contains_key(&id) {
            return;
        }
        self.close_connections(id);
        let power = self.broker_plan().power;
        let mut rng = self.rng.fork();
        let Some(broker) = self.brokers.get_mut(&id) else {
            return;
        };
        broker.run = Run::default();
        if rng.u32(..1_000) >= power {
            return;
        }
        let mut lost = Vec::new();
        for (place, replica) in &mut broker.replicas {
            if replica.log.lose(&mut rng) {
                replica.high_watermark = replica.high_watermark.min(replica.log.end());
                lost.push(*place);
            }
        }
        for place in lost {
            self.replica_lost(place);
        }
    }

    /// A replica has lost records. Without eligible leader replicas the last one in sync is elected
    /// whatever it has lost, and this one may become that although its leader has only asked for it.
    fn replica_lost(&mut self, place: Place) {
        self.report.lost += 1;
        if !self.truth.model.elr_enabled {
            self.truth.acknowledged.lost(place);
        }
    }

    /// All connections of a broker are reset; it makes new ones.
    pub(in crate::cluster) fn reset_one(&mut self) {
        let every = self.plan.brokers.as_ref().and_then(|plan| plan.reset_every);
        self.again(every, Event::Reset);
        let Some(id) = self.any_broker() else {
            return;
        };
        self.log(Some(id), "loses its connections");
        self.close_connections(id);
        let broker = self.brokers.get_mut(&id).expect("brokers stay");
        broker.run.open.clear();
        broker.run.next_beat = Duration::ZERO;
        self.raft_connections_lost(id);
    }

    /// A broker is asked to stop.
    pub(in crate::cluster) fn stop_one(&mut self) {
        let every = self.plan.brokers.as_ref().and_then(|plan| plan.stop_every);
        self.again(every, Event::Stop);
        if let Some(id) = self.any_broker() {
            self.log(Some(id), "is asked to stop");
            self.brokers
                .get_mut(&id)
                .expect("brokers stay")
                .run
                .stopping = true;
        }
    }

    /// A log directory of a broker fails, if it is not its last.
    pub(in crate::cluster) fn directory_fails(&mut self) {
        let every = self
            .plan
            .brokers
            .as_ref()
            .and_then(|plan| plan.directory_every);
        self.again(every, Event::DirectoryFails);
        let Some(id) = self.any_broker() else {
            return;
        };
        let broker = self.brokers.get_mut(&id).expect("brokers stay");
        let online: Vec<Uuid> = broker.online_dirs().collect();
        let &[dir, _, ..] = &online[..] else {
            return;
        };
        broker.failed.insert(dir);
        broker.run.next_beat = Duration::ZERO;
        let mut lost = Vec::new();
        for (place, replica) in &mut broker.replicas {
            if replica.dir == dir {
                replica.lead = None;
                replica.log = DataLog::default();
                lost.push(*place);
            }
        }
        self.log(Some(id), &format!("loses directory {dir}"));
        for place in lost {
            self.replica_lost(place);
        }
    }

    /// A broker that is up and registered, while there are faults.
    fn any_broker(&mut self) -> Option<BrokerId> {
        let up = self.brokers.iter().filter(|(id, broker)| {
            broker.run.epoch.is_some() && !broker.run.stopping && self.is_up(**id)
        });
        let up: Vec<BrokerId> = up.map(|(id, _)| *id).collect();
        if up.is_empty() || self.healed {
            return None;
        }
        Some(up[self.rng.usize(..up.len())])
    }
}
