use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use klamm_net::{
    Cause, Connection, ConnectionOptions, Connector, NetError, ServerAddress, ServerVersions,
    VersionsError,
};
use klamm_raft::{Request, RequestId, Response, Send, SendError};
use tokio::sync::{Mutex, mpsc};
use tokio::time::Instant;

/// What became of a request to another node.
pub(crate) struct Outcome {
    pub(crate) id: RequestId,
    pub(crate) response: Result<Response, SendError>,
}

/// Carries KRaft's requests to other nodes, over one connection an address.
pub(crate) struct Transport {
    connector: Arc<dyn Connector>,
    options: ConnectionOptions,
    timeout: Duration,
    links: HashMap<ServerAddress, Arc<Mutex<Option<Link>>>>,
    outcomes: mpsc::UnboundedSender<Outcome>,
}

/// A connection to a node that has said what it offers.
#[derive(Clone, Debug)]
struct Link {
    connection: Connection,
    versions: ServerVersions,
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers: Vec<_> = self.links.keys().collect();
        f.debug_struct("Transport")
            .field("links", &servers)
            .finish_non_exhaustive()
    }
}

impl Transport {
    /// `timeout` is `controller.quorum.request.timeout.ms`. What becomes of requests is told to
    /// `outcomes`.
    pub(crate) fn new(
        connector: Arc<dyn Connector>,
        options: ConnectionOptions,
        timeout: Duration,
        outcomes: mpsc::UnboundedSender<Outcome>,
    ) -> Self {
        Self {
            connector,
            options,
            timeout,
            links: HashMap::new(),
            outcomes,
        }
    }

    /// Sends a request. Must be called within a tokio runtime.
    pub(crate) fn send(&mut self, send: Send) {
        // A node whose place in the link nobody uses was at another address before.
        self.links
            .retain(|_, link| Arc::strong_count(link) > 1 || is_open(link));
        let endpoint = &send.to.endpoint;
        let address = ServerAddress::new(endpoint.host.clone(), endpoint.port);
        let link = Arc::clone(self.links.entry(address.clone()).or_default());
        let (connector, options) = (Arc::clone(&self.connector), self.options.clone());
        let (timeout, outcomes) = (self.timeout, self.outcomes.clone());
        tokio::spawn(async move {
            let mut link = link.lock().await;
            let at = Instant::now() + timeout;
            let asked = async {
                let made = match link.as_ref().filter(|link| !link.connection.is_closed()) {
                    Some(made) => made.clone(),
                    None => connect(&*connector, &address, &options, at).await?,
                };
                let response = ask(&made, &send.request, at).await;
                Ok::<_, Failed>((made, response?))
            };
            let response = match asked.await {
                Ok((made, response)) => {
                    *link = Some(made);
                    Ok(response)
                }
                Err(failed) => {
                    *link = None;
                    tracing::debug!(server = %address, %failed, "metadata quorum");
                    Err(failed.into())
                }
            };
            // The node may be about to stop.
            let _ = outcomes.send(Outcome {
                id: send.id,
                response,
            });
        });
    }
}

fn is_open(link: &Mutex<Option<Link>>) -> bool {
    link.try_lock().is_ok_and(|link| {
        link.as_ref()
            .is_some_and(|link| !link.connection.is_closed())
    })
}

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Net(#[from] VersionsError),
    #[error("it offers no version that can carry the request")]
    Unsupported,
}

impl From<Failed> for SendError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Net(_) => Self::Unreachable,
            Failed::Unsupported => Self::UnsupportedVersion,
        }
    }
}

async fn connect(
    connector: &dyn Connector,
    address: &ServerAddress,
    options: &ConnectionOptions,
    at: Instant,
) -> Result<Link, VersionsError> {
    let opened = Connection::open_negotiated(connector, address, options, at).await;
    opened.map(|(connection, versions)| Link {
        connection,
        versions,
    })
}

/// Asks in the latest version that both sides have.
async fn ask(link: &Link, request: &Request, at: Instant) -> Result<Response, Failed> {
    match request {
        Request::Vote(request) => link.call(request, at).await.map(Response::Vote),
        Request::BeginQuorumEpoch(request) => {
            link.call(request, at).await.map(Response::BeginQuorumEpoch)
        }
        Request::EndQuorumEpoch(request) => {
            link.call(request, at).await.map(Response::EndQuorumEpoch)
        }
        Request::Fetch(request) => link.call(request, at).await.map(Response::Fetch),
        Request::FetchSnapshot(request) => {
            link.call(request, at).await.map(Response::FetchSnapshot)
        }
        Request::DescribeQuorum(request) => {
            link.call(request, at).await.map(Response::DescribeQuorum)
        }
        Request::AddRaftVoter(request) => link.call(request, at).await.map(Response::AddRaftVoter),
        Request::RemoveRaftVoter(request) => {
            link.call(request, at).await.map(Response::RemoveRaftVoter)
        }
        Request::UpdateRaftVoter(request) => {
            link.call(request, at).await.map(Response::UpdateRaftVoter)
        }
    }
}

impl Link {
    async fn call<R: klamm_protocol::Request>(
        &self,
        request: &R,
        at: Instant,
    ) -> Result<R::Response, Failed> {
        let version = self
            .versions
            .latest::<R>(R::STABLE)
            .ok_or(Failed::Unsupported)?;
        let answer = self
            .connection
            .call(version, request, at, |_| Duration::ZERO);
        answer.await.map_err(|error| match error {
            NetError {
                cause: Cause::Encode { .. },
                ..
            } => Failed::Unsupported,
            error => VersionsError::from(error).into(),
        })
    }
}
