//! What the controller does when its time has come.

use std::time::Duration;

use klamm_controller::{
    MAX_ELECTIONS_PER_ROUND, Why, elect_leaderless, elect_uncleanly, fence, rebalance,
    remove_expired_tokens,
};
use klamm_metadata::Record;
use klamm_protocol::BrokerId;
use klamm_protocol::data::metadata::NoOpRecord;

use super::rounds::Due;
use super::{Active, CommitError, Controller};

impl Controller {
    /// Does what its time has come for; as the active controller only where no request waits, since
    /// a broker whose heartbeat does is alive.
    pub(super) fn tick(&mut self, is_drained: bool) {
        let now = self.clock.now();
        self.quorum.tick(now.into());
        if !is_drained {
            return;
        }
        if let Some(mut active) = self.active()
            && let Err(error) = active.tick()
        {
            tracing::error!(%error, "what the controller does by itself failed");
        }
        self.make_snapshot();
    }

    /// Makes a snapshot, if one is due and all that is to be in it is committed.
    fn make_snapshot(&mut self) {
        let now = self.clock.now();
        let Some(lead) = &mut self.lead else {
            return;
        };
        if !lead.pace.begin(now.elapsed) {
            return;
        }
        let image = lead.image.freeze();
        let settings = &self.node.settings.metadata_log;
        let (end, making) = self.quorum.snapshot(image, settings, now.timestamp_ms);
        self.park(end, move |is_committed| {
            if is_committed {
                making.start();
            }
        });
    }

    /// When [`Controller::tick`] has something to do for the active controller.
    pub(super) fn own_deadline(&self) -> Option<Duration> {
        let lead = self.lead.as_ref()?;
        let cluster = lead.image.cluster();
        let session = lead.sessions.next_deadline(cluster).map(|now| now.0);
        let lost = self.node.settings.connection_loss_grace;
        let grace = lost.and_then(|grace| Some(self.presence.first_lost()?.saturating_add(grace)));
        let awaited = lead.lost.next_deadline().map(|now| now.0);
        let rounds = lead.rounds.deadline();
        let snapshot = lead.pace.deadline();
        let others = [session, grace, awaited, snapshot].into_iter().flatten();
        others.chain([rounds]).min()
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
                self.presence.forgotten(id);
                continue;
            };
            if broker.fenced {
                continue;
            }
            tracing::info!(broker = id.0, "connections lost; the broker is fenced");
            // Its last heartbeat was some time before; to wait a little longer does no harm.
            let session_end = self
                .moment()
                .after(self.node.settings.broker_session_timeout);
            let broker = broker.clone();
            let decision = fence(&self.view()?, &broker, Why::ConnectionLost);
            let _ = self.commit(decision)?;
            self.lead.lost.add(id, session_end);
        }
        Ok(())
    }

    /// Once the session of a broker that was fenced early is over, it is treated as any other: what
    /// could not be elected cleanly may be now.
    fn make_up(&mut self) -> Result<(), CommitError> {
        let now = self.moment();
        if self.lead.lost.end_sessions(self.lead.image.cluster(), now) {
            let decision = elect_leaderless(&self.view()?, Why::SessionTimedOut);
            let _ = self.commit(decision)?;
        }
        Ok(())
    }

    fn round(&mut self, due: Due) -> Result<(), CommitError> {
        let decision = match due {
            Due::Rebalance => rebalance(&self.view()?, MAX_ELECTIONS_PER_ROUND),
            Due::Unclean => elect_uncleanly(&self.view()?, MAX_ELECTIONS_PER_ROUND),
            Due::Tokens => remove_expired_tokens(&self.view()?, self.now.timestamp_ms),
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
