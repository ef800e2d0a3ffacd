//! `klamm explain --serve`: the pages on this machine, and one that decodes.
//!
//! Only this machine is listened on, and only to pages that it served itself: a name that an attacker
//! points at 127.0.0.1 is refused, and so is a form on another page. What is there to be had is in
//! this program, so that no path leads to a file.

mod answer;
mod asked;

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Request, Response};
use klamm_protocol::Bytes;
use klamm_server::http::{self, HttpLimits, HttpServer};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::block_on;
use crate::errors::Problem;
use crate::exit::Exit;
use crate::interrupt::{Interrupt, Interrupted};
use crate::output::WriteError;

use super::run::{End, Explain};
use answer::Server;

/// What browsers may take.
const LIMITS: HttpLimits = HttpLimits {
    connections: 64,
    head_time: Duration::from_secs(10),
    connection_time: Duration::from_secs(300),
    buffered_bytes: 64 << 10,
};

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
                // A signal ends the connections with the process.
                let (_open, closing) = watch::channel(false);
                let never: Infallible = http::accept(listener, server, LIMITS, closing).await;
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

impl HttpServer for Server {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        self.answer(request).await
    }
}

#[cfg(test)]
mod tests;
