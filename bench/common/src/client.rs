use std::time::Duration;

use klamm_net::{Connection, ConnectionOptions, ServerAddress, TcpConnector};
use klamm_protocol::{ErrorCode, Request};
use tokio::time::Instant;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(120);
/// An answer about 100,000 partitions has some megabytes.
const MAX_ANSWER_BYTES: usize = 256 << 20;

/// A connection to a server.
#[derive(Clone, Debug)]
pub struct Client {
    connection: Connection,
}

impl Client {
    /// Connects.
    pub async fn connect(server: &ServerAddress) -> Result<Self, String> {
        let connector = TcpConnector { timeout: PATIENCE };
        let options = ConnectionOptions {
            max_frame_bytes: MAX_ANSWER_BYTES,
            ..ConnectionOptions::default()
        };
        let connection = Connection::open(&connector, server, options, deadline()).await;
        let connection = connection.map_err(|error| error.to_string())?;
        Ok(Self { connection })
    }

    /// Sends a request in its latest version, and waits for the answer.
    pub async fn ask<R: Request>(&self, request: &R) -> Result<R::Response, String> {
        let answer = self
            .connection
            .call(R::STABLE.max, request, deadline(), |_| Duration::ZERO);
        answer
            .await
            .map_err(|error| format!("{}: {error}", R::NAME))
    }
}

fn deadline() -> Instant {
    Instant::now() + PATIENCE
}

/// An error code as a problem of what was asked.
pub fn check(what: &str, code: i16, text: Option<&str>) -> Result<(), String> {
    match ErrorCode(code) {
        ErrorCode::NONE => Ok(()),
        code => Err(format!("{what}: {code:?} {}", text.unwrap_or_default())),
    }
}
