//! What the controller does when its time has come.

use std::time::Duration;

use klamm_controller::{
    Decision, MAX_ELECTIONS_PER_ROUND, Why, elect_leaderless, elect_uncleanly, fence, rebalance,
};
use klamm_metadata::Record;
use klamm_protocol::BrokerId;
use klamm_protocol::data::metadata::NoOpRecord;

use super::rounds::Due;
use super::{Active, CommitError, Controller};

impl Controller {
    pub(super) fn tick(&mut self) {
        let now = self.clock.now();
        self.quorum.tick(now.into());
        if let Some(mut active) = self.active()
            && let Err(error) = active.tick()
        {
            tracing::error!(%error, "what the controller does by itself failed");
        }
    }

    /// When [`Controller::tick`] has something to do for the active controller.
    pub(super) fn own_deadline(&self) -> Option<Duration> {
        let lead = self.lead.as_ref()?;
        let cluster = lead.image.cluster();
        let session = lead.sessions.next_deadline(cluster).map(|now| now.0);
        let lost = self.node.settings.connection_loss_grace;
        let grace = lost.and_then(|grace| Some(self.presence.first_lost()?.saturating_add(grace)));
        let waiting = lead.lost.values().map(|(_, end)| end.0);
        let rounds = lead.rounds.deadline();
        waiting.chain(session).chain(grace).chain([rounds]).min()
    }
}

impl Active<'_> {
    fn tick(&mut self) -> Result<(), CommitError> {
        self.fence_stale()?;
        self.fence_lost()?;
        self.make_up()?;
        while let Some(due) = self.lead.rounds.due(self.now.elapsed) {
            self.round(due)?;
        }
        Ok(())
    }

    /// Fences the brokers whose sessions are over.
    fn fence_stale(&mut self) -> Result<(), CommitError> {
        loop {
            let cluster = self.lead.image.cluster();
            let Some(broker) = self.lead.sessions.stale(cluster, self.moment()) else {
                return Ok(());
            };
            let id = broker.id;
            tracing::info!(broker = id.0, "session timed out; the broker is fenced");
            let decision = fence(&self.view()?, broker, Why::SessionTimedOut);
            let _ = self.commit(decision)?;
        }
    }

    /// Fences the brokers that have lost their connections and did not come back.
    fn fence_lost(&mut self) -> Result<(), CommitError> {
        let Some(grace) = self.node.settings.connection_loss_grace else {
            return Ok(());
        };
        let Some(since) = self.now.elapsed.checked_sub(grace) else {
            return Ok(());
        };
        let lost: Vec<BrokerId> = self.presence.lost_since(since).collect();
        for id in lost {
            self.presence.settled(id);
            let Some(broker) = self.lead.image.cluster().broker(id) else {
                continue;
            };
            if broker.fenced {
                continue;
            }
            tracing::info!(broker = id.0, "connections lost; the broker is fenced");
            let session_end = self
                .moment()
                .after(self.node.settings.broker_session_timeout);
            let epoch = broker.epoch;
            let decision = fence(&self.view()?, broker, Why::ConnectionLost);
            let _ = self.commit(decision)?;
            self.lead.lost.insert(id, (epoch, session_end));
        }
        Ok(())
    }

    /// Once the session of a broker that was fenced early is over, it is treated as any other:
    /// what could not be elected cleanly may be now.
    fn make_up(&mut self) -> Result<(), CommitError> {
        let now = self.moment();
        let over = |(_, end): &(_, klamm_controller::Now)| *end <= now;
        let ended: Vec<BrokerId> = self
            .lead
            .lost
            .iter()
            .filter(|(_, lost)| over(lost))
            .map(|(id, _)| *id)
            .collect();
        for id in ended {
            let lost = self.lead.lost.remove(&id);
            let broker = self.lead.image.cluster().broker(id);
            let is_same = lost
                .zip(broker)
                .is_some_and(|((epoch, _), broker)| broker.fenced && broker.epoch == epoch);
            if is_same {
                let decision = elect_leaderless(&self.view()?, Why::SessionTimedOut);
                let _ = self.commit(decision)?;
            }
        }
        Ok(())
    }

    fn round(&mut self, due: Due) -> Result<(), CommitError> {
        let decision = match due {
            Due::Rebalance => rebalance(&self.view()?, MAX_ELECTIONS_PER_ROUND),
            // While it is not certain that a broker is gone, its return may bring back what an
            // unclean election would lose.
            Due::Unclean if !self.lead.lost.is_empty() => Decision::answer(false),
            Due::Unclean => elect_uncleanly(&self.view()?, MAX_ELECTIONS_PER_ROUND),
            Due::Idle => {
                let no_op: Record = NoOpRecord::default().into();
                self.append(&[no_op], false)?;
                return Ok(());
            }
        };
        let has_more = self.commit(decision)?.response;
        if has_more {
            self.lead.rounds.go_on(due, self.now.elapsed);
        }
        Ok(())
    }
}
