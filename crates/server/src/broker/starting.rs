//! How a broker is put together.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use klamm_net::{ConnectionOptions, Connector, TcpConnector};
use klamm_protocol::Uuid;
use klamm_protocol::messages::broker_registration::{
    BrokerRegistrationRequest, Feature, Listener as RegisteredListener,
};
use klamm_raft::Endpoint;
use tokio::sync::{mpsc, oneshot, watch};

use super::call::{BrokerService, Serving};
use super::feed::Feed;
use super::lifecycle::{Keeper, LifecycleError, Signals};
use super::observer::{Inputs, Observer, Outputs};
use super::publisher::Publisher;
use super::{ActiveController, Controllers, Published, questions};
use crate::clock::Clock;
use crate::features::broker_features;
use crate::listener::Bound;
use crate::machine::random_id;
use crate::node::StartError;
use crate::parts::{Home, PLAINTEXT, bind, endpoints, open_store, raft_settings, static_voters};
use crate::quorum::{Quorum, StoreError, Transport};
use crate::replicas::{LogDir, Opening, Question, Replicas};
use crate::settings::BrokerSettings;

/// How many questions of the replicas wait for the controller at a time.
const MAX_QUESTIONS: usize = 100;
/// How long connecting to another node may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What is left to hold of a broker that runs.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) signals: Arc<Signals>,
    pub(super) replicas: Replicas,
    pub(super) closing: watch::Sender<bool>,
    pub(super) keeper: KeeperThread,
    /// That the observer has ended.
    pub(super) observed: oneshot::Receiver<()>,
    pub(super) observer: Option<ObserverThread>,
    _homes: Vec<Home>,
}

/// The thread of the observer.
#[derive(Debug)]
pub(super) struct ObserverThread {
    pub(super) stop: oneshot::Sender<()>,
    pub(super) thread: JoinHandle<Result<(), StoreError>>,
}

/// The thread of the keeper, which ends when the node closes.
#[derive(Debug)]
pub(super) struct KeeperThread {
    /// How the keeper ended.
    pub(super) ended: oneshot::Receiver<Result<(), LifecycleError>>,
    pub(super) thread: Option<JoinHandle<()>>,
}

/// How a broker reaches other nodes, and whether it hears those who reach it.
#[derive(Clone)]
pub(crate) struct Network {
    pub(crate) connector: Arc<dyn Connector>,
    /// While it is paused it neither reads requests nor writes answers.
    pub(crate) is_paused: Option<watch::Receiver<bool>>,
}

impl Network {
    /// TCP, as brokers use it.
    pub(crate) const TCP: TcpConnector = TcpConnector {
        timeout: CONNECT_TIMEOUT,
    };
}

impl Default for Network {
    fn default() -> Self {
        Self {
            connector: Arc::new(Self::TCP),
            is_paused: None,
        }
    }
}

/// Starts a broker within the runtime that is to run it.
pub(super) async fn start(settings: BrokerSettings, network: Network) -> Result<Parts, StartError> {
    let Homes { homes, unusable } = open_homes(&settings)?;
    let listeners = &settings.node.broker_listeners;
    let bound = bind(listeners, settings.connections.listen_backlog).await?;
    let bound = bound.into_iter();
    let bound = bound.map(|bound| bound.pausing(network.is_paused.clone()));
    let bound: Vec<Bound> = bound.collect();
    let addresses = bound.iter().map(Bound::address).collect();
    let endpoints = endpoints(listeners, &bound);
    let starting = Starting {
        clock: Clock::start(),
        connector: network.connector,
        settings,
        homes,
    };
    let (questions, asked) = mpsc::channel(MAX_QUESTIONS);
    let replicas = starting.open_replicas(unusable, questions).await?;
    let active = watch::Sender::new(None);
    let controllers = starting.controllers(&active);
    let feed = Feed::default();
    let (observer, observed) = starting.observe(active, feed.clone())?;
    tokio::spawn(questions::ask(asked, controllers.clone()));
    let signals = Signals::new();
    let published = watch::Sender::new(Published::default());
    let settings = &starting.settings;
    let keeper = Keeper {
        channel: controllers.channel(),
        signals: Arc::clone(&signals),
        published: published.subscribe(),
        offline_dirs: replicas.offline_dirs(),
        registration: starting.registration(&endpoints, &replicas),
        supported: broker_features(),
        heartbeat_interval: settings.heartbeat_interval,
        session_timeout: settings.session_timeout,
        registration_timeout: settings.registration_timeout,
    };
    let (closing, is_closing) = watch::channel(false);
    let keeper = keep(keeper, is_closing.clone())?;
    let publisher = Publisher {
        feed,
        signals: Arc::clone(&signals),
        service: BrokerService(Arc::new(Serving {
            id: settings.node.id,
            cluster_id: starting.home().meta.cluster_id.clone(),
            settings: settings.clone(),
            published: published.subscribe(),
            replicas: replicas.clone(),
            forwarding: controllers.channel(),
        })),
        published,
        listeners: bound,
        closing: is_closing,
    };
    tokio::spawn(publisher.run());
    Ok(Parts {
        addresses,
        signals,
        replicas,
        closing,
        keeper,
        observed,
        observer: Some(observer),
        _homes: starting.homes,
    })
}

/// Runs the keeper on a thread of its own: tasks of the node's runtime wait for the disk now and then,
/// and a broker whose disk is slow is alive all the same.
fn keep(keeper: Keeper, mut closing: watch::Receiver<bool>) -> Result<KeeperThread, StartError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(StartError::Thread)?;
    let (told, ended) = oneshot::channel();
    let thread = std::thread::Builder::new().name("klamm-keeper".into());
    let thread = thread.spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                kept = keeper.run() => {
                    // Nobody may want to know any more.
                    let _ = told.send(kept);
                }
                _ = closing.wait_for(|closing| *closing) => {}
            }
        });
    });
    let thread = Some(thread.map_err(StartError::Thread)?);
    Ok(KeeperThread { ended, thread })
}

/// The directories of a node.
struct Homes {
    /// First that of the metadata log, then the others.
    homes: Vec<Home>,
    /// Those that the disk does not give. Without that of the metadata log there is no broker.
    unusable: Vec<PathBuf>,
}

fn open_homes(settings: &BrokerSettings) -> Result<Homes, StartError> {
    let own = &settings.node.metadata_log_dir;
    let others = settings.node.log_dirs.iter().filter(|dir| *dir != own);
    let mut homes: Vec<Home> = Vec::new();
    let mut unusable = Vec::new();
    for path in std::iter::once(own).chain(others) {
        let home = match Home::open(path, settings.node.id) {
            Err(error) if path != own && error.is_of_the_disk() => {
                tracing::error!(dir = %path.display(), %error,
                    "log directory is offline; mend it and start the broker again");
                unusable.push(path.clone());
                continue;
            }
            home => home?,
        };
        if let Some(first) = homes.first()
            && first.meta.cluster_id != home.meta.cluster_id
        {
            return Err(StartError::OtherCluster {
                path: path.clone(),
                found: home.meta.cluster_id,
                expected: first.meta.cluster_id.clone(),
            });
        }
        homes.push(home);
    }
    Ok(Homes { homes, unusable })
}

/// What the parts of a broker are made of.
struct Starting {
    clock: Clock,
    connector: Arc<dyn Connector>,
    settings: BrokerSettings,
    homes: Vec<Home>,
}

impl Starting {
    /// The directory of the metadata log.
    fn home(&self) -> &Home {
        &self.homes[0]
    }

    /// The directories that logs of partitions are in.
    fn log_homes(&self) -> impl Iterator<Item = &Home> {
        let dirs = &self.settings.node.log_dirs;
        self.homes.iter().filter(|home| dirs.contains(&home.path))
    }

    fn options(&self) -> ConnectionOptions {
        ConnectionOptions {
            client_id: Some(self.settings.node.id.to_string().as_str().into()),
            ..ConnectionOptions::default()
        }
    }

    async fn open_replicas(
        &self,
        unusable: Vec<PathBuf>,
        questions: mpsc::Sender<Question>,
    ) -> Result<Replicas, StartError> {
        let dirs = self.log_homes();
        let dirs = dirs.map(|home| LogDir::open(&home.path, home.directory));
        let opening = Opening {
            broker: self.settings.node.id,
            settings: self.settings.replicas.clone(),
            inter_broker_listener: self.settings.inter_broker_listener.clone(),
            dirs: dirs.collect::<Result<_, _>>()?,
            unusable,
            clock: self.clock,
            questions,
            connector: Arc::clone(&self.connector),
        };
        match tokio::task::spawn_blocking(|| Replicas::open(opening)).await {
            Ok(opened) => Ok(opened?),
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    fn controllers(&self, active: &watch::Sender<Option<ActiveController>>) -> Controllers {
        Controllers::new(
            active.subscribe(),
            Arc::clone(&self.connector),
            self.options(),
            self.settings.controller_timeout,
        )
    }

    fn observe(
        &self,
        active: watch::Sender<Option<ActiveController>>,
        feed: Feed,
    ) -> Result<(ObserverThread, oneshot::Receiver<()>), StartError> {
        let settings = &self.settings;
        let (store, mut start) = open_store(self.home(), settings.metadata_log.options)?;
        let raft = raft_settings(&settings.node, self.home());
        start.static_voters = static_voters(&settings.node, &raft.listener);
        let (disk_events, disk) = mpsc::unbounded_channel();
        let (outcomes, answers) = mpsc::unbounded_channel();
        let timeout = raft.request_timeout;
        let now = self.clock.now();
        let quorum = Quorum::start(raft, start, Arc::new(store), disk_events, now.into());
        let observer = Observer::new(
            self.clock,
            settings.metadata_log.clone(),
            quorum.map_err(StartError::Thread)?,
            Transport::new(
                Arc::clone(&self.connector),
                self.options(),
                timeout,
                outcomes,
            ),
            Outputs { active, feed },
        )?;
        let (stop, stopped) = oneshot::channel();
        let inputs = Inputs {
            disk,
            outcomes: answers,
            stop: stopped,
        };
        let (ended, has_ended) = oneshot::channel();
        // It waits for the disk now and then, which would hold up others.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(StartError::Thread)?;
        let thread = std::thread::Builder::new().name("klamm-observer".into());
        let thread = thread.spawn(move || {
            let outcome = runtime.block_on(observer.run(inputs));
            // The node may be gone already.
            let _ = ended.send(());
            outcome
        });
        let thread = thread.map_err(StartError::Thread)?;
        Ok((ObserverThread { stop, thread }, has_ended))
    }

    fn registration(
        &self,
        endpoints: &[(String, Endpoint)],
        replicas: &Replicas,
    ) -> BrokerRegistrationRequest {
        let listener = |(name, endpoint): &(String, Endpoint)| RegisteredListener {
            name: name.as_str().into(),
            host: endpoint.host.as_str().into(),
            port: endpoint.port,
            security_protocol: PLAINTEXT,
            ..RegisteredListener::default()
        };
        let features = broker_features();
        let features = features.into_iter().map(|(name, range)| Feature {
            name: name.into(),
            min_supported_version: range.min,
            max_supported_version: range.max,
            ..Feature::default()
        });
        let mut log_dirs: Vec<Uuid> = self.log_homes().map(|home| home.directory).collect();
        log_dirs.sort_unstable();
        BrokerRegistrationRequest {
            broker_id: self.settings.node.id.0,
            cluster_id: self.home().meta.cluster_id.as_str().into(),
            incarnation_id: random_id(),
            listeners: endpoints.iter().map(listener).collect(),
            features: features.collect(),
            rack: self.settings.rack.as_deref().map(Into::into),
            log_dirs,
            previous_broker_epoch: replicas.previous_epoch().map_or(-1, |epoch| epoch.0),
            ..BrokerRegistrationRequest::default()
        }
    }
}
