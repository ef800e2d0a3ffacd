use std::sync::Arc;

use tokio::sync::watch;

use super::call::BrokerService;
use super::feed::Feed;
use super::lifecycle::{Signals, Stage};
use super::{Published, Touched};
use crate::listener::{Bound, listen};

/// Hands on what the observer sees: first to the replicas, then to everything else.
#[derive(Debug)]
pub(super) struct Publisher {
    pub(super) feed: Feed,
    pub(super) published: watch::Sender<Published>,
    pub(super) signals: Arc<Signals>,
    pub(super) service: BrokerService,
    pub(super) listeners: Vec<Bound>,
    pub(super) closing: watch::Receiver<bool>,
}

impl Publisher {
    /// Runs until the broker stops.
    pub(super) async fn run(mut self) {
        self.catch_up().await;
        // Nothing of it may be served before the controller says that it is all that counts.
        let broker = Arc::clone(&self.service.0);
        let mut epoch = self.signals.epoch.subscribe();
        if let Ok(epoch) = epoch.wait_for(Option::is_some).await
            && let Some(epoch) = *epoch
        {
            broker.replicas.set_broker_epoch(epoch);
        }
        let known = broker.published();
        broker.replicas.publish(&known, &Touched::All).await;
        let listeners = std::mem::take(&mut self.listeners);
        let settings = &broker.settings.connections;
        listen(listeners, &self.service, settings, &self.closing);
        self.signals.ready.send_replace(true);
        loop {
            let (published, touched) = self.feed.next().await;
            if !touched.is_nothing() {
                broker.replicas.publish(&published, &touched).await;
            }
            self.published.send_replace(published);
        }
    }

    /// Notes what the observer has, for the heartbeats, until the controller finds it enough.
    async fn catch_up(&mut self) {
        let mut stage = self.signals.stage.subscribe();
        loop {
            tokio::select! {
                (published, _) = self.feed.next() => drop(self.published.send_replace(published)),
                _ = stage.wait_for(|stage| *stage >= Stage::Starting) => return,
            }
        }
    }
}
