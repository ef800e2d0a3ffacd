use std::time::Duration;

use klamm_net::{DEFAULT_MAX_FRAME_BYTES, ServerAddress, TcpConnector};

/// The servers to ask first for the members of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bootstrap {
    /// Brokers, Kafka's `bootstrap.servers`.
    Brokers(Vec<ServerAddress>),
    /// Controllers, Kafka's `bootstrap.controllers` (KIP-919): calls go straight to the active
    /// controller. Controllers know no leaders' addresses and serve no Metadata.
    Controllers(Vec<ServerAddress>),
}

impl Bootstrap {
    /// The servers' addresses.
    pub fn servers(&self) -> &[ServerAddress] {
        match self {
            Self::Brokers(servers) | Self::Controllers(servers) => servers,
        }
    }
}

/// What a client needs to know, with Kafka's names and defaults.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The servers to ask first.
    pub bootstrap: Bootstrap,
    /// `client.id`: who asks, for the servers' logs, metrics and quotas. `None` sends `klamm`.
    pub client_id: Option<String>,
    /// `request.timeout.ms`: how long an answer is waited for before the connection is given up.
    pub request_timeout: Duration,
    /// `default.api.timeout.ms`: how long a call may take with its retries, unless its options say.
    pub default_api_timeout: Duration,
    /// `retries`: how often a request is sent again at most, within the call's deadline.
    pub retries: u32,
    /// `retry.backoff.ms`: the first pause before a request is sent again; it doubles each time.
    pub retry_backoff: Duration,
    /// `retry.backoff.max.ms`: the longest such pause.
    pub retry_backoff_max: Duration,
    /// `reconnect.backoff.ms`: the first pause before a failed connection is tried again; it
    /// doubles each time.
    pub reconnect_backoff: Duration,
    /// `reconnect.backoff.max.ms`: the longest such pause.
    pub reconnect_backoff_max: Duration,
    /// `socket.connection.setup.timeout.ms`: how long each address of a host is tried.
    pub connect_timeout: Duration,
    /// The longest answer that is accepted, in bytes.
    pub max_frame_bytes: usize,
}

impl ClientConfig {
    /// Kafka's defaults, and 100 MiB as the longest answer.
    pub fn new(bootstrap: Bootstrap) -> Self {
        Self {
            bootstrap,
            client_id: None,
            request_timeout: Duration::from_secs(30),
            default_api_timeout: Duration::from_secs(60),
            retries: i32::MAX as u32,
            retry_backoff: Duration::from_millis(100),
            retry_backoff_max: Duration::from_secs(1),
            reconnect_backoff: Duration::from_millis(50),
            reconnect_backoff_max: Duration::from_secs(1),
            connect_timeout: TcpConnector::DEFAULT_TIMEOUT,
            max_frame_bytes: DEFAULT_MAX_FRAME_BYTES,
        }
    }
}
