//! The accepting side of connections.

mod connection;
mod due;
mod limits;

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use klamm_protocol::Segments;
use tokio::net::{TcpListener, TcpSocket, lookup_host};
use tokio::sync::watch;

use crate::apis::Unserved;
use crate::client::Client;
use crate::controller::{ConnectionId, Peer};
use crate::settings::ConnectionSettings;
use connection::Serving;
pub(crate) use limits::{Limits, Tally};

/// How long a listener waits after the system refused to accept, for want of descriptors.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// Where a request came from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// The listener that it came in by.
    pub(crate) listener: Arc<str>,
    /// Who asks, for authorization.
    pub(crate) client: Client,
    /// The connection.
    pub(crate) peer: Peer,
}

/// What of a request has to be over before the next one of its connection begins. Answers are in the
/// order of the requests in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// All of it.
    Whole,
    /// What is done when its answer is asked for once. What is left is waiting, and the next may begin
    /// meanwhile if it is of this kind as well.
    Begun,
}

/// What answers the requests of a listener's connections.
pub(crate) trait Service: Clone + Send + Sync + 'static {
    /// Answers a request; `None` where it wants no answer.
    fn serve(
        &self,
        origin: Origin,
        frame: Bytes,
    ) -> impl Future<Output = Result<Option<Segments>, Unserved>> + Send;

    /// What has to be over before the request after this one begins.
    fn order(&self, _frame: &Bytes) -> Order {
        Order::Whole
    }

    /// Takes note that a connection is gone.
    fn closed(&self, origin: &Origin);
}

/// A listener that has its port.
#[derive(Debug)]
pub(crate) struct Bound {
    name: Arc<str>,
    listener: TcpListener,
    address: SocketAddr,
    is_paused: Option<watch::Receiver<bool>>,
}

impl Bound {
    /// Takes a port, of all addresses of the machine where no host is given. So many connections may
    /// wait to be accepted.
    pub(crate) async fn bind(
        name: &str,
        host: Option<&str>,
        port: u16,
        backlog: u32,
    ) -> io::Result<Self> {
        let listener = match host {
            Some(host) => {
                let mut last = None;
                let mut bound = None;
                for address in lookup_host((host, port)).await? {
                    match socket(address, backlog) {
                        Ok(listener) => {
                            bound = Some(listener);
                            break;
                        }
                        Err(error) => last = Some(error),
                    }
                }
                let none = || io::Error::other("the host has no address");
                bound.ok_or_else(|| last.unwrap_or_else(none))?
            }
            None => match socket((Ipv6Addr::UNSPECIFIED, port).into(), backlog) {
                Ok(listener) => listener,
                // The machine has no IPv6.
                Err(_) => socket((Ipv4Addr::UNSPECIFIED, port).into(), backlog)?,
            },
        };
        Ok(Self {
            name: name.into(),
            address: listener.local_addr()?,
            listener,
            is_paused: None,
        })
    }

    /// The same, with connections that stand still while the node is paused.
    pub(crate) fn pausing(mut self, is_paused: Option<watch::Receiver<bool>>) -> Self {
        self.is_paused = is_paused;
        self
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The socket, for another protocol than Kafka's.
    pub(crate) fn into_inner(self) -> TcpListener {
        self.listener
    }

    /// Accepts connections until the node closes.
    pub(crate) async fn serve<S: Service>(
        self,
        limits: Arc<Limits>,
        service: S,
        settings: Arc<ConnectionSettings>,
        mut closing: watch::Receiver<bool>,
    ) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                _ = closing.wait_for(|closing| *closing) => return,
            };
            let (stream, address) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(listener = %self.name, %error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_BACKOFF).await;
                    continue;
                }
            };
            // A client of IPv4 looks like one of IPv6 to a socket of both; ACLs and limits name it as
            // what it is.
            let address = SocketAddr::new(address.ip().to_canonical(), address.port());
            let Some(place) = limits.admit(address.ip()) else {
                tracing::warn!(%address, "connection refused: there are too many");
                continue;
            };
            // An answer is written whole: waiting to fill a packet only delays it.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%address, %error, "connection");
                continue;
            }
            let serving = Serving {
                origin: Origin {
                    listener: Arc::clone(&self.name),
                    client: Client::anonymous(address.ip()),
                    peer: Peer::new(ConnectionId(NEXT.fetch_add(1, Ordering::Relaxed))),
                },
                address,
                service: service.clone(),
                settings: Arc::clone(&settings),
                is_paused: self.is_paused.clone(),
            };
            let mut closing = closing.clone();
            tokio::spawn(async move {
                tokio::select! {
                    () = serving.run(stream) => {}
                    _ = closing.wait_for(|closing| *closing) => {}
                }
                serving.closed();
                drop(place);
            });
        }
    }
}

/// Begins to serve, and says where connections are counted.
pub(crate) fn listen<S: Service>(
    bound: Vec<Bound>,
    service: &S,
    settings: &ConnectionSettings,
    closing: &watch::Receiver<bool>,
) -> Vec<(Arc<str>, Arc<Limits>)> {
    let settings = Arc::new(settings.clone());
    let mut listeners = Vec::new();
    for bound in bound {
        let limits = Limits::new(&settings);
        listeners.push((Arc::clone(bound.name()), Arc::clone(&limits)));
        let serve = bound.serve(
            limits,
            service.clone(),
            Arc::clone(&settings),
            closing.clone(),
        );
        tokio::spawn(serve);
    }
    listeners
}

fn socket(address: SocketAddr, backlog: u32) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // What is left of connections of an earlier run does not keep the port.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(backlog)
}
