//! HTTP/1.1 for answers that are made in memory: of a node about itself, of the command on its pages.
//!
//! Clients may be slow, many or rude; nothing of that reaches who answers.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

/// How long to wait after the system gave no connection, as when there are no descriptors.
const PAUSE: Duration = Duration::from_millis(100);
/// How long an answer may take to go out once its connection is to end.
const FAREWELL_TIME: Duration = Duration::from_secs(5);

/// How much of a server clients may take.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    /// The most connections at a time; more wait to be accepted.
    pub connections: usize,
    /// How long a request may take to say what it wants, and a connection be idle.
    pub head_time: Duration,
    /// How long a connection may last; clients open another.
    pub connection_time: Duration,
    /// The most bytes that wait to be read or written on a connection.
    pub buffered_bytes: usize,
}

/// What a connection is made of.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for S {}

/// Where connections come from.
pub trait Accept: Send {
    /// A connection.
    type Stream: Stream;

    /// The next connection.
    fn accept(&mut self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

impl Accept for TcpListener {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<TcpStream> {
        Ok(Self::accept(self).await?.0)
    }
}

/// What answers requests.
pub trait HttpServer: Send + Sync + 'static {
    /// Answers a request.
    fn answer(
        &self,
        request: Request<Incoming>,
    ) -> impl Future<Output = Response<Full<Bytes>>> + Send;
}

/// Answers the connections that come, some at a time. They end when `closing` says so.
pub async fn accept(
    mut incoming: impl Accept,
    server: Arc<impl HttpServer>,
    limits: HttpLimits,
    closing: watch::Receiver<bool>,
) -> Infallible {
    let room = Arc::new(Semaphore::new(limits.connections));
    loop {
        // The semaphore is never closed.
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
            continue;
        };
        let Ok(stream) = incoming.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let (server, closing) = (Arc::clone(&server), closing.clone());
        tokio::spawn(async move {
            connection(stream, server, limits, closing).await;
            drop(permit);
        });
    }
}

/// Answers on a connection until it ends. That it broke, or took too long, is its other end's affair.
pub async fn connection(
    stream: impl Stream,
    server: Arc<impl HttpServer>,
    limits: HttpLimits,
    mut closing: watch::Receiver<bool>,
) {
    let service = service_fn(move |request| {
        let server = Arc::clone(&server);
        async move { Ok::<_, Infallible>(server.answer(request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(limits.buffered_bytes)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = pin!(served);
    tokio::select! {
        _ = &mut served => return,
        () = sleep(limits.connection_time) => {}
        // Whoever closes may be gone already.
        _ = closing.wait_for(|closing| *closing) => {}
    }
    served.as_mut().graceful_shutdown();
    let _ = timeout(FAREWELL_TIME, served).await;
}

#[cfg(test)]
mod tests;
