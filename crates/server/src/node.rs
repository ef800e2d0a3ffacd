//! A controller node: its files, its task, its listeners.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use klamm_log::{DirLock, LockError, LogError, MetaProperties, OsDir};
use klamm_metadata::Controller as ControllerRegistration;
use klamm_net::ServerAddress;
use klamm_protocol::{BrokerId, Uuid};
use klamm_raft::{Endpoint, Endpoints, ReplicaKey, Voter, VoterSet};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot, watch};

use crate::clock::Clock;
use crate::controller::{Controller, Fatal, Handle, channels};
use crate::endpoint::Endpoint as HttpEndpoint;
use crate::features::{KRAFT_VERSIONS, supported_features};
use crate::listener::{Bound, Limits};
use crate::machine::{host_name, random_id};
use crate::quorum::{METADATA_DIR, Opened, Quorum, Store, StoreError};
use crate::settings::{self, ControllerSettings, Listener};

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
    /// No listener for controllers is configured.
    #[error("controller.listener.names names no listener; set it, and listeners with it")]
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

/// A controller that runs.
#[derive(Debug)]
pub struct ControllerNode {
    addresses: Vec<SocketAddr>,
    http_address: Option<SocketAddr>,
    stop: Option<oneshot::Sender<()>>,
    closing: watch::Sender<bool>,
    thread: Option<JoinHandle<Result<(), Fatal>>>,
    ended: oneshot::Receiver<()>,
    _lock: DirLock,
}

impl ControllerNode {
    /// Starts a controller on a formatted directory. Must be called within a tokio runtime.
    ///
    /// When this returns it listens; it is active as soon as the quorum has elected it.
    pub async fn start(settings: ControllerSettings) -> Result<Self, StartError> {
        let root = settings.node.metadata_log_dir.clone();
        let dir_error = |source| StartError::Dir {
            path: root.clone(),
            source,
        };
        let root_dir = match OsDir::open(&root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StartError::NotFormatted(root));
            }
            opened => opened.map_err(dir_error)?,
        };
        let lock = DirLock::acquire(&root)?;
        let meta = MetaProperties::read(&*root_dir)?;
        let meta = meta.ok_or_else(|| StartError::NotFormatted(root.clone()))?;
        if meta.node_id != settings.node.id {
            return Err(StartError::OtherNode {
                path: root,
                found: meta.node_id,
                node_id: settings.node.id,
            });
        }
        let directory = meta.directory_id;
        let directory = directory.ok_or_else(|| StartError::NoDirectoryId(root.clone()))?;
        let log_dir = OsDir::create(&root.join(METADATA_DIR)).map_err(dir_error)?;
        let Opened {
            store,
            mut start,
            cut,
        } = Store::open(log_dir, settings.metadata_log.options)?;
        if let Some(cut) = cut {
            tracing::warn!(%cut, "metadata log");
        }
        let bound = bind(&settings).await?;
        let http = HttpEndpoint::bind(&settings).await?;
        let endpoints = endpoints(&settings, &bound);
        start.static_voters = static_voters(&settings, &endpoints[0].0);
        let raft = raft_settings(&settings, &meta.cluster_id, directory, &endpoints);
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
            cluster_id: meta.cluster_id,
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
        let listeners = listen(bound, &handle, &node, &is_closing);
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
            _lock: lock,
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

async fn bind(settings: &ControllerSettings) -> Result<Vec<Bound>, StartError> {
    let backlog = settings.connections.listen_backlog;
    let mut bound = Vec::new();
    for listener in &settings.node.controller_listeners {
        let host = listener.host.as_deref();
        let one = Bound::bind(&listener.name, host, listener.port, backlog).await;
        bound.push(one.map_err(|source| StartError::Bind {
            name: listener.name.clone(),
            address: ServerAddress::new(host.unwrap_or_default(), listener.port),
            source,
        })?);
    }
    match bound.is_empty() {
        true => Err(StartError::NoListener),
        false => Ok(bound),
    }
}

/// Where others reach this node, by listener.
fn endpoints(settings: &ControllerSettings, bound: &[Bound]) -> Vec<(String, Endpoint)> {
    let listeners = settings.node.controller_listeners.iter();
    let endpoint = |(listener, bound): (&Listener, &Bound)| {
        let host = listener.advertised_host.clone();
        let host = host.unwrap_or_else(host_name);
        let port = match listener.advertised_port {
            0 => bound.address().port(),
            port => port,
        };
        (listener.name.clone(), Endpoint { host, port })
    };
    listeners.zip(bound).map(endpoint).collect()
}

/// The voters of the configuration, who are known by one listener and not by their directories.
fn static_voters(settings: &ControllerSettings, listener: &str) -> VoterSet {
    let voters = settings.node.quorum.static_voters.iter();
    let voter = |voter: &settings::Voter| Voter {
        key: ReplicaKey {
            id: voter.id,
            directory: None,
        },
        endpoints: Endpoints::one(listener, endpoint(&voter.address)),
        kraft_versions: KRAFT_VERSIONS,
    };
    voters.map(voter).collect()
}

fn endpoint(address: &ServerAddress) -> Endpoint {
    let host = address.host().to_owned();
    let port = address.port();
    Endpoint { host, port }
}

fn raft_settings(
    settings: &ControllerSettings,
    cluster_id: &str,
    directory: Uuid,
    endpoints: &[(String, Endpoint)],
) -> klamm_raft::Settings {
    let (name, first) = &endpoints[0];
    let quorum = &settings.node.quorum;
    klamm_raft::Settings {
        cluster_id: cluster_id.to_owned(),
        endpoints: endpoints.iter().cloned().collect::<Endpoints>(),
        kraft_versions: KRAFT_VERSIONS,
        bootstrap: quorum.bootstrap_servers.iter().map(endpoint).collect(),
        election_timeout: quorum.election_timeout,
        election_backoff_max: quorum.election_backoff_max,
        fetch_timeout: quorum.fetch_timeout,
        request_timeout: quorum.request_timeout,
        retry_backoff: quorum.retry_backoff,
        fetch_max_bytes: quorum.fetch_max_bytes,
        fetch_snapshot_max_bytes: quorum.fetch_snapshot_max_bytes,
        seed: fastrand::u64(..),
        ..klamm_raft::Settings::new(settings.node.id, directory, name, first.clone())
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

/// The number of the security protocol PLAINTEXT.
const PLAINTEXT: i16 = 0;

/// Begins to listen, and says where connections are counted.
fn listen(
    bound: Vec<Bound>,
    handle: &Handle,
    node: &Arc<NodeInfo>,
    closing: &watch::Receiver<bool>,
) -> Vec<(Arc<str>, Arc<Limits>)> {
    let mut listeners = Vec::new();
    for bound in bound {
        let limits = Limits::new(&node.settings.connections);
        listeners.push((Arc::clone(bound.name()), Arc::clone(&limits)));
        let serve = bound.serve(limits, handle.clone(), Arc::clone(node), closing.clone());
        tokio::spawn(serve);
    }
    listeners
}
