use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use klamm_net::{Connector, ServerAddress};
use klamm_protocol::BrokerId;
use klamm_protocol::messages::metadata::MetadataRequest;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::metadata::{Cluster, NAMES_CONTROLLER, address};
use crate::pool::{Peer, Pool};
use crate::retry::Deadline;
use crate::{Bootstrap, ClientConfig, ClientError};

/// How often the bootstrap list is gone through before a client that never was connected gives up,
/// unless its time is over before. A person who mistyped an address should not wait for a minute.
const BOOTSTRAP_PASSES: u32 = 3;

/// How long a server is waited for before the next one is asked, too: one that hangs must not use up
/// the time that others would answer in.
const HEAD_START: Duration = Duration::from_secs(1);

/// Which server a request goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// Any, the least busy one first.
    Any,
    /// The same, for a request whose answer tells of the cluster's nodes: they need not be known.
    Telling,
    /// The active controller. Brokers pass a request on to it (KRaft), so that any broker will do,
    /// until one answers that it is not the controller: then the node that metadata names.
    Controller,
    /// This node.
    Node(BrokerId),
}

/// Connections to a cluster and what is known of it. Clones are the same client.
#[derive(Clone)]
pub(crate) struct Client(Arc<Inner>);

struct Inner {
    config: ClientConfig,
    pool: Pool,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    cluster: Option<Arc<Cluster>>,
    /// Ask again before the cluster is used for a route.
    stale: bool,
    /// A broker passed a request for the controller not on, as before KRaft.
    brokers_refuse: bool,
}

impl Client {
    /// Connects to the first server of the bootstrap list, in random order, that works. Where it
    /// lists brokers, the other nodes are learned with the first call.
    pub(crate) async fn connect(
        config: ClientConfig,
        connector: Arc<dyn Connector>,
    ) -> Result<Self, ClientError> {
        let deadline = Deadline::after(config.default_api_timeout);
        let pool = Pool::new(&config, connector);
        let client = Self(Arc::new(Inner {
            config,
            pool,
            known: Mutex::default(),
        }));
        let mut servers = client.config().bootstrap.servers().to_vec();
        let mut failures = HashMap::new();
        for _ in 0..BOOTSTRAP_PASSES {
            fastrand::shuffle(&mut servers);
            let connected = match client.config().bootstrap {
                Bootstrap::Brokers(_) => client.first(&servers, deadline, Self::greet).await,
                Bootstrap::Controllers(_) => client
                    .first(&servers, deadline, Self::learn_from)
                    .await
                    .map(drop),
            };
            match connected {
                Ok(()) => return Ok(client),
                Err(failed) => failures.extend(failed),
            }
            if deadline.is_over() || !failures.values().any(ClientError::is_retriable) {
                break;
            }
        }
        let listed = client.config().bootstrap.servers().iter();
        let failures = listed
            .filter_map(|server| failures.remove(server))
            .collect();
        Err(ClientError::NoServer { failures })
    }

    pub(crate) fn config(&self) -> &ClientConfig {
        &self.0.config
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// Asks for the cluster's nodes again before the next request that is for one of them.
    pub(crate) fn distrust_cluster(&self) {
        self.known().stale = true;
    }

    /// Takes note that a server is not the controller. True where a request for it goes to another
    /// server from now on, so that there is nothing to wait for.
    pub(crate) fn not_controller(&self, server: &ServerAddress) -> bool {
        let passed_on = self.brokers_pass_on();
        let mut known = self.known();
        known.brokers_refuse = true;
        let named = known.cluster.as_ref().and_then(|known| known.controller());
        let is_elsewhere = passed_on && named.is_some_and(|named| named != server);
        known.stale |= !is_elsewhere;
        is_elsewhere
    }

    /// Whether any broker takes requests for the controller, as far as is known.
    fn brokers_pass_on(&self) -> bool {
        matches!(self.config().bootstrap, Bootstrap::Brokers(_)) && !self.known().brokers_refuse
    }

    /// A connection to the server that a route leads to. `failed` are servers to avoid, since
    /// they failed this call before; one that fails now is added.
    pub(crate) async fn peer(
        &self,
        route: Route,
        failed: &mut Vec<ServerAddress>,
        deadline: &Deadline,
    ) -> Result<Arc<Peer>, ClientError> {
        if matches!(route, Route::Any | Route::Controller) && self.known().cluster.is_none() {
            // Where to go on when the connected server fails.
            self.cluster(deadline).await?;
        }
        let server = match route {
            Route::Any | Route::Telling => self.any_server(failed),
            Route::Controller if self.brokers_pass_on() => self.any_server(failed),
            Route::Controller => {
                let cluster = self.cluster(deadline).await?;
                let server = cluster.server.clone();
                cluster
                    .controller()
                    .cloned()
                    .ok_or(ClientError::NoController { server })
            }
            Route::Node(node) => {
                let cluster = self.cluster(deadline).await?;
                let server = cluster.server.clone();
                let address = cluster.nodes.get(&node).cloned();
                address.ok_or(ClientError::UnknownNode { node, server })
            }
        };
        let server = server.inspect_err(|_| self.distrust_cluster())?;
        self.0.pool.peer(&server, deadline).await.inspect_err(|_| {
            self.distrust_cluster();
            failed.push(server);
        })
    }

    fn any_server(&self, failed: &mut Vec<ServerAddress>) -> Result<ServerAddress, ClientError> {
        let candidates = self.candidates();
        if candidates.iter().all(|server| failed.contains(server)) {
            failed.clear();
        }
        let good = candidates
            .into_iter()
            .find(|server| !failed.contains(server));
        good.ok_or(ClientError::NoServer {
            failures: Vec::new(),
        })
    }

    /// Connected servers first, then the cluster's other nodes, then the bootstrap list.
    fn candidates(&self) -> Vec<ServerAddress> {
        let mut candidates = self.0.pool.connected();
        let mut nodes: Vec<ServerAddress> = match &self.known().cluster {
            Some(cluster) => cluster.nodes.values().cloned().collect(),
            None => Vec::new(),
        };
        fastrand::shuffle(&mut nodes);
        nodes.extend(self.config().bootstrap.servers().iter().cloned());
        for server in nodes {
            if !candidates.contains(&server) {
                candidates.push(server);
            }
        }
        candidates
    }

    async fn cluster(&self, deadline: &Deadline) -> Result<Arc<Cluster>, ClientError> {
        {
            let known = self.known();
            if let (Some(cluster), false) = (&known.cluster, known.stale) {
                return Ok(cluster.clone());
            }
        }
        let candidates = self.candidates();
        let learned = self.first(&candidates, *deadline, Self::learn_from).await;
        learned.map_err(|failures| ClientError::NoServer {
            failures: failures.into_iter().map(|(_, error)| error).collect(),
        })
    }

    /// Asks servers for something, each when those before it have failed or had their head start.
    /// The first answer counts. At least one server is asked, so that there is something to say
    /// when the time is over.
    async fn first<T, F>(
        &self,
        servers: &[ServerAddress],
        deadline: Deadline,
        ask: impl Fn(Self, ServerAddress, Deadline) -> F,
    ) -> Result<T, Vec<(ServerAddress, ClientError)>>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, ClientError>> + Send + 'static,
    {
        let mut servers = servers.iter();
        let mut asked = JoinSet::new();
        let mut failures = Vec::new();
        loop {
            let is_first = asked.is_empty() && failures.is_empty();
            if (is_first || !deadline.is_over())
                && let Some(server) = servers.next()
            {
                let server = server.clone();
                let answer = ask(self.clone(), server.clone(), deadline);
                asked.spawn(async move { (server, answer.await) });
            }
            let is_last = servers.len() == 0 || deadline.is_over();
            let ended = if is_last {
                Ok(asked.join_next().await)
            } else {
                timeout(HEAD_START, asked.join_next()).await
            };
            match ended {
                Ok(None) => return Err(failures),
                Ok(Some(Ok((_, Ok(answer))))) => return Ok(answer),
                Ok(Some(Ok((server, Err(error))))) => failures.push((server, error)),
                // The head start is over; or a task panicked, which has said so itself.
                Err(_) | Ok(Some(Err(_))) => {}
            }
        }
    }

    /// Connects to a server that tells of brokers.
    async fn greet(self, server: ServerAddress, deadline: Deadline) -> Result<(), ClientError> {
        let peer = self.0.pool.peer(&server, &deadline).await?;
        peer.choose::<MetadataRequest>(NAMES_CONTROLLER, None)
            .inspect_err(|_| self.0.pool.retire(&peer))?;
        Ok(())
    }

    async fn learn_from(
        self,
        server: ServerAddress,
        deadline: Deadline,
    ) -> Result<Arc<Cluster>, ClientError> {
        let peer = self.0.pool.peer(&server, &deadline).await?;
        let at = deadline.within(self.config().request_timeout);
        let asked = Cluster::ask(&peer, &self.config().bootstrap, at).await;
        let cluster = asked.inspect_err(|_| self.0.pool.retire(&peer))?;
        Ok(self.learned(cluster))
    }

    /// Takes note of what a server told of the cluster's nodes.
    pub(crate) fn learned(&self, cluster: Cluster) -> Arc<Cluster> {
        let cluster = Arc::new(cluster);
        let mut known = self.known();
        known.cluster = Some(cluster.clone());
        known.stale = false;
        cluster
    }

    /// Takes note of where nodes are that an answer names as new leaders (KIP-951).
    pub(crate) fn learned_nodes<'a>(&self, nodes: impl Iterator<Item = (i32, &'a str, i32)>) {
        let nodes: Vec<_> = nodes
            .filter_map(|(node, host, port)| address(node, host, port))
            .collect();
        if let (false, Some(cluster)) = (nodes.is_empty(), &mut self.known().cluster) {
            let cluster = Arc::make_mut(cluster);
            cluster.nodes.extend(nodes);
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Nothing panics while it holds this lock.
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
