use std::fmt;

use bytes::Bytes;
use klamm_protocol::{ApiVersion, SmallString};

use super::Time;
use crate::decode;
use crate::words::{are, bytes, count, does};
use crate::{Direction, Options, Tree};

/// A request, a response or a token in a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its number, in the order in which messages are complete, from 1.
    pub number: u64,
    /// The number of its connection, from 1.
    pub connection: usize,
    /// What it is.
    pub kind: Kind,
    /// When its first byte came.
    pub time: Time,
    /// Its bytes, with the size.
    pub size: u64,
    /// The API and version, of a response from its request.
    pub api: Option<ApiVersion>,
    /// The correlation id.
    pub correlation_id: Option<i32>,
    /// The client id, of a response from its request.
    pub client_id: Option<SmallString>,
    /// Of an Envelope and of the response to it, the request that is inside.
    pub inner: Option<ApiVersion>,
    /// Of a response, the number of its request.
    pub answers: Option<u64>,
    /// Of a response, the nanoseconds from the request's last byte to its own first one.
    pub latency: Option<u64>,
    /// Error codes other than 0, each with how often it occurs.
    pub errors: Vec<(i16, u32)>,
    /// Bytes of it that are not in the capture.
    pub missing: u64,
    /// How it differs from its schema.
    pub fault: Option<Fault>,
    /// Its bytes, as many as are there before the first that is missing; `None` where nobody asked.
    pub bytes: Option<Bytes>,
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A request or response with its header.
    Message(Direction),
    /// Bytes of SASL without a header, after SaslHandshake v0 (KIP-43).
    Token(Direction),
}

/// How a message differs from its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// It ends before its last field.
    EndsEarly,
    /// Bytes follow its last field.
    LeftOver(u64),
    /// A length cannot be.
    Broken,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndsEarly => f.write_str("it ends before its last field"),
            Self::LeftOver(count) => {
                write!(f, "{} follow{} its last field", bytes(*count), does(*count))
            }
            Self::Broken => f.write_str("a length in it cannot be"),
        }
    }
}

impl Message {
    pub(super) fn new(connection: usize, kind: Kind, size: u64, time: Time) -> Self {
        Self {
            number: 0,
            connection,
            kind,
            time,
            size,
            api: None,
            correlation_id: None,
            client_id: None,
            inner: None,
            answers: None,
            latency: None,
            errors: Vec::new(),
            missing: 0,
            fault: None,
            bytes: None,
        }
    }

    /// Which way it goes.
    pub fn direction(&self) -> Direction {
        match self.kind {
            Kind::Message(direction) | Kind::Token(direction) => direction,
        }
    }

    /// Its bytes, explained; `None` where they were not kept.
    pub fn explain(&self, options: &Options) -> Option<Tree> {
        let frame = self.bytes.clone()?;
        Some(match (self.kind, self.api) {
            (Kind::Message(Direction::Request), _) => decode::request(frame, options),
            (Kind::Message(Direction::Response), Some(api)) => {
                decode::response_with(frame, api, self.inner, options)
            }
            (Kind::Message(Direction::Response), None) => {
                decode::unmatched_response(frame, options)
            }
            (Kind::Token(direction), _) => decode::token(frame, direction, options),
        })
    }
}

/// Something about a connection that is not as it should be, or that is worth knowing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The number of the connection, from 1.
    pub connection: usize,
    /// Whether it is about what the client sends; `None` where it is unknown who that is.
    pub is_from_client: Option<bool>,
    /// When.
    pub time: Time,
    /// What it is.
    pub what: What,
}

/// What a [`Finding`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Bytes are not in the capture.
    Lost {
        /// How many.
        bytes: u64,
    },
    /// It was unknown where the next message begins, and bytes were passed over to find it.
    Skipped {
        /// How many.
        bytes: u64,
    },
    /// The capture ends within a message.
    Ends {
        /// How many bytes of it are there.
        bytes: u64,
    },
    /// A response whose request is not in the capture.
    Unmatched {
        /// Its correlation id.
        correlation_id: i32,
    },
    /// A request whose response is not in the capture.
    Unanswered {
        /// The request's API.
        api: ApiVersion,
        /// Its correlation id.
        correlation_id: i32,
    },
    /// A message that does not have the form of its schema.
    Malformed {
        /// Its number.
        number: u64,
        /// How it differs.
        fault: Fault,
    },
}

impl Finding {
    /// Whether something is missing or broken, rather than worth knowing.
    pub fn is_bad(&self) -> bool {
        match self.what {
            What::Lost { .. } => true,
            What::Malformed { fault, .. } => !matches!(fault, Fault::LeftOver(_)),
            _ => false,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = match self.is_from_client {
            Some(true) => "from the client",
            Some(false) => "from the server",
            None => "from one side",
        };
        match self.what {
            What::Lost { bytes } => {
                write!(f, "{} {from} {} missing", count(bytes, "byte"), are(bytes))
            }
            What::Skipped { bytes } => write!(
                f,
                "{} {from} {} passed over, to where the next message begins",
                count(bytes, "byte"),
                are(bytes)
            ),
            What::Ends { bytes } => write!(
                f,
                "the capture ends within a message {from}, after {}",
                count(bytes, "byte")
            ),
            What::Unmatched { correlation_id } => write!(
                f,
                "a response with correlation id {correlation_id}, whose request is not in the capture"
            ),
            What::Unanswered {
                api,
                correlation_id,
            } => write!(
                f,
                "no response to {api}, correlation id {correlation_id}, in the capture"
            ),
            What::Malformed { number, fault } => write!(f, "message {number}: {fault}"),
        }
    }
}
