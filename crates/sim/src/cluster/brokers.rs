//! Scripted brokers on the observers: how they come, stay in touch with the controller, and go.

mod data;
mod faults;
mod isr;
mod publish;
mod requests;

use std::time::Duration;

use klamm_protocol::{BrokerId, Offset, Uuid};

use super::Cluster;
use super::controllers::follow;
use super::events::{Alarm, Event};
use crate::broker::{Broker, Errand, Run};

/// How often a broker looks at its clock.
const TICK: Duration = Duration::from_millis(80);

impl Cluster {
    /// A broker's process starts.
    pub(super) fn broker_starts(&mut self, id: BrokerId) {
        if !self.brokers.contains_key(&id) {
            return;
        }
        let incarnation = Uuid::from_bytes(self.rng.u128(..).to_be_bytes());
        let new_dir = Uuid::from_bytes((self.rng.u128(..) | 1 << 100).to_be_bytes());
        let life = self.nodes[&id].life;
        let Some(broker) = self.brokers.get_mut(&id) else {
            return;
        };
        let clean = broker.clean_stop.take();
        if clean.is_none() && !broker.failed.is_empty() {
            // Somebody has put in a new disk.
            broker.dirs.retain(|dir| !broker.failed.contains(dir));
            broker.dirs.push(new_dir);
            let dirs = &broker.dirs;
            broker
                .replicas
                .retain(|_, replica| dirs.contains(&replica.dir));
            broker.failed.clear();
        }
        for replica in broker.replicas.values_mut() {
            replica.known = None;
            replica.lead = None;
        }
        broker.run = Run {
            incarnation,
            previous_epoch: clean.unwrap_or(-1),
            ..Run::default()
        };
        let at = self.now + TICK;
        self.queue
            .push(at, Event::Alarm(Alarm::Broker { node: id, life }));
    }

    /// A broker has handed over everything, and stops.
    fn broker_stops(&mut self, id: BrokerId) {
        self.log(Some(id), "stops");
        self.report.stops += 1;
        if let Some(broker) = self.brokers.get_mut(&id) {
            broker.clean_stop = broker.run.epoch;
            for replica in broker.replicas.values_mut() {
                replica.log.flush();
            }
        }
        self.close_connections(id);
        if let Some(broker) = self.brokers.get_mut(&id) {
            broker.run = Run::default();
        }
        self.stop(id);
    }

    /// What a broker does in time.
    pub(super) fn broker_tick(&mut self, id: BrokerId, life: u64) {
        if self.nodes[&id].life != life || !self.is_up(id) {
            return;
        }
        let at = self.now + TICK;
        self.queue
            .push(at, Event::Alarm(Alarm::Broker { node: id, life }));
        let broker = &self.brokers[&id];
        if broker.run.epoch.is_none() {
            if !broker.is_out_on(Errand::Register) && broker.run.applied > Offset(0) {
                self.register(id);
            }
            return;
        }
        if broker.run.next_beat <= self.now && !broker.is_out_on(Errand::Beat) {
            self.beat(id);
        }
        if self.brokers[&id].is_ready() {
            self.assign_dirs(id);
            self.fetch_all(id);
            self.look_after_isrs(id);
        }
    }

    /// More of the metadata is committed, as far as a broker knows.
    pub(super) fn broker_follows(&mut self, id: BrokerId, offset: Offset) -> Result<(), String> {
        let disk = &self.nodes[&id].disk;
        let Some(broker) = self.brokers.get_mut(&id) else {
            return Ok(());
        };
        let run = &mut broker.run;
        follow(&mut run.loader, &mut run.applied, offset, |from| {
            disk.between(from, offset)
        })?;
        self.truth.holds(id, run.loader.image(), run.applied)?;
        self.publish(id);
        Ok(())
    }
}

impl Broker {
    /// A broker that never ran.
    pub(super) fn formatted(dirs: Vec<Uuid>) -> Self {
        Self {
            dirs,
            ..Self::default()
        }
    }
}
