use std::io;
use std::sync::Arc;
use std::time::Duration;

use klamm_protocol::{ApiKey, ApiVersion, DecodeError, EncodeError};
use thiserror::Error;

use crate::{FrameError, ServerAddress};

/// A connection could not be made or used: which server's, why, and whether the request may have
/// reached it.
#[derive(Clone, Debug, Error)]
#[error("{server}: {cause}")]
pub struct NetError {
    /// The server at the other end.
    pub server: ServerAddress,
    /// What happened.
    pub cause: Cause,
    /// Whether the request may have reached the server, so that what became of it is unknown.
    pub sent: bool,
}

/// What happened to a connection or to a request on it.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum Cause {
    /// The host name has no address, or the resolver failed.
    #[error("cannot find the host's address ({0}); check the name")]
    Resolve(Arc<io::Error>),
    /// Nothing listens there.
    #[error("connection refused; check the address, and that a Kafka server listens there")]
    Refused,
    /// The operating system could not connect.
    #[error("cannot connect ({0}); check the address and the network")]
    Connect(Arc<io::Error>),
    /// Nobody accepted or refused the connection in time.
    #[error("no connection within {}; check the address, the network and firewalls", seconds(*.after))]
    ConnectTimeout {
        /// How long it was tried.
        after: Duration,
    },
    /// The answer did not come in time.
    #[error("no answer to {api} within {}; {}", seconds(*.after), silence(*.api))]
    Timeout {
        /// What was asked.
        api: ApiVersion,
        /// How long the answer was waited for.
        after: Duration,
    },
    /// The request could not be sent in time, since the server asked for a pause (KIP-219).
    #[error(
        "{api} was not sent within {}: the server throttles this client for another {}",
        seconds(*.after), seconds(*.left)
    )]
    Throttled {
        /// What was to be asked.
        api: ApiVersion,
        /// How long the request waited.
        after: Duration,
        /// How long the pause goes on.
        left: Duration,
    },
    /// The server closed the connection.
    #[error("the server closed the connection{}", closed(.waiting_for))]
    Closed {
        /// The request that waited for its answer.
        waiting_for: Option<ApiVersion>,
    },
    /// The connection broke.
    #[error("the connection broke ({0}); check the network, and look at the server's log")]
    Io(Arc<io::Error>),
    /// The bytes are not frames, or a frame is too large.
    #[error(transparent)]
    Frame(FrameError),
    /// An answer belongs to another request than the one that is next.
    #[error(
        "the answer with correlation id {got} came where {expected} was due; \
         this may not be a Kafka server, or a proxy mixes answers up: check the address"
    )]
    Correlation {
        /// The id of the request that is next.
        expected: i32,
        /// The id in the answer.
        got: i32,
    },
    /// An answer came that no request asked for.
    #[error(
        "the server sent {bytes} bytes that nobody asked for; it may not be a Kafka server: check the address"
    )]
    Unrequested {
        /// The frame's length.
        bytes: usize,
    },
    /// An answer cannot be read.
    #[error(
        "the answer to {api} cannot be read: it {error}; the server may not be a Kafka server: check the address"
    )]
    Decode {
        /// What was asked.
        api: ApiVersion,
        /// What is wrong with the answer.
        error: DecodeError,
    },
    /// The request cannot be written in this version. The caller is to blame.
    #[error("{api} cannot be sent: {error}")]
    Encode {
        /// What was to be asked.
        api: ApiVersion,
        /// What the version cannot carry.
        error: EncodeError,
    },
    /// This side has closed the connection.
    #[error("the connection was closed on this side")]
    ClosedHere,
}

impl Cause {
    /// Whether a new connection, or the same one later, may do better.
    pub fn is_retriable(&self) -> bool {
        match self {
            Self::Resolve(_)
            | Self::Refused
            | Self::Connect(_)
            | Self::ConnectTimeout { .. }
            | Self::Timeout { .. }
            | Self::Throttled { .. }
            | Self::Closed { .. }
            | Self::Io(_)
            | Self::ClosedHere => true,
            Self::Frame(error) => error.is_retriable(),
            Self::Correlation { .. }
            | Self::Unrequested { .. }
            | Self::Decode { .. }
            | Self::Encode { .. } => false,
        }
    }

    /// Says what an error while reading or writing means.
    pub(crate) fn from_io(error: Arc<io::Error>) -> Self {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
        match error.kind() {
            BrokenPipe | ConnectionAborted | ConnectionReset => Self::Closed { waiting_for: None },
            _ => Self::Io(error),
        }
    }
}

/// Whether a request is the first on a connection, before which a server may be anything.
fn is_first(api: ApiVersion) -> bool {
    api.key == ApiKey::API_VERSIONS
}

fn silence(api: ApiVersion) -> &'static str {
    if is_first(api) {
        "the server may be overloaded, or not a Kafka server"
    } else {
        "the server may be overloaded"
    }
}

fn closed(waiting_for: &Option<ApiVersion>) -> String {
    let Some(api) = *waiting_for else {
        return "; check that this is a PLAINTEXT listener of Kafka, and look at the server's log"
            .to_owned();
    };
    let step = if is_first(api) {
        "check that this is a PLAINTEXT listener of Kafka, and "
    } else {
        ""
    };
    format!(" while {api} waited for its answer; {step}look at the server's log")
}

/// A duration as people read it: `30 s`, `1.5 s`, `250 ms`.
pub fn seconds(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis < 1_000 {
        format!("{millis} ms")
    } else {
        // Seconds with up to one decimal: nobody reads more.
        let tenths = (millis + 50) / 100;
        match tenths % 10 {
            0 => format!("{} s", tenths / 10),
            rest => format!("{}.{rest} s", tenths / 10),
        }
    }
}
