use std::time::Duration;

use klamm_config::Reading;
use klamm_net::ServerAddress;
use klamm_protocol::BrokerId;

use super::{int, millis};

/// How the quorum of controllers works together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuorumSettings {
    /// `controller.quorum.voters`: the voters of a quorum whose voters never change, ascending.
    pub static_voters: Vec<Voter>,
    /// `controller.quorum.bootstrap.servers`: whom to ask for the leader.
    pub bootstrap_servers: Vec<ServerAddress>,
    /// `controller.quorum.election.timeout.ms`.
    pub election_timeout: Duration,
    /// `controller.quorum.election.backoff.max.ms`.
    pub election_backoff_max: Duration,
    /// `controller.quorum.fetch.timeout.ms`.
    pub fetch_timeout: Duration,
    /// `controller.quorum.request.timeout.ms`.
    pub request_timeout: Duration,
    /// `controller.quorum.retry.backoff.ms`.
    pub retry_backoff: Duration,
    /// `controller.quorum.fetch.max.bytes`: the most records that it asks another for at a time.
    pub fetch_max_bytes: u32,
    /// `controller.quorum.fetch.snapshot.max.bytes`: the most of a snapshot.
    pub fetch_snapshot_max_bytes: u32,
}

/// A static voter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Voter {
    /// Its node id.
    pub id: BrokerId,
    /// Where it listens for controllers.
    pub address: ServerAddress,
}

impl QuorumSettings {
    pub(super) fn parse(reading: &mut Reading<'_>) -> Self {
        let static_voters = voters(reading);
        let bootstrap_servers = bootstrap_servers(reading);
        let values = reading.values();
        let bytes = |key| int(values, key).unsigned_abs();
        let settings = Self {
            static_voters,
            bootstrap_servers,
            election_timeout: millis(values, "controller.quorum.election.timeout.ms"),
            election_backoff_max: millis(values, "controller.quorum.election.backoff.max.ms"),
            fetch_timeout: millis(values, "controller.quorum.fetch.timeout.ms"),
            request_timeout: millis(values, "controller.quorum.request.timeout.ms"),
            retry_backoff: millis(values, "controller.quorum.retry.backoff.ms"),
            fetch_max_bytes: bytes("controller.quorum.fetch.max.bytes"),
            fetch_snapshot_max_bytes: bytes("controller.quorum.fetch.snapshot.max.bytes"),
        };
        let keys = [
            "controller.quorum.voters",
            "controller.quorum.bootstrap.servers",
        ];
        if keys.iter().all(|key| values.list(key).is_empty()) {
            let what = "must name the controllers as host:port,host:port (or \
                        controller.quorum.voters, where they never change)";
            reading.wrong("controller.quorum.bootstrap.servers", what);
        }
        settings
    }
}

fn voters(reading: &mut Reading<'_>) -> Vec<Voter> {
    const KEY: &str = "controller.quorum.voters";
    let mut voters: Vec<Voter> = Vec::new();
    for item in reading.values().list(KEY).to_vec() {
        match voter(&item) {
            Ok(voter) if voters.iter().any(|other| other.id == voter.id) => {
                reading.wrong(KEY, format!("the voter {} is there twice", voter.id));
            }
            Ok(voter) => voters.push(voter),
            Err(problem) => reading.wrong(KEY, problem),
        }
    }
    voters.sort_unstable();
    voters
}

fn voter(item: &str) -> Result<Voter, String> {
    let form = || format!("{item:?} must be ID@HOST:PORT, such as 1@localhost:9093");
    let (id, address) = item.split_once('@').ok_or_else(form)?;
    let id = id.trim().parse().ok().filter(|id| *id >= 0);
    let address = address.parse::<ServerAddress>();
    Ok(Voter {
        id: BrokerId(id.ok_or_else(form)?),
        address: address.map_err(|error| error.to_string())?,
    })
}

fn bootstrap_servers(reading: &mut Reading<'_>) -> Vec<ServerAddress> {
    const KEY: &str = "controller.quorum.bootstrap.servers";
    let mut servers = Vec::new();
    for item in reading.values().list(KEY).to_vec() {
        match item.parse::<ServerAddress>() {
            Ok(server) if servers.contains(&server) => {}
            Ok(server) => servers.push(server),
            Err(error) => reading.wrong(KEY, error.to_string()),
        }
    }
    servers
}
