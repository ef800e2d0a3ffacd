//! `klamm explain --serve`: the pages on this machine, and one that decodes.
//!
//! Only this machine is listened on, and only to pages that it served itself: a name that an attacker
//! points at 127.0.0.1 is refused, and so is a form on another page. What is there to be had is in
//! this program, so that no path leads to a file.

mod answer;
mod asked;

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::block_on;
use crate::errors::Problem;
use crate::exit::Exit;
use crate::interrupt::{Interrupt, Interrupted};
use crate::output::WriteError;

use super::run::{End, Explain};
use answer::Server;

/// The most connections at a time; more wait to be accepted.
const MOST_CONNECTIONS: usize = 64;
/// How long a request may take to say what it wants.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long a connection may last; browsers open another.
const CONNECTION_TIME: Duration = Duration::from_secs(300);
/// The most bytes that wait to be read or written on a connection.
const MOST_BUFFERED: usize = 64 << 10;
/// How long to wait after the system gave no connection, as when there are no descriptors.
const PAUSE: Duration = Duration::from_millis(100);

impl Explain<'_> {
    /// Serves until it is told to end.
    pub(super) fn serve(&self) -> Result<Exit, End> {
        let (port, show_secrets) = (self.args.capture.port.unwrap_or(0), self.args.show_secrets);
        let bound = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let address = bound.and_then(|listener| {
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        });
        let (listener, address) = address.map_err(|error| {
            Problem::failure(format!("127.0.0.1:{port} cannot be listened on"))
                .because(error.to_string())
                .next("give another --port, or leave it out for one that is free")
        })?;
        let mut closed = None;
        let exit = block_on(async {
            let listener = TcpListener::from_std(listener).map_err(|error| {
                Problem::failure("the system gives klamm no event loop").because(error.to_string())
            })?;
            let server = Arc::new(Server::new(address.port(), show_secrets));
            // Said once signals are listened to: whoever reads the address may send one.
            let served = async {
                self.out.results(&format!("http://{address}/\n"))?;
                let incoming = async || Ok(listener.accept().await?.0);
                let never: Infallible = accept(incoming, server).await;
                match never {}
            };
            match Interrupt::new().race(served).await {
                Ok(error) => {
                    let Err(error): Result<Infallible, WriteError> = error;
                    closed = Some(error);
                    Ok(Exit::Failed)
                }
                Err(Interrupted(signal)) => Ok(Exit::Interrupted(signal)),
            }
        })?;
        closed.map_or(Ok(exit), |error| Err(error.into()))
    }
}

/// Answers the connections that come, some at a time.
async fn accept<S: Stream>(
    mut incoming: impl AsyncFnMut() -> io::Result<S>,
    server: Arc<Server>,
) -> Infallible {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        // The semaphore is never closed.
        let Ok(permit) = room.clone().acquire_owned().await else {
            continue;
        };
        let Ok(stream) = incoming().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let server = server.clone();
        tokio::spawn(async move {
            connection(stream, server).await;
            drop(permit);
        });
    }
}

/// A connection. That it broke, or took too long, is its other end's affair.
async fn connection(stream: impl Stream, server: Arc<Server>) {
    let service = service_fn(move |request| {
        let server = server.clone();
        async move { Ok::<_, Infallible>(server.answer(request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(MOST_BUFFERED)
        .serve_connection(TokioIo::new(stream), service);
    let _ = tokio::time::timeout(CONNECTION_TIME, served).await;
}

/// What a connection is made of.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for S {}

#[cfg(test)]
mod tests;
