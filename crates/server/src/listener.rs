//! The accepting side of connections.

mod connection;
mod limits;

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, lookup_host};
use tokio::sync::watch;

use crate::controller::{ConnectionId, Handle, Peer};
use crate::node::NodeInfo;
use connection::Serving;
pub(crate) use limits::{Limits, Tally};

/// How long a listener waits after the system refused to accept, for want of descriptors.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// A listener that has its port.
#[derive(Debug)]
pub(crate) struct Bound {
    name: Arc<str>,
    listener: TcpListener,
    address: SocketAddr,
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
                    match listen(address, backlog) {
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
            None => match listen((Ipv6Addr::UNSPECIFIED, port).into(), backlog) {
                Ok(listener) => listener,
                // The machine has no IPv6.
                Err(_) => listen((Ipv4Addr::UNSPECIFIED, port).into(), backlog)?,
            },
        };
        Ok(Self {
            name: name.into(),
            address: listener.local_addr()?,
            listener,
        })
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
    pub(crate) async fn serve(
        self,
        limits: Arc<Limits>,
        handle: Handle,
        node: Arc<NodeInfo>,
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
                listener: Arc::clone(&self.name),
                address,
                peer: Peer::new(ConnectionId(NEXT.fetch_add(1, Ordering::Relaxed))),
                handle: handle.clone(),
                node: Arc::clone(&node),
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

fn listen(address: SocketAddr, backlog: u32) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // What is left of connections of an earlier run does not keep the port.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(backlog)
}
