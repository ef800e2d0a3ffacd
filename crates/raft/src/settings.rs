use std::time::Duration;

use klamm_protocol::{BrokerId, Uuid, VersionRange};

use crate::{Endpoint, Endpoints, ReplicaKey};

/// Who a node is, and how long it waits for what.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `node.id`.
    pub id: BrokerId,
    /// The id of the directory that holds the metadata log.
    pub directory: Uuid,
    /// The cluster's id, as `meta.properties` has it.
    pub cluster_id: String,
    /// The first of `controller.listener.names`: controllers reach each other by it.
    pub listener: String,
    /// Where this node listens for controllers.
    pub endpoints: Endpoints,
    /// The levels of `kraft.version` that this node supports.
    pub kraft_versions: VersionRange,
    /// `controller.quorum.bootstrap.servers`, or the addresses of the static voters: whom to ask
    /// for the leader while it is not known.
    pub bootstrap: Vec<Endpoint>,
    /// `controller.quorum.election.timeout.ms`: how long to wait for an election.
    pub election_timeout: Duration,
    /// `controller.quorum.election.backoff.max.ms`: the longest wait after a lost election.
    pub election_backoff_max: Duration,
    /// `controller.quorum.fetch.timeout.ms`: how long to wait for the leader to answer a Fetch.
    pub fetch_timeout: Duration,
    /// `controller.quorum.request.timeout.ms`: how long to wait for any answer.
    pub request_timeout: Duration,
    /// `controller.quorum.retry.backoff.ms`: how long to leave a node alone after a failure.
    pub retry_backoff: Duration,
    /// `controller.quorum.fetch.max.bytes`: the most records that this node asks for at a time. A
    /// batch that is longer comes whole.
    pub fetch_max_bytes: u32,
    /// `controller.quorum.fetch.snapshot.max.bytes`: the most of a snapshot that it asks for.
    pub fetch_snapshot_max_bytes: u32,
    /// How long the leader may keep a Fetch of this node that has nothing to bring.
    pub fetch_max_wait: Duration,
    /// What the spread of the timeouts starts from. Nodes need different seeds.
    pub seed: u64,
}

impl Settings {
    /// Apache Kafka's default timeouts for a node with one listener.
    pub fn new(id: BrokerId, directory: Uuid, listener: &str, endpoint: Endpoint) -> Self {
        Self {
            id,
            directory,
            cluster_id: String::new(),
            listener: listener.to_owned(),
            endpoints: Endpoints::one(listener, endpoint),
            kraft_versions: VersionRange::new(0, 1),
            bootstrap: Vec::new(),
            election_timeout: Duration::from_millis(1_000),
            election_backoff_max: Duration::from_millis(1_000),
            fetch_timeout: Duration::from_millis(2_000),
            request_timeout: Duration::from_millis(2_000),
            retry_backoff: Duration::from_millis(20),
            fetch_max_bytes: 1 << 20,
            fetch_snapshot_max_bytes: 1 << 20,
            fetch_max_wait: Duration::from_millis(500),
            seed: 0,
        }
    }

    /// The replica that this node is.
    pub fn replica(&self) -> ReplicaKey {
        ReplicaKey::new(self.id, self.directory)
    }
}
