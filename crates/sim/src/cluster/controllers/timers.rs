//! What a controller does by itself.

use klamm_controller::{
    ControllerConfig, Decision, MAX_ELECTIONS_PER_ROUND, Now, Why, elect_leaderless,
    elect_uncleanly, fence, rebalance,
};
use klamm_protocol::BrokerId;

use super::TICK;
use crate::cluster::Cluster;
use crate::cluster::events::{Alarm, Event};

impl Cluster {
    /// What an active controller does by itself.
    pub(in crate::cluster) fn controller_tick(&mut self, id: BrokerId, life: u64) {
        if self.nodes[&id].life != life || self.lead(id).is_none() {
            return;
        }
        self.queue.push(
            self.now + TICK,
            Event::Alarm(Alarm::Controller { node: id, life }),
        );
        let done = self.fence_and_elect(id);
        self.fail_with(done);
    }

    fn fence_and_elect(&mut self, id: BrokerId) -> Result<(), String> {
        let now = Now(self.now);
        let config = self.config(id);
        let grace = self.broker_plan().grace;
        let session = self.broker_plan().session;
        while let Some(lead) = self.lead(id) {
            let Some(view) = lead.view(&config) else {
                return Ok(());
            };
            let Some(broker) = lead.sessions.stale(lead.image.cluster(), now) else {
                break;
            };
            let decision = fence(&view, broker, Why::SessionTimedOut);
            self.report.fenced += 1;
            self.carry(id, decision)?;
        }
        let since = grace.and_then(|grace| self.now.checked_sub(grace));
        let lost = since.zip(self.lead(id));
        for broker in lost.map_or_else(Vec::new, |(since, lead)| lead.presence.take_lost(since)) {
            self.fence_lost(id, broker, &config, now.after(session))?;
        }
        if let Some(lead) = self.lead(id)
            && lead.lost.end_sessions(lead.image.cluster(), now)
            && let Some(view) = lead.view(&config)
        {
            let decision = elect_leaderless(&view, Why::SessionTimedOut);
            self.carry(id, decision)?;
        }
        self.rounds(id, &config)
    }

    fn fence_lost(
        &mut self,
        id: BrokerId,
        broker: BrokerId,
        config: &ControllerConfig,
        end: Now,
    ) -> Result<(), String> {
        let Some(lead) = self.lead(id) else {
            return Ok(());
        };
        let known = lead.image.cluster().broker(broker);
        let Some(known) = known.filter(|known| !known.fenced) else {
            return Ok(());
        };
        let Some(view) = lead.view(config) else {
            return Ok(());
        };
        let decision = fence(&view, known, Why::ConnectionLost);
        let epoch = known.epoch;
        lead.lost.add(known.id, end);
        let uncertain = &mut self.truth.asked.uncertain;
        uncertain.insert(broker.0, (epoch.0, end.0));
        self.report.fenced += 1;
        self.carry(id, decision)
    }

    fn rounds(&mut self, id: BrokerId, config: &ControllerConfig) -> Result<(), String> {
        let (rebalance_every, unclean_every) = {
            let plan = self.broker_plan();
            (plan.rebalance_every, plan.unclean_every)
        };
        let now = self.now;
        let Some(lead) = self.lead(id) else {
            return Ok(());
        };
        if let Some(every) = rebalance_every
            && lead.rebalance_at.is_some_and(|at| at <= now)
        {
            lead.rebalance_at = Some(now + every);
            if let Some(view) = lead.view(config) {
                let decision = rebalance(&view, MAX_ELECTIONS_PER_ROUND);
                self.carry(id, decision)?;
            }
        }
        let Some(lead) = self.lead(id).filter(|lead| lead.unclean_at <= now) else {
            return Ok(());
        };
        lead.unclean_at = now + unclean_every;
        if let Some(view) = lead.view(config) {
            let decision = elect_uncleanly(&view, MAX_ELECTIONS_PER_ROUND);
            self.carry(id, decision)?;
        }
        Ok(())
    }

    fn carry<R>(&mut self, id: BrokerId, decision: Decision<R>) -> Result<(), String> {
        self.append(id, &decision.records, decision.atomic)
            .map(|_| ())
    }
}
