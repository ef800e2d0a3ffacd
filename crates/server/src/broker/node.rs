use std::net::SocketAddr;
use std::time::Duration;

use thiserror::Error;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::lifecycle::{LifecycleError, Stage};
use super::starting::{Network, ObserverThread, Parts, start};
use crate::node::StartError;
use crate::quorum::StoreError;
use crate::settings::BrokerSettings;

/// How long tasks that hold files are waited for at the end.
const END_TIMEOUT: Duration = Duration::from_secs(30);

/// Connections and fetchers read and write files as they go, which takes no longer than copying to
/// and from memory, most of the time: handing each over to another thread would cost more than that
/// twice over. Where a disk is slow, others of these threads go on.
const MIN_WORKERS: usize = 4;

/// Why a broker stops by itself.
#[derive(Debug, Error)]
pub enum BrokerFatal {
    /// The files of the metadata log are of no use any more.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The controller does not want it.
    #[error(transparent)]
    Lifecycle(#[from] LifecycleError),
}

/// A broker that runs, on threads of its own.
///
/// One that is dropped ends as a crash would end it: nothing is handed over, and its directories are
/// not marked as clean.
#[derive(Debug)]
pub struct BrokerNode {
    shutdown_timeout: Option<Duration>,
    parts: Parts,
    /// Gone when the node has ended.
    runtime: Option<Runtime>,
}

impl BrokerNode {
    /// Starts a broker on formatted directories. Must be called within a tokio runtime.
    ///
    /// When this returns, its ports are taken and its logs are open. [`BrokerNode::ready`] waits until
    /// it serves.
    pub async fn start(settings: BrokerSettings) -> Result<Self, StartError> {
        Self::start_on(settings, Network::default()).await
    }

    /// The same on another network.
    pub(crate) async fn start_on(
        settings: BrokerSettings,
        network: Network,
    ) -> Result<Self, StartError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .thread_name("klamm-broker")
            .worker_threads(cores.max(MIN_WORKERS))
            .enable_all()
            .build()
            .map_err(StartError::Thread)?;
        let shutdown_timeout = settings.controlled_shutdown;
        match runtime.spawn(start(settings, network)).await {
            Ok(Ok(parts)) => Ok(Self {
                shutdown_timeout,
                parts,
                runtime: Some(runtime),
            }),
            Ok(Err(error)) => {
                runtime.shutdown_background();
                Err(error)
            }
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    /// The addresses that the listeners are bound to, in the order of the settings.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.parts.addresses
    }

    /// Waits until the broker serves, or cannot.
    pub async fn ready(&mut self) -> Result<(), BrokerFatal> {
        let mut stage = self.parts.signals.stage.subscribe();
        tokio::select! {
            _ = stage.wait_for(|stage| *stage >= Stage::Running) => Ok(()),
            failed = self.failed() => failed,
        }
    }

    /// Waits until the broker stops by itself, and says why.
    pub async fn failed(&mut self) -> Result<(), BrokerFatal> {
        tokio::select! {
            kept = &mut self.parts.keeper.ended => match kept {
                Ok(kept) => Ok(kept?),
                // The node has closed.
                Err(_) => Ok(()),
            },
            _ = &mut self.parts.observed => Ok(self.join_observer()?),
        }
    }

    /// Stops: others lead what this broker led, if they are there in time, and everything that was
    /// written is on the disk.
    pub async fn stop(mut self) -> Result<(), BrokerFatal> {
        if let Some(limit) = self.shutdown_timeout {
            self.parts.signals.shutdown.send_replace(true);
            match timeout(limit, self.failed()).await {
                Ok(stopped) => stopped?,
                Err(_) => tracing::warn!(
                    "others do not lead yet what this broker led; it stops all the same"
                ),
            }
        }
        let _ = self.parts.closing.send(true);
        let replicas = self.parts.replicas.clone();
        if let Some(runtime) = &self.runtime {
            // The replicas' own tasks are there.
            let closed = runtime.spawn(replicas.close());
            if let Err(error) = closed.await
                && error.is_panic()
            {
                std::panic::resume_unwind(error.into_panic());
            }
        }
        let observed = self.join_observer();
        self.end().await;
        Ok(observed?)
    }

    /// Ends as a crash would end it, and waits until nothing of it runs any more.
    pub async fn kill(mut self) {
        let _ = self.parts.closing.send(true);
        // What it has to say does not count any more.
        let _ = self.join_observer();
        self.end().await;
    }

    async fn end(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            let keeper = self.parts.keeper.thread.take();
            let ended = tokio::task::spawn_blocking(|| {
                if let Some(keeper) = keeper {
                    // A panic has been told.
                    let _ = keeper.join();
                }
                runtime.shutdown_timeout(END_TIMEOUT);
            });
            // It does not panic.
            let _ = ended.await;
        }
    }

    fn join_observer(&mut self) -> Result<(), StoreError> {
        let Some(ObserverThread { stop, thread }) = self.parts.observer.take() else {
            return Ok(());
        };
        let _ = stop.send(());
        match thread.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for BrokerNode {
    fn drop(&mut self) {
        let _ = self.parts.closing.send(true);
        if let Some(ObserverThread { stop, .. }) = self.parts.observer.take() {
            let _ = stop.send(());
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
