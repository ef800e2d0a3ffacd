//! What has to be so once the faults have ended.

use std::time::Duration;

use klamm_metadata::Place;
use klamm_protocol::messages::create_topics::{CreatableTopic, CreateTopicsRequest};
use klamm_protocol::{BrokerId, LeaderEpoch, Offset};

use super::Cluster;
use crate::checker::State;

/// How long a healed cluster may take to commit a record on all of its nodes, and to settle.
const RECOVERY: Duration = Duration::from_secs(60);
/// How often it is looked at whether a cluster has settled.
const LOOK: Duration = Duration::from_millis(500);
/// The topic that is made last.
const LAST_TOPIC: &str = "last";

impl Cluster {
    /// Whatever the leader appends from now on has to get to every node.
    pub(super) fn recover_quorum(&mut self) {
        let ends = self.nodes.values().map(|node| node.disk.end().0);
        let target = Offset(ends.max().unwrap_or(0) + 1);
        let end = self.now + RECOVERY;
        let recovered = self.run_until(end, |cluster| {
            cluster.nodes.values().all(|node| {
                let raft = node.raft.as_ref();
                raft.and_then(|raft| raft.high_watermark()) >= Some(target)
            })
        });
        if !recovered && self.failed.is_none() {
            self.failed = Some(format!(
                "no recovery: offset {target} is not committed everywhere"
            ));
        }
    }

    /// Every broker comes back, every partition gets a leader that can, and all of them go home.
    pub(super) fn recover_cluster(&mut self) {
        let end = self.now + RECOVERY;
        self.wait(end, |cluster| cluster.unsettled());
        if self.failed.is_none() {
            self.log(None, "--- settled");
        }
        self.wait(end, |cluster| {
            let unsettled = cluster.unsettled().or_else(|| cluster.away());
            if unsettled.is_some() {
                cluster.ask_for_the_last();
            }
            unsettled
        });
        if self.failed.is_none() {
            let held = self.hold();
            self.fail_with(held);
        }
    }

    /// Runs until there is nothing left to say.
    fn wait(&mut self, end: Duration, left: impl Fn(&mut Self) -> Option<String>) {
        while self.failed.is_none()
            && let Some(what) = left(self)
        {
            if self.now >= end {
                self.failed = Some(format!("no recovery: {what}"));
            }
            let look = self.now + LOOK;
            self.run_until(look, |_| false);
        }
    }

    fn ask_for_the_last(&mut self) {
        if self.truth.image().topics().by_name(LAST_TOPIC).is_none() {
            let last = CreatableTopic {
                name: LAST_TOPIC.into(),
                num_partitions: 2,
                replication_factor: 3,
                ..Default::default()
            };
            let request = CreateTopicsRequest {
                topics: vec![last],
                ..Default::default()
            };
            self.client_sends(request.into());
        }
        self.elect_preferred();
    }

    /// What is not yet as it has to become.
    fn unsettled(&mut self) -> Option<String> {
        let end = self.truth.end;
        let ends = self.nodes.values().map(|node| node.disk.end());
        if ends.max() != Some(end) {
            return Some("records that are not committed".into());
        }
        let behind = self.nodes.iter().find(|(_, node)| {
            let raft = node.raft.as_ref();
            raft.and_then(|raft| raft.high_watermark()) != Some(end)
        });
        if let Some((id, _)) = behind {
            return Some(format!("{id} does not know what is committed"));
        }
        for (id, broker) in &self.brokers {
            if !broker.run.unfenced || !self.truth.model.is_active(id.0) || broker.run.stopping {
                return Some(format!("broker {id} is not back"));
            }
        }
        let model = &self.truth.model;
        for (place, state) in &model.partitions {
            if let Some(what) = self.incomplete(*place, state) {
                return Some(format!("{place} {what}: {state:?}"));
            }
        }
        None
    }

    fn incomplete(&self, place: Place, state: &State) -> Option<&'static str> {
        let model = &self.truth.model;
        if state.leader == -1 {
            return model.can_be_led(place, state).then_some("has no leader");
        }
        let is_live = |id: &&i32| model.is_live(state, **id);
        if state
            .replicas
            .iter()
            .filter(is_live)
            .any(|id| !state.isr.contains(id))
        {
            return Some("has live replicas that are not in sync");
        }
        let is_left = !state.adding.is_empty() || !state.removing.is_empty();
        let can_end = state.replicas.iter().all(|id| model.is_live(state, *id));
        (is_left && can_end).then_some("is still reassigned")
    }

    /// Who is not where it belongs.
    fn away(&mut self) -> Option<String> {
        if self.truth.image().topics().by_name(LAST_TOPIC).is_none() {
            return Some("the last topic is not there".into());
        }
        let model = &self.truth.model;
        let mut partitions = model.partitions.iter();
        let away = partitions.find(|(_, state)| {
            let preferred = state.replicas.first();
            preferred.is_some_and(|id| {
                *id != state.leader && state.isr.contains(id) && model.is_live(state, *id)
            })
        });
        away.map(|(place, state)| format!("{place} is not with its preferred leader: {state:?}"))
    }

    /// Holds everything to what was acknowledged.
    fn hold(&self) -> Result<(), String> {
        self.truth.over()?;
        self.answers
            .stand(&self.truth.model, |name| self.client.deletes.contains(name))?;
        let end = self.truth.end;
        for (id, broker) in &self.brokers {
            self.truth.holds(*id, broker.image(), broker.run.applied)?;
        }
        for (id, controller) in &self.controllers {
            match &controller.lead {
                Some(lead) => self.truth.holds(*id, &lead.image, end)?,
                None => self.truth.holds(*id, controller.standby.image(), end)?,
            }
        }
        for (place, state) in &self.truth.model.partitions {
            let epoch = LeaderEpoch(state.leader_epoch);
            for member in &state.isr {
                let broker = self.brokers.get(&BrokerId(*member));
                let replica = broker.and_then(|broker| broker.replicas.get(place));
                let replica = replica
                    .ok_or_else(|| format!("{place} is in sync on {member}, without data"))?;
                let held = self.truth.acknowledged.check(*place, epoch, &replica.log);
                held.map_err(|what| format!("{member}: {what}"))?;
            }
        }
        Ok(())
    }

    /// The checkers take over what a node has found to be committed.
    pub(super) fn more_is_committed(&mut self, id: BrokerId) -> Result<(), String> {
        if self.brokers.is_empty() {
            return Ok(());
        }
        self.truth.asked.now = self.now;
        let (from, to) = (self.truth.end, self.checker.end());
        for batch in self.nodes[&id].disk.between(from, to) {
            self.truth.committed(batch)?;
        }
        Ok(())
    }
}
