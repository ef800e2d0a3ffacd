//! A cluster in one process, for development and tests.

mod apart;
mod builder;
mod error;
mod links;

use std::collections::BTreeMap;
use std::future::{Future, pending, poll_fn};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::Poll;

use klamm_config::{ConfigError, Properties, Warning};
use klamm_protocol::BrokerId;
use tempfile::TempDir;
use tokio::sync::watch;

pub use builder::EmbeddedClusterBuilder;
pub use error::EmbeddedError;

use crate::broker::Network;
use crate::settings::{BrokerSettings, ControllerSettings};
use crate::{BrokerNode, ControllerNode};
use links::Links;

/// The id of the controller; brokers count from 1.
const CONTROLLER: BrokerId = BrokerId(100);

/// A controller and brokers that listen on 127.0.0.1, in this process.
///
/// ```
/// use klamm_client::{Admin, Bootstrap, ClientConfig, NewTopic, ServerAddress};
/// use klamm_protocol::BrokerId;
/// use klamm_server::EmbeddedCluster;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
/// let mut cluster = EmbeddedCluster::builder().brokers(3).start().await?;
/// let servers = ServerAddress::parse_list(&cluster.bootstrap_servers())?;
/// let admin = Admin::connect(ClientConfig::new(Bootstrap::Brokers(servers))).await?;
/// let topics = [NewTopic::new("orders", 6, 3)];
/// for (name, created) in admin.create_topics(&topics, Default::default()).await? {
///     created.unwrap_or_else(|error| panic!("{name}: {error}"));
/// }
/// cluster.kill_broker(BrokerId(1)).await?;
/// // Others lead now what broker 1 led.
/// cluster.start_broker(BrokerId(1)).await?;
/// cluster.stop().await?;
/// # Ok(())
/// # })
/// # }
/// ```
///
/// Brokers can be paused, and nodes parted from each other:
///
/// ```
/// use klamm_protocol::BrokerId;
/// use klamm_server::EmbeddedCluster;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
/// let mut cluster = EmbeddedCluster::builder()
///     // Followers that lack records leave the ISR after this.
///     .property("replica.lag.time.max.ms", "2000")
///     .start()
///     .await?;
/// let (one, two) = (BrokerId(1), BrokerId(2));
/// // Neither replicates from the other now, and clients reach both.
/// cluster.part(one, two)?;
/// // Broker 2 does not learn who leads any more, and its session ends after a while.
/// cluster.part(two, EmbeddedCluster::CONTROLLER)?;
/// cluster.heal_all();
/// // Whoever asks broker 3 waits.
/// cluster.pause_broker(BrokerId(3))?;
/// cluster.resume_broker(BrokerId(3))?;
/// cluster.stop().await?;
/// # Ok(())
/// # })
/// # }
/// ```
///
/// It is the connections that stand still. A stream from node to node is opened by the one who asks,
/// and gives and takes no bytes while the two are parted; new ones are not made, as where nobody
/// answers. A paused broker is parted from all nodes, and reads no request and writes no answer of
/// anybody. Threads and clocks go on, unlike those of a process that is stopped: what a broker decides
/// by itself it decides, and nobody hears of it. What was on its way arrives.
///
/// Nodes are whole ones: they speak Kafka's protocol over TCP with each other and with whoever asks,
/// and keep Kafka's files, in a temporary directory unless another is given. One that is dropped ends
/// as a crash would end it.
#[derive(Debug)]
pub struct EmbeddedCluster {
    /// Lines that every node's configuration ends with.
    properties: String,
    controller_port: u16,
    controller: Option<ControllerNode>,
    brokers: BTreeMap<BrokerId, Broker>,
    links: Links,
    /// The last field: a temporary directory is removed when no node is left.
    home: Home,
}

/// Where the nodes' directories are.
#[derive(Debug)]
enum Home {
    Temporary(TempDir),
    Given(PathBuf),
}

#[derive(Debug)]
struct Broker {
    /// 0 before it has run: it comes back at the port that it had.
    port: u16,
    is_paused: watch::Sender<bool>,
    node: Option<BrokerNode>,
}

impl EmbeddedCluster {
    /// The id of the controller; brokers count from 1.
    pub const CONTROLLER: BrokerId = CONTROLLER;

    /// A cluster to be: three brokers on free ports, with a temporary directory.
    pub fn builder() -> EmbeddedClusterBuilder {
        EmbeddedClusterBuilder::default()
    }

    /// The addresses of the brokers that run, as `bootstrap.servers` of a client has them.
    pub fn bootstrap_servers(&self) -> String {
        let running = self.brokers.values().filter_map(Broker::address);
        let running: Vec<String> = running.map(|address| address.to_string()).collect();
        running.join(",")
    }

    /// The address of the controller, if it runs.
    pub fn controller_address(&self) -> Option<SocketAddr> {
        self.controller.as_ref()?.addresses().first().copied()
    }

    /// Every broker of the cluster, with its address if it runs.
    pub fn brokers(&self) -> impl Iterator<Item = (BrokerId, Option<SocketAddr>)> {
        let brokers = self.brokers.iter();
        brokers.map(|(id, broker)| (*id, broker.address()))
    }

    /// Where the nodes' directories are: `controller`, `broker-1` and so on.
    pub fn dir(&self) -> &Path {
        match &self.home {
            Home::Temporary(dir) => dir.path(),
            Home::Given(dir) => dir,
        }
    }

    /// Whether the directory goes with the cluster.
    pub fn is_temporary(&self) -> bool {
        matches!(self.home, Home::Temporary(_))
    }

    /// Starts a broker that does not run, at the port that it had, and waits until it serves.
    pub async fn start_broker(&mut self, id: BrokerId) -> Result<(), EmbeddedError> {
        self.begin_broker(id).await?;
        self.ready(id).await
    }

    /// Stops a broker as a signal does: others lead first what it leads.
    pub async fn stop_broker(&mut self, id: BrokerId) -> Result<(), EmbeddedError> {
        let stopped = self.take_broker(id)?.stop().await;
        stopped.map_err(|source| EmbeddedError::Broker { id, source })
    }

    /// Ends a broker as a crash does.
    pub async fn kill_broker(&mut self, id: BrokerId) -> Result<(), EmbeddedError> {
        self.take_broker(id)?.kill().await;
        Ok(())
    }

    /// Starts the controller again, at the port that it had. Brokers wait for it.
    pub async fn start_controller(&mut self) -> Result<(), EmbeddedError> {
        if self.controller.is_some() {
            return Err(EmbeddedError::Runs(CONTROLLER));
        }
        let properties = self.controller_properties(self.controller_port)?;
        let settings = checked(CONTROLLER, ControllerSettings::read(&properties))?;
        let started = ControllerNode::start(settings).await;
        let node = started.map_err(|source| EmbeddedError::Start {
            id: CONTROLLER,
            source,
        })?;
        self.controller_port = node.addresses()[0].port();
        self.links.listens(CONTROLLER, self.controller_port);
        self.controller = Some(node);
        Ok(())
    }

    /// Stops the controller. Brokers serve on, and nobody decides anything.
    pub async fn stop_controller(&mut self) -> Result<(), EmbeddedError> {
        let node = self.controller.take();
        let node = node.ok_or(EmbeddedError::RunsNot(CONTROLLER))?;
        // It waits for its thread.
        match tokio::task::spawn_blocking(|| node.stop()).await {
            Ok(stopped) => stopped.map_err(EmbeddedError::Controller),
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    /// Waits until a node stops by itself, and says why.
    pub async fn failed(&mut self) -> EmbeddedError {
        let mut nodes: Vec<Pin<Box<dyn Future<Output = EmbeddedError> + '_>>> = Vec::new();
        if let Some(node) = &mut self.controller {
            nodes.push(Box::pin(async {
                match node.failed().await {
                    Ok(()) => EmbeddedError::Ended(CONTROLLER),
                    Err(fatal) => EmbeddedError::Controller(fatal),
                }
            }));
        }
        for (&id, broker) in &mut self.brokers {
            if let Some(node) = &mut broker.node {
                nodes.push(Box::pin(async move {
                    match node.failed().await {
                        Ok(()) => EmbeddedError::Ended(id),
                        Err(source) => EmbeddedError::Broker { id, source },
                    }
                }));
            }
        }
        if nodes.is_empty() {
            return pending().await;
        }
        poll_fn(|context| {
            let polled = nodes.iter_mut().map(|node| node.as_mut().poll(context));
            let ended = polled.into_iter().find(Poll::is_ready);
            ended.unwrap_or(Poll::Pending)
        })
        .await
    }

    /// Stops all nodes, the brokers first, and removes a temporary directory.
    pub async fn stop(mut self) -> Result<(), EmbeddedError> {
        // Who cannot be heard could not hand over what it leads.
        self.links.heal_all();
        let running = self
            .brokers
            .iter()
            .filter(|(_, broker)| broker.node.is_some());
        for id in running.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.set_paused(id, false)?;
        }
        let mut brokers = tokio::task::JoinSet::new();
        for (id, broker) in &mut self.brokers {
            if let Some(node) = broker.node.take() {
                let id = *id;
                brokers.spawn(async move { (id, node.stop().await) });
            }
        }
        let mut outcome = Ok(());
        while let Some(stopped) = brokers.join_next().await {
            match stopped {
                Ok((_, Ok(()))) => {}
                Ok((id, Err(source))) => outcome = Err(EmbeddedError::Broker { id, source }),
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            }
        }
        if self.controller.is_some() {
            self.stop_controller().await?;
        }
        outcome
    }

    /// A broker that ends is not paused any more.
    fn take_broker(&mut self, id: BrokerId) -> Result<BrokerNode, EmbeddedError> {
        self.set_paused(id, false)?;
        let broker = self.brokers.get_mut(&id);
        let broker = broker.ok_or(EmbeddedError::Unknown(id))?;
        broker.node.take().ok_or(EmbeddedError::RunsNot(id))
    }

    /// Starts a broker, and does not wait until it serves.
    async fn begin_broker(&mut self, id: BrokerId) -> Result<(), EmbeddedError> {
        let properties = self.broker_properties(id)?;
        let broker = self.brokers.get_mut(&id);
        let broker = broker.ok_or(EmbeddedError::Unknown(id))?;
        if broker.node.is_some() {
            return Err(EmbeddedError::Runs(id));
        }
        let settings = checked(id, BrokerSettings::read(&properties))?;
        let network = Network {
            connector: self.links.connector(id, Network::TCP),
            is_paused: Some(broker.is_paused.subscribe()),
        };
        let started = BrokerNode::start_on(settings, network).await;
        let node = started.map_err(|source| EmbeddedError::Start { id, source })?;
        broker.port = node.addresses()[0].port();
        self.links.listens(id, broker.port);
        broker.node = Some(node);
        Ok(())
    }

    async fn ready(&mut self, id: BrokerId) -> Result<(), EmbeddedError> {
        let broker = self.brokers.get_mut(&id);
        let Some(node) = broker.and_then(|broker| broker.node.as_mut()) else {
            return Err(EmbeddedError::RunsNot(id));
        };
        let ready = node.ready().await;
        ready.map_err(|source| EmbeddedError::Broker { id, source })
    }

    fn controller_properties(&self, port: u16) -> Result<Properties, EmbeddedError> {
        let own = format!(
            "process.roles=controller\n\
             listeners=CONTROLLER://127.0.0.1:{port}\n"
        );
        self.properties(CONTROLLER, &own, port)
    }

    fn broker_properties(&self, id: BrokerId) -> Result<Properties, EmbeddedError> {
        let port = self.brokers.get(&id).map_or(0, |broker| broker.port);
        let own = format!(
            "process.roles=broker\n\
             listeners=PLAINTEXT://127.0.0.1:{port}\n"
        );
        self.properties(id, &own, self.controller_port)
    }

    fn properties(
        &self,
        id: BrokerId,
        own: &str,
        controller_port: u16,
    ) -> Result<Properties, EmbeddedError> {
        let name = match id {
            CONTROLLER => "controller".to_owned(),
            id => format!("broker-{id}"),
        };
        // With port 0 nobody could be told where the controller is to be; it knows itself.
        let port = controller_port.max(1);
        let dir = self.dir().join(&name);
        // A comma would make it several directories.
        let text = dir.to_str().filter(|dir| !dir.contains(','));
        let text = text.ok_or_else(|| EmbeddedError::DirName(dir.clone()))?;
        let dir = builder::escaped(text);
        let text = format!(
            "node.id={id}\n\
             log.dirs={dir}\n\
             controller.listener.names=CONTROLLER\n\
             controller.quorum.bootstrap.servers=127.0.0.1:{port}\n\
             {own}{}",
            self.properties
        );
        Properties::parse(&name, &text).map_err(EmbeddedError::Properties)
    }
}

impl Broker {
    fn new(port: u16) -> Self {
        Self {
            port,
            is_paused: watch::Sender::new(false),
            node: None,
        }
    }

    fn address(&self) -> Option<SocketAddr> {
        self.node.as_ref()?.addresses().first().copied()
    }
}

/// Settings whose warnings are told.
fn checked<T>(
    id: BrokerId,
    read: Result<(T, Vec<Warning>), ConfigError>,
) -> Result<T, EmbeddedError> {
    let (settings, warnings) = read.map_err(|source| EmbeddedError::Config { id, source })?;
    for warning in warnings {
        tracing::warn!(node = id.0, "{warning}");
    }
    Ok(settings)
}
