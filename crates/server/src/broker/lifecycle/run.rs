use std::sync::Arc;
use std::time::Duration;

use klamm_metadata::BrokerEpoch;
use klamm_protocol::messages::broker_registration::BrokerRegistrationRequest;
use klamm_protocol::{BrokerId, ErrorCode, Uuid, VersionRange};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::{Lifecycle, LifecycleError, Next, Stage, unsupported};
use crate::broker::{ControllerChannel, Published};

/// The pause after a registration that was refused for now.
const REGISTRATION_PAUSE: Duration = Duration::from_millis(100);

/// How long the records are waited for that say what a registration was refused for.
const FEATURES_TIMEOUT: Duration = Duration::from_secs(5);

/// What the rest of the broker tells the lifecycle, and the other way round.
#[derive(Clone, Debug)]
pub(in crate::broker) struct Signals {
    /// The stage that the broker is in.
    pub(in crate::broker) stage: watch::Sender<Stage>,
    /// Its epoch, once it has one.
    pub(in crate::broker) epoch: watch::Sender<Option<BrokerEpoch>>,
    /// Whether everything is there to serve clients.
    pub(in crate::broker) ready: watch::Sender<bool>,
    /// Whether it is to hand over what it leads, and stop.
    pub(in crate::broker) shutdown: watch::Sender<bool>,
}

impl Signals {
    pub(in crate::broker) fn new() -> Arc<Self> {
        Arc::new(Self {
            stage: watch::Sender::new(Stage::Registering),
            epoch: watch::Sender::new(None),
            ready: watch::Sender::new(false),
            shutdown: watch::Sender::new(false),
        })
    }
}

/// Keeps the controller informed, and the broker unfenced.
#[derive(Debug)]
pub(in crate::broker) struct Keeper {
    pub(in crate::broker) channel: ControllerChannel,
    pub(in crate::broker) signals: Arc<Signals>,
    /// What the broker acts on.
    pub(in crate::broker) published: watch::Receiver<Published>,
    /// Directories that have failed.
    pub(in crate::broker) offline_dirs: watch::Receiver<Vec<Uuid>>,
    pub(in crate::broker) registration: BrokerRegistrationRequest,
    pub(in crate::broker) supported: Vec<(&'static str, VersionRange)>,
    pub(in crate::broker) heartbeat_interval: Duration,
    pub(in crate::broker) session_timeout: Duration,
    pub(in crate::broker) registration_timeout: Duration,
}

impl Keeper {
    /// Runs until the broker has handed over what it led, or cannot go on.
    pub(in crate::broker) async fn run(mut self) -> Result<(), LifecycleError> {
        let id = BrokerId(self.registration.broker_id);
        let mut life = Lifecycle::new(id, self.heartbeat_interval);
        let mut shutdown = self.signals.shutdown.subscribe();
        tokio::select! {
            registered = self.register(&mut life) => registered?,
            // Nobody knows of it yet.
            _ = shutdown.wait_for(|wanted| *wanted) => life.shut_down(),
        }
        let mut ready = self.signals.ready.subscribe();
        let mut troubled = false;
        let mut pause = Duration::ZERO;
        while life.stage() != Stage::Stopped {
            // What happens meanwhile is told at once.
            tokio::select! {
                () = sleep(pause) => {}
                Ok(()) = shutdown.changed() => {}
                Ok(()) = ready.changed() => {}
                Ok(()) = self.offline_dirs.changed() => {}
            }
            if *ready.borrow_and_update() {
                life.ready();
            }
            if *shutdown.borrow_and_update() {
                life.shut_down();
            }
            if life.stage() == Stage::Stopped {
                break;
            }
            let end = self.published.borrow().end;
            let offline = self.offline_dirs.borrow_and_update().clone();
            let request = life.heartbeat(end, offline);
            let deadline = Instant::now() + self.session_timeout / 2;
            let next = match self.channel.ask(&request, deadline).await {
                Ok(response) => life.heard(&response),
                Err(error) => {
                    self.trouble(&mut troubled, id, &error);
                    pause = Duration::ZERO;
                    continue;
                }
            };
            pause = match next {
                Next::After(pause) => {
                    if std::mem::take(&mut troubled) {
                        tracing::info!(broker = id.0, "the controller answers heartbeats again");
                    }
                    pause
                }
                Next::Failed(code) => {
                    self.trouble(&mut troubled, id, &code);
                    self.heartbeat_interval
                }
                Next::Fatal(error) => return Err(error),
            };
            self.tell(&life);
        }
        self.tell(&life);
        Ok(())
    }

    async fn register(&mut self, life: &mut Lifecycle) -> Result<(), LifecycleError> {
        let id = BrokerId(self.registration.broker_id);
        let begun = Instant::now();
        let deadline = begun + self.registration_timeout;
        let mut refused: Option<ErrorCode> = None;
        loop {
            let last = match self.channel.ask(&self.registration, deadline).await {
                Ok(response) => match life.registered(&response) {
                    Next::After(_) => {
                        tracing::info!(broker = id.0, epoch = response.broker_epoch, "registered");
                        self.tell(life);
                        return Ok(());
                    }
                    Next::Failed(code) => refused.insert(code).to_string(),
                    Next::Fatal(error) => return Err(self.explained(error).await),
                },
                // That there was no time for the last try is not why the others failed.
                Err(error) => refused.map_or_else(|| error.to_string(), |code| code.to_string()),
            };
            tracing::debug!(broker = id.0, %last, "not registered yet");
            sleep(REGISTRATION_PAUSE).await;
            if Instant::now() >= deadline {
                return Err(LifecycleError::NotRegistered {
                    node: id,
                    after: begun.elapsed(),
                    last,
                });
            }
        }
    }

    /// Names the features that a registration was refused for, if it was for them.
    async fn explained(&mut self, error: LifecycleError) -> LifecycleError {
        let LifecycleError::Refused {
            code: ErrorCode::UNSUPPORTED_VERSION,
            ..
        } = error
        else {
            return error;
        };
        // The controller may have answered before the first of its records are here.
        let mut features = Vec::new();
        let found = self.published.wait_for(|published| {
            features = unsupported(published.image.features(), &self.supported);
            !features.is_empty()
        });
        match timeout(FEATURES_TIMEOUT, found).await {
            Ok(Ok(_)) => LifecycleError::Features(features),
            _ => error,
        }
    }

    fn trouble(&self, troubled: &mut bool, id: BrokerId, what: &dyn std::fmt::Display) {
        // Once is enough: the next line says that it is over.
        if !std::mem::replace(troubled, true) {
            tracing::warn!(broker = id.0, %what, "the controller takes no heartbeat");
        }
    }

    fn tell(&self, life: &Lifecycle) {
        self.signals.epoch.send_if_modified(|epoch| {
            let is_new = *epoch != life.epoch();
            *epoch = life.epoch();
            is_new
        });
        let id = self.registration.broker_id;
        self.signals.stage.send_if_modified(|stage| {
            let is_new = *stage != life.stage();
            if is_new {
                tracing::info!(broker = id, from = ?*stage, to = ?life.stage(), "stage");
            }
            *stage = life.stage();
            is_new
        });
    }
}
