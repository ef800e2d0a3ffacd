use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use klamm_net::{FrameError, FrameReader, write_segments};
use tokio::io::AsyncRead;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::apis::{self, Caller};
use crate::controller::{Client, Handle, Peer};
use crate::node::NodeInfo;

/// The principal of everybody on a listener without authentication.
const ANONYMOUS: &str = "User:ANONYMOUS";

/// A connection that is served.
#[derive(Debug)]
pub(super) struct Serving {
    pub(super) listener: Arc<str>,
    pub(super) address: SocketAddr,
    pub(super) peer: Peer,
    pub(super) handle: Handle,
    pub(super) node: Arc<NodeInfo>,
}

/// Why a connection ends.
enum End {
    /// The other side has closed it, or it broke.
    Gone,
    /// It asked for nothing for long.
    Idle,
    /// What came is no request.
    Unreadable(String),
}

impl Serving {
    /// Answers requests in their order, until the connection ends.
    pub(super) async fn run(&self, stream: TcpStream) {
        let address = self.address;
        tracing::debug!(%address, listener = %self.listener, "connected");
        match self.serve(stream).await {
            End::Gone => tracing::debug!(%address, "disconnected"),
            End::Idle => tracing::debug!(%address, "closed: it was idle"),
            End::Unreadable(reason) => {
                tracing::warn!(%address, listener = %self.listener, reason, "connection closed");
            }
        }
    }

    /// Tells the controller that the connection is gone.
    pub(super) fn closed(&self) {
        self.handle.closed(&self.peer);
    }

    async fn serve(&self, stream: TcpStream) -> End {
        let (read, mut write) = stream.into_split();
        let max_bytes = self.node.settings.connections.max_request_bytes;
        let mut frames = FrameReader::new(read, max_bytes);
        let mut early = None;
        loop {
            let frame = match early.take() {
                Some(frame) => frame,
                None => match self.next(&mut frames).await {
                    Ok(frame) => frame,
                    Err(end) => return end,
                },
            };
            let answer = apis::serve(self.caller(), frame);
            let mut answer = std::pin::pin!(answer);
            // One frame is read ahead, so that a connection that ends while a request waits is
            // noticed.
            let answered = loop {
                tokio::select! {
                    biased;
                    answered = &mut answer => break answered,
                    read = frames.next(), if early.is_none() => match read {
                        Ok(Some(frame)) => early = Some(frame),
                        Ok(None) => return End::Gone,
                        Err(error) => return unreadable(&error),
                    },
                }
            };
            match answered {
                Ok(segments) => {
                    if write_segments(&mut write, &segments).await.is_err() {
                        return End::Gone;
                    }
                }
                Err(apis::Unserved::Stopped) => return End::Gone,
                Err(error) => return End::Unreadable(error.to_string()),
            }
        }
    }

    async fn next<R: AsyncRead + Unpin>(&self, frames: &mut FrameReader<R>) -> Result<Bytes, End> {
        let read = match self.node.settings.connections.max_idle {
            Some(idle) => timeout(idle, frames.next()).await.map_err(|_| End::Idle)?,
            None => frames.next().await,
        };
        match read {
            Ok(Some(frame)) => Ok(frame),
            Ok(None) => Err(End::Gone),
            Err(error) => Err(unreadable(&error)),
        }
    }

    fn caller(&self) -> Caller {
        Caller {
            listener: Arc::clone(&self.listener),
            client: Client {
                principal: ANONYMOUS.into(),
                host: self.address.ip(),
                by_token: false,
            },
            peer: self.peer.clone(),
            is_forwarded: false,
            handle: self.handle.clone(),
        }
    }
}

fn unreadable(error: &FrameError) -> End {
    match error {
        FrameError::Length {
            length,
            limit,
            looks_like,
        } => End::Unreadable(match looks_like {
            Some(_) => "it speaks another protocol than Kafka's, such as TLS or HTTP".into(),
            None => format!(
                "a request of {length} bytes; 1 to {limit} are allowed (socket.request.max.bytes)"
            ),
        }),
        _ => End::Gone,
    }
}
