//! A controller node: its files, its task, its listeners.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use klamm_log::{LockError, LogError};
use klamm_metadata::Controller as ControllerRegistration;
use klamm_net::ServerAddress;
use klamm_protocol::BrokerId;
use klamm_raft::Endpoint;
use thiserror::Error;
use tokio::sync::{mpsc, oneshot, watch};

use crate::apis::ControllerService;
use crate::clock::Clock;
use crate::controller::{Controller, Fatal, channels};
use crate::endpoint::Endpoint as HttpEndpoint;
use crate::features::supported_features;
use crate::listener::{Bound, listen};
use crate::machine::random_id;
use crate::parts::{Home, PLAINTEXT, bind, endpoints, open_store, raft_settings, static_voters};
use crate::quorum::{Quorum, StoreError};
use crate::replicas::OpenError;
use crate::settings::ControllerSettings;

/// What the parts of a node know of it.
#[derive(Clone, Debug)]
pub(crate) struct NodeInfo {
    /// The cluster's id.
    pub(crate) cluster_id: String,
    /// What the cluster is told of this node.
    pub(crate) registration: ControllerRegistration,
    /// The configuration.
    pub(crate) settings: ControllerSettings,
}

/// A node cannot be started.
#[derive(Debug, Error)]
pub enum StartError {
    /// The directory cannot be used.
    #[error("{}: {source}; check metadata.log.dir and log.dirs", path.display())]
    Dir {
        /// The directory.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// The directory is another process's.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A small file cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The directory is not formatted.
    #[error("{} is not formatted: run klamm format first", .0.display())]
    NotFormatted(PathBuf),
    /// The directory is of another node.
    #[error(
        "{} was formatted for node {found}, and node.id is {node_id}; use the directory's own \
         node.id, or another directory",
        path.display()
    )]
    OtherNode {
        /// The directory.
        path: PathBuf,
        /// Whose it is.
        found: BrokerId,
        /// Who would use it.
        node_id: BrokerId,
    },
    /// The directory is of another cluster than the others.
    #[error(
        "{} was formatted for cluster {found}, and the other directories for {expected}; give the \
         node directories of one cluster",
        path.display()
    )]
    OtherCluster {
        /// The directory.
        path: PathBuf,
        /// Whose it is.
        found: String,
        /// Whose the others are.
        expected: String,
    },
    /// The directory has no id, which a version before 3.7 did not give it.
    #[error(
        "{}: meta.properties has no directory.id; start Apache Kafka 3.7 or later on it once, \
         which adds one",
        .0.display()
    )]
    NoDirectoryId(PathBuf),
    /// The metadata log cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No log directory of a broker can be used.
    #[error(transparent)]
    Replicas(#[from] OpenError),
    /// No listener is configured.
    #[error("the node has no listener; set listeners, and controller.listener.names with it")]
    NoListener,
    /// The listener's port cannot be had.
    #[error("listener {name} cannot listen on {address}: {source}; check listeners")]
    Bind {
        /// The listener.
        name: String,
        /// Its address.
        address: ServerAddress,
        /// What the operating system says.
        source: io::Error,
    },
    /// The quorum has other voters, and klamm cannot be one of several yet.
    #[error(
        "the metadata quorum has the voters {voters:?}, and node {node_id} is to be one of them; \
         this release of klamm runs as the only voter"
    )]
    NotAlone {
        /// The voters.
        voters: Vec<i32>,
        /// This node.
        node_id: BrokerId,
    },
    /// The port that is to tell of the node cannot be had.
    #[error("klamm.http.listener cannot listen on {address}: {source}; give another port")]
    BindHttp {
        /// Its address.
        address: ServerAddress,
        /// What the operating system says.
        source: io::Error,
    },
    /// A thread cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
}

impl StartError {
    /// Whether the disk refuses a directory, rather than what is in it being wrong.
    pub(crate) fn is_of_the_disk(&self) -> bool {
        matches!(
            self,
            Self::Dir { .. } | Self::Lock(LockError::Io { .. }) | Self::Log(LogError::Io { .. })
        )
    }
}

/// A controller that runs.
#[derive(Debug)]
pub struct ControllerNode {
    addresses: Vec<SocketAddr>,
    http_address: Option<SocketAddr>,
    stop: Option<oneshot::Sender<()>>,
    closing: watch::Sender<bool>,
    thread: Option<JoinHandle<Result<(), Fatal>>>,
    ended: oneshot::Receiver<()>,
    _home: Home,
}

impl ControllerNode {
    /// Starts a controller on a formatted directory. Must be called within a tokio runtime.
    ///
    /// When this returns it listens; it is active as soon as the quorum has elected it.
    pub async fn start(settings: ControllerSettings) -> Result<Self, StartError> {
        let home = Home::open(&settings.node.metadata_log_dir, settings.node.id)?;
        let (store, mut start) = open_store(&home, settings.metadata_log.options)?;
        let listeners = &settings.node.controller_listeners;
        let bound = bind(listeners, settings.connections.listen_backlog).await?;
        let http = HttpEndpoint::bind(&settings).await?;
        let endpoints = endpoints(listeners, &bound);
        start.static_voters = static_voters(&settings.node, &endpoints[0].0);
        let raft = klamm_raft::Settings {
            listener: endpoints[0].0.clone(),
            endpoints: endpoints.iter().cloned().collect(),
            ..raft_settings(&settings.node, &home)
        };
        let clock = Clock::start();
        let (disk_events, disk) = mpsc::unbounded_channel();
        let now = clock.now();
        let quorum = Quorum::start(raft, start, Arc::new(store), disk_events, now.into());
        let quorum = quorum.map_err(StartError::Thread)?;
        let voters = quorum.raft().voters();
        if !voters.iter().all(|voter| voter.key.id == settings.node.id) || voters.is_empty() {
            return Err(StartError::NotAlone {
                voters: voters.iter().map(|voter| voter.key.id.0).collect(),
                node_id: settings.node.id,
            });
        }

        let node = Arc::new(NodeInfo {
            cluster_id: home.meta.cluster_id.clone(),
            registration: registration(&settings, &endpoints),
            settings,
        });
        let (stop, stopped) = oneshot::channel();
        let (handle, inputs) = channels(clock, disk, stopped);
        let controller = Controller::new(clock, Arc::clone(&node), quorum);
        let (ended, has_ended) = oneshot::channel();
        let thread = std::thread::Builder::new().name("klamm-controller".into());
        let thread = thread.spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .build()
                .expect("a runtime with a timer needs no resource of the system");
            let outcome = runtime.block_on(controller.run(inputs));
            // The node may be gone already.
            let _ = ended.send(());
            outcome
        });
        let thread = thread.map_err(StartError::Thread)?;
        let (closing, is_closing) = watch::channel(false);
        let addresses = bound.iter().map(Bound::address).collect();
        let http_address = http.as_ref().map(Bound::address);
        let service = ControllerService(handle.clone());
        let listeners = listen(bound, &service, &node.settings.connections, &is_closing);
        if let Some(http) = http {
            let endpoint = HttpEndpoint::new(handle, listeners);
            tokio::spawn(endpoint.serve(http, is_closing));
        }
        Ok(Self {
            addresses,
            http_address,
            stop: Some(stop),
            closing,
            thread: Some(thread),
            ended: has_ended,
            _home: home,
        })
    }

    /// The addresses that the listeners are bound to, in the order of the settings.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The address that the node tells of itself on, if it does.
    pub fn http_address(&self) -> Option<SocketAddr> {
        self.http_address
    }

    /// Waits until the controller stops by itself, and says why.
    pub async fn failed(&mut self) -> Result<(), Fatal> {
        // The sender is dropped when the thread is gone.
        let _ = (&mut self.ended).await;
        self.join()
    }

    /// Stops: no more connections, and everything that was written is on the disk.
    pub fn stop(mut self) -> Result<(), Fatal> {
        self.end()
    }

    fn end(&mut self) -> Result<(), Fatal> {
        let _ = self.closing.send(true);
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        self.join()
    }

    fn join(&mut self) -> Result<(), Fatal> {
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(outcome)) => outcome,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for ControllerNode {
    fn drop(&mut self) {
        // Who wants to know the outcome calls `stop`.
        let _ = self.end();
    }
}

fn registration(
    settings: &ControllerSettings,
    endpoints: &[(String, Endpoint)],
) -> ControllerRegistration {
    let listener = |(name, endpoint): &(String, Endpoint)| {
        let endpoint = klamm_metadata::Endpoint {
            host: endpoint.host.as_str().into(),
            port: endpoint.port,
            security_protocol: PLAINTEXT,
        };
        (name.as_str().into(), endpoint)
    };
    let features = supported_features();
    ControllerRegistration {
        id: settings.node.id,
        incarnation: random_id(),
        zk_migration_ready: false,
        listeners: endpoints.iter().map(listener).collect(),
        features: features.map(|(name, range)| (name.into(), range)).collect(),
    }
}
