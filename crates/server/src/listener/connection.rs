use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use klamm_net::{FrameError, FrameReader, write_segments};
use tokio::io::AsyncRead;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

use super::due::Due;
use super::{Origin, Service};
use crate::apis::Unserved;
use crate::settings::ConnectionSettings;

/// A connection that is served.
#[derive(Debug)]
pub(super) struct Serving<S> {
    pub(super) origin: Origin,
    pub(super) address: SocketAddr,
    pub(super) service: S,
    pub(super) settings: Arc<ConnectionSettings>,
    pub(super) is_paused: Option<watch::Receiver<bool>>,
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

impl<S: Service> Serving<S> {
    /// Answers requests in their order, until the connection ends.
    pub(super) async fn run(&self, stream: TcpStream) {
        let address = self.address;
        tracing::debug!(%address, listener = %self.origin.listener, "connected");
        match self.serve(stream).await {
            End::Gone => tracing::debug!(%address, "disconnected"),
            End::Idle => tracing::debug!(%address, "closed: it was idle"),
            End::Unreadable(reason) => {
                tracing::warn!(%address, listener = %self.origin.listener, reason, "connection closed");
            }
        }
    }

    /// Tells that the connection is gone.
    pub(super) fn closed(&self) {
        self.service.closed(&self.origin);
    }

    async fn serve(&self, stream: TcpStream) -> End {
        let (read, mut write) = stream.into_split();
        let mut frames = FrameReader::new(read, self.settings.max_request_bytes);
        let mut due = Due::new();
        let mut early: Option<Bytes> = None;
        loop {
            if let Some(frame) = early.take_if(|frame| due.admits(self.service.order(frame))) {
                self.resumed().await;
                let order = self.service.order(&frame);
                let answer = self.service.serve(self.origin.clone(), frame);
                due.begin(order, answer).await;
            }
            let is_idle = due.is_empty();
            // A frame is read ahead, so that a connection that ends while a request waits is noticed.
            tokio::select! {
                biased;
                answered = due.oldest(), if !is_idle => match answered {
                    Ok(None) => {}
                    Ok(Some(segments)) => {
                        self.resumed().await;
                        if write_segments(&mut write, &segments).await.is_err() {
                            return End::Gone;
                        }
                    }
                    Err(Unserved::Stopped) => return End::Gone,
                    Err(error) => return End::Unreadable(error.to_string()),
                },
                read = self.next(&mut frames, is_idle), if early.is_none() => match read {
                    Ok(frame) => early = Some(frame),
                    Err(end) => return end,
                },
            }
        }
    }

    /// Waits while the node is paused.
    async fn resumed(&self) {
        if let Some(is_paused) = &self.is_paused
            && *is_paused.borrow()
        {
            // Without whoever pauses it, it goes on.
            let _ = is_paused.clone().wait_for(|is_paused| !is_paused).await;
        }
    }

    /// The next frame. A connection on which nothing is due may be idle, and not for ever.
    async fn next<R: AsyncRead + Unpin>(
        &self,
        frames: &mut FrameReader<R>,
        is_idle: bool,
    ) -> Result<Bytes, End> {
        let read = match self.settings.max_idle {
            Some(idle) if is_idle => timeout(idle, frames.next()).await.map_err(|_| End::Idle)?,
            _ => frames.next().await,
        };
        match read {
            Ok(Some(frame)) => Ok(frame),
            Ok(None) => Err(End::Gone),
            Err(error) => Err(unreadable(&error)),
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
