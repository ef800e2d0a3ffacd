//! Brokers that are paused, and nodes that are parted.

use klamm_protocol::BrokerId;

use super::{CONTROLLER, EmbeddedCluster, EmbeddedError};

impl EmbeddedCluster {
    /// Pauses a broker that runs, as SIGSTOP does a process: its connections stay, and nothing comes and
    /// goes over them. Whoever asks it waits; for the controller its session ends.
    pub fn pause_broker(&mut self, id: BrokerId) -> Result<(), EmbeddedError> {
        self.set_paused(id, true)
    }

    /// Has a broker go on that was paused: it hears and says then what was on its way.
    pub fn resume_broker(&mut self, id: BrokerId) -> Result<(), EmbeddedError> {
        self.set_paused(id, false)
    }

    /// Parts two nodes, as a network does that loses every packet between them; one may be
    /// [`EmbeddedCluster::CONTROLLER`]. Clients reach both. It lasts until they are healed, whoever is
    /// started again meanwhile.
    pub fn part(&mut self, a: BrokerId, b: BrokerId) -> Result<(), EmbeddedError> {
        self.known_pair(a, b)?;
        self.links.part(a, b);
        Ok(())
    }

    /// Joins two nodes again.
    pub fn heal(&mut self, a: BrokerId, b: BrokerId) -> Result<(), EmbeddedError> {
        self.known_pair(a, b)?;
        self.links.heal(a, b);
        Ok(())
    }

    /// Joins all nodes that are parted. Brokers that are paused stay so.
    pub fn heal_all(&mut self) {
        self.links.heal_all();
    }

    pub(super) fn set_paused(
        &mut self,
        id: BrokerId,
        is_paused: bool,
    ) -> Result<(), EmbeddedError> {
        let broker = self.brokers.get(&id).ok_or(EmbeddedError::Unknown(id))?;
        if broker.node.is_none() {
            return Err(EmbeddedError::RunsNot(id));
        }
        broker.is_paused.send_replace(is_paused);
        self.links.pause(id, is_paused);
        Ok(())
    }

    fn known_pair(&self, a: BrokerId, b: BrokerId) -> Result<(), EmbeddedError> {
        let is_known = |id: &BrokerId| *id == CONTROLLER || self.brokers.contains_key(id);
        match [a, b].into_iter().find(|id| !is_known(id)) {
            Some(id) => Err(EmbeddedError::Unknown(id)),
            None if a == b => Err(EmbeddedError::Itself(a)),
            None => Ok(()),
        }
    }
}
