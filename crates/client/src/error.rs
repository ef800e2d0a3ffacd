use std::fmt::Write as _;
use std::time::Duration;

use klamm_net::{NetError, ServerAddress, VersionsError, seconds};
use klamm_protocol::{ApiKey, BrokerId, ErrorCode, Listener, Request, SmallString, VersionRange};
use thiserror::Error;

/// Why a call failed as a whole. Each text names the server, the cause and, where there is one, the
/// next step.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ClientError {
    /// No server of the bootstrap list could be used.
    #[error("{}", no_server_text(.failures))]
    NoServer {
        /// What happened with each server last.
        failures: Vec<ClientError>,
    },
    /// A connection could not be made or used, and trying again would not help.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The call's deadline passed, or all retries were used.
    #[error("{}", gave_up_text(self))]
    GaveUp {
        /// What was asked.
        api: ApiKey,
        /// How long it was tried.
        after: Duration,
        /// How often it was tried.
        attempts: u32,
        /// Whether the retries were used up before the deadline passed.
        out_of_retries: bool,
        /// What went wrong last.
        last: Option<Box<ClientError>>,
        /// Whether a request that changes something may have been carried out.
        outcome_unknown: bool,
    },
    /// A request that changes something was sent, and no answer came, or none that can be read. It
    /// is not sent again, since doing it twice is not the same as doing it once, or would not help.
    #[error(
        "{cause}; whether {api} was carried out is unknown: look at the cluster before asking again"
    )]
    OutcomeUnknown {
        /// What was asked.
        api: ApiKey,
        /// What happened to the answer.
        cause: NetError,
    },
    /// The server does not offer what the call needs.
    #[error("{}", unsupported_text(.server, *.api, *.offered, *.needed, .reason))]
    Unsupported {
        /// What was to be asked.
        api: ApiKey,
        /// The server that was to be asked.
        server: ServerAddress,
        /// The versions that it offers.
        offered: VersionRange,
        /// The versions that would do.
        needed: VersionRange,
        /// Why a later version is needed than the first, such as `an unclean election`.
        reason: Option<&'static str>,
    },
    /// The server does not let this client do that.
    #[error("{server}: not authorized: {api} was answered with {code}{}", after_colon(.message))]
    NotAuthorized {
        /// What was asked.
        api: ApiKey,
        /// The server.
        server: ServerAddress,
        /// One of the authorization error codes.
        code: ErrorCode,
        /// What the server says about it.
        message: Option<SmallString>,
    },
    /// The server answered with an error for the request as a whole.
    #[error("{server}: {api} was answered with {code}{}{}", after_colon(.message), next_step(*.code))]
    Server {
        /// What was asked.
        api: ApiKey,
        /// The server.
        server: ServerAddress,
        /// The error code.
        code: ErrorCode,
        /// What the server says about it.
        message: Option<SmallString>,
    },
    /// The cluster has no node with this id now.
    #[error("{server}: the cluster has no live node {node}; describe the cluster to see its nodes")]
    UnknownNode {
        /// The node that was asked for.
        node: BrokerId,
        /// The server that was asked for the nodes.
        server: ServerAddress,
    },
    /// The server knows of no active controller now.
    #[error("{server}: the cluster has no active controller now; check its controllers")]
    NoController {
        /// The server that was asked.
        server: ServerAddress,
    },
    /// The client ended while the call was under way.
    #[error("the client was stopped before the call ended")]
    Stopped,
}

impl From<VersionsError> for ClientError {
    fn from(error: VersionsError) -> Self {
        match error {
            VersionsError::Net(error) => Self::Net(error),
            VersionsError::Refused { server, code } => {
                Self::from_answer(ApiKey::API_VERSIONS, &server, code, None)
            }
        }
    }
}

impl ClientError {
    /// An error where an answer has a code of one for the request as a whole.
    pub(crate) fn check<R: Request>(
        server: &ServerAddress,
        code: i16,
        message: Option<SmallString>,
    ) -> Result<(), Self> {
        match ErrorCode(code) {
            ErrorCode::NONE => Ok(()),
            code => Err(Self::from_answer(R::KEY, server, code, message)),
        }
    }

    pub(crate) fn from_answer(
        api: ApiKey,
        server: &ServerAddress,
        code: ErrorCode,
        message: Option<SmallString>,
    ) -> Self {
        let server = server.clone();
        if is_authorization(code) {
            Self::NotAuthorized {
                api,
                server,
                code,
                message,
            }
        } else {
            Self::Server {
                api,
                server,
                code,
                message,
            }
        }
    }

    /// Whether the same may succeed later.
    pub(crate) fn is_retriable(&self) -> bool {
        match self {
            Self::Net(error) => error.cause.is_retriable(),
            Self::Server { code, .. } => code.is_retriable(),
            Self::NoController { .. } => true,
            Self::NoServer { failures } => failures.iter().any(Self::is_retriable),
            _ => false,
        }
    }

    /// The error code, where a server answered with one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::NotAuthorized { code, .. } | Self::Server { code, .. } => Some(*code),
            Self::GaveUp {
                last: Some(last), ..
            } => last.code(),
            _ => None,
        }
    }
}

pub(crate) fn is_authorization(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::TOPIC_AUTHORIZATION_FAILED
            | ErrorCode::GROUP_AUTHORIZATION_FAILED
            | ErrorCode::CLUSTER_AUTHORIZATION_FAILED
            | ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED
            | ErrorCode::DELEGATION_TOKEN_AUTHORIZATION_FAILED
    )
}

macro_rules! item_error {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Error)]
        #[error("{code}{}", after_colon(.message))]
        pub struct $name {
            /// The error code.
            pub code: ErrorCode,
            /// What the server says about it.
            pub message: Option<SmallString>,
        }

        impl $name {
            /// `Ok` for the code of success.
            pub(crate) fn check(code: i16, message: Option<SmallString>) -> Result<(), Self> {
                match ErrorCode(code) {
                    ErrorCode::NONE => Ok(()),
                    code => Err(Self { code, message }),
                }
            }

            pub(crate) fn left_out() -> Self {
                Self {
                    code: ErrorCode::UNKNOWN_SERVER_ERROR,
                    message: Some(SmallString::from_static("the server's answer leaves it out")),
                }
            }
        }
    };
}

item_error!(
    /// What a server says of one topic or config resource, while it may do others.
    ItemError
);
item_error!(
    /// What a server says of one partition, while it may do others.
    PartitionError
);

impl PartitionError {
    /// Whether the partition has the leader already that the election was to give it.
    pub fn is_election_not_needed(&self) -> bool {
        self.code == ErrorCode::ELECTION_NOT_NEEDED
    }
}

fn after_colon(message: &Option<SmallString>) -> String {
    match message {
        Some(message) if !message.is_empty() => format!(": {message}"),
        _ => String::new(),
    }
}

fn no_server_text(failures: &[ClientError]) -> String {
    match failures {
        [] => "there is no server to connect to; name one as host:port".to_owned(),
        [failure] => failure.to_string(),
        failures => {
            let mut text = "none of the servers could be used:".to_owned();
            for failure in failures {
                // Writing to a string does not fail.
                let _ = write!(text, "\n  {failure}");
            }
            text
        }
    }
}

fn gave_up_text(error: &ClientError) -> String {
    let ClientError::GaveUp {
        api,
        after,
        attempts,
        out_of_retries,
        last,
        outcome_unknown,
    } = error
    else {
        return String::new();
    };
    let Some(last) = last else {
        return format!(
            "{api} was not sent: its timeout of {} was over before",
            seconds(*after)
        );
    };
    let tries = if *attempts == 1 {
        "1 try"
    } else {
        &format!("{attempts} tries")
    };
    let mut text = format!("{last}; gave up after {} and {tries}", seconds(*after));
    if *out_of_retries {
        text.push_str(", as many as are allowed");
    }
    if *outcome_unknown {
        let _ = write!(text, "; whether {api} was carried out is unknown");
    }
    text
}

fn unsupported_text(
    server: &ServerAddress,
    api: ApiKey,
    offered: VersionRange,
    needed: VersionRange,
    reason: &Option<&'static str>,
) -> String {
    if offered.is_empty() {
        let why = if api.listeners().contains(&Listener::Controller) {
            "it is too old for it, or no Kafka broker or controller"
        } else {
            "only brokers do, and this may be a controller; connect to a broker"
        };
        return format!("{server}: this server does not offer {api}: {why}");
    }
    let reason = reason
        .map(|reason| format!(" for {reason}"))
        .unwrap_or_default();
    let needs = if offered.max < needed.min {
        format!(
            "version {} or later is needed{reason}; upgrade the server",
            needed.min
        )
    } else {
        format!(
            "klamm knows no version past {}; use a later klamm",
            needed.max
        )
    };
    format!("{server}: this server offers {api} in version {offered}, but {needs}")
}

/// What a person may do about an error code that says little by itself.
fn next_step(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::REQUEST_TIMED_OUT => "; give it more time, or look at the controllers' logs",
        ErrorCode::NOT_CONTROLLER => {
            "; no active controller was found; look at the controllers' logs"
        }
        ErrorCode::MISMATCHED_ENDPOINT_TYPE | ErrorCode::UNSUPPORTED_ENDPOINT_TYPE => {
            "; this is a broker where a controller was expected, or the other way round"
        }
        _ => "",
    }
}
