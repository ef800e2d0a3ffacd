use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use klamm_net::{
    Cause, Connection, ConnectionOptions, Connector, NetError, ServerAddress, ServerVersions,
};
use klamm_protocol::{Request, SmallString, VersionRange};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::retry::{Backoff, Deadline};
use crate::{ClientConfig, ClientError};

/// A connection whose server has said what it offers.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) connection: Connection,
    pub(crate) versions: ServerVersions,
}

impl Peer {
    /// The latest version that both sides have and that is in `needed`; `reason` says why it must
    /// be.
    pub(crate) fn choose<R: Request>(
        &self,
        needed: VersionRange,
        reason: Option<&'static str>,
    ) -> Result<i16, ClientError> {
        let versions = &self.versions;
        versions
            .latest::<R>(needed)
            .ok_or_else(|| ClientError::Unsupported {
                api: R::KEY,
                server: versions.server.clone(),
                offered: versions.offered(R::KEY),
                needed: R::STABLE.intersect(needed),
                reason,
            })
    }
}

/// One connection a server, made when it is needed and again when it broke.
pub(crate) struct Pool {
    connector: Arc<dyn Connector>,
    options: ConnectionOptions,
    request_timeout: Duration,
    backoff: Backoff,
    peers: Mutex<HashMap<ServerAddress, Arc<Peer>>>,
    gates: Mutex<HashMap<ServerAddress, Arc<tokio::sync::Mutex<Gate>>>>,
}

/// Held while a server is connected to, so that calls at the same time share a connection.
#[derive(Debug, Default)]
struct Gate {
    failures: u32,
    not_before: Option<Instant>,
}

impl Pool {
    pub(crate) fn new(config: &ClientConfig, connector: Arc<dyn Connector>) -> Self {
        let client_id = config.client_id.as_deref().unwrap_or("klamm");
        Self {
            connector,
            options: ConnectionOptions {
                client_id: Some(SmallString::from(client_id)),
                max_frame_bytes: config.max_frame_bytes,
            },
            request_timeout: config.request_timeout,
            backoff: Backoff::between_connects(config),
            peers: Mutex::default(),
            gates: Mutex::default(),
        }
    }

    /// The servers with a connection that works, the least busy one first.
    pub(crate) fn connected(&self) -> Vec<ServerAddress> {
        let mut peers: Vec<_> = {
            let mut peers = lock(&self.peers);
            peers.retain(|_, peer| !peer.connection.is_closed());
            let peers = peers.iter();
            peers
                .map(|(server, peer)| (peer.connection.in_flight(), server.clone()))
                .collect()
        };
        // Servers that are equally busy take turns by chance.
        fastrand::shuffle(&mut peers);
        peers.sort_by_key(|(in_flight, _)| *in_flight);
        peers.into_iter().map(|(_, server)| server).collect()
    }

    /// The connection to a server, made now if there is none.
    pub(crate) async fn peer(
        &self,
        server: &ServerAddress,
        deadline: &Deadline,
    ) -> Result<Arc<Peer>, ClientError> {
        if let Some(peer) = self.working(server) {
            return Ok(peer);
        }
        let gate = lock(&self.gates).entry(server.clone()).or_default().clone();
        let Ok(mut gate) = timeout_at(deadline.at, gate.lock()).await else {
            let cause = Cause::ConnectTimeout {
                after: deadline.elapsed(),
            };
            return Err(NetError {
                server: server.clone(),
                cause,
                sent: false,
            }
            .into());
        };
        // Another call may have connected in the meantime.
        if let Some(peer) = self.working(server) {
            return Ok(peer);
        }
        if let Some(not_before) = gate.not_before {
            sleep_until(not_before.min(deadline.at)).await;
        }
        let connected = self
            .connect(server, deadline.within(self.request_timeout))
            .await;
        match connected {
            Ok(peer) => {
                *gate = Gate::default();
                let peer = Arc::new(peer);
                lock(&self.peers).insert(server.clone(), peer.clone());
                Ok(peer)
            }
            Err(error) => {
                gate.failures = gate.failures.saturating_add(1);
                gate.not_before = Some(Instant::now() + self.backoff.after(gate.failures));
                Err(match error {
                    ClientError::Net(error) => ClientError::Net(deadline.in_full(error)),
                    error => error,
                })
            }
        }
    }

    /// Leaves a connection to the calls that use it, and makes a new one for the next.
    pub(crate) fn retire(&self, peer: &Arc<Peer>) {
        let mut peers = lock(&self.peers);
        let server = peer.connection.server();
        if peers
            .get(server)
            .is_some_and(|current| Arc::ptr_eq(current, peer))
        {
            peers.remove(server);
        }
    }

    fn working(&self, server: &ServerAddress) -> Option<Arc<Peer>> {
        lock(&self.peers)
            .get(server)
            .filter(|peer| !peer.connection.is_closed())
            .cloned()
    }

    async fn connect(&self, server: &ServerAddress, at: Instant) -> Result<Peer, ClientError> {
        let connector = &*self.connector;
        let opened = Connection::open_negotiated(connector, server, &self.options, at).await;
        let (connection, versions) = opened?;
        Ok(Peer {
            connection,
            versions,
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds one of these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
