use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use crate::{Cause, ServerAddress};

/// A stream of bytes to and from a server.
pub trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Transport for T {}

/// How bytes reach a server: over TCP, or in memory in tests.
pub trait Connector: Send + Sync + 'static {
    /// Opens a stream to a server.
    #[expect(
        clippy::type_complexity,
        reason = "a name for it would hide what it is"
    )]
    fn connect<'a>(
        &'a self,
        server: &'a ServerAddress,
    ) -> Pin<Box<dyn Future<Output = Result<Box<dyn Transport>, Cause>> + Send + 'a>>;
}

/// Connects over TCP, without TLS. All addresses of a host are tried in the resolver's order.
#[derive(Clone, Copy, Debug)]
pub struct TcpConnector {
    /// How long each address is tried, Kafka's `socket.connection.setup.timeout.ms`.
    pub timeout: Duration,
}

impl TcpConnector {
    /// Kafka's default of `socket.connection.setup.timeout.ms`.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
}

impl Default for TcpConnector {
    fn default() -> Self {
        Self {
            timeout: Self::DEFAULT_TIMEOUT,
        }
    }
}

impl Connector for TcpConnector {
    fn connect<'a>(
        &'a self,
        server: &'a ServerAddress,
    ) -> Pin<Box<dyn Future<Output = Result<Box<dyn Transport>, Cause>> + Send + 'a>> {
        Box::pin(async move {
            let addresses = lookup_host((server.host(), server.port()))
                .await
                .map_err(|error| Cause::Resolve(Arc::new(error)))?;
            let mut last = None;
            for address in addresses {
                match self.connect_one(address).await {
                    Ok(stream) => return Ok(Box::new(stream) as Box<dyn Transport>),
                    Err(cause) => last = Some(cause),
                }
            }
            let none = || Cause::Resolve(Arc::new(io::Error::other("it has none")));
            Err(last.unwrap_or_else(none))
        })
    }
}

impl TcpConnector {
    async fn connect_one(&self, address: SocketAddr) -> Result<TcpStream, Cause> {
        let stream = match timeout(self.timeout, TcpStream::connect(address)).await {
            Err(_) => {
                return Err(Cause::ConnectTimeout {
                    after: self.timeout,
                });
            }
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
                return Err(Cause::Refused);
            }
            Ok(Err(error)) => return Err(Cause::Connect(Arc::new(error))),
            Ok(Ok(stream)) => stream,
        };
        // A request is written whole: waiting to fill a packet only delays it.
        stream
            .set_nodelay(true)
            .map_err(|error| Cause::Connect(Arc::new(error)))?;
        Ok(stream)
    }
}
