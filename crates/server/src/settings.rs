//! `server.properties`: which keys nodes know, and what they say.
//!
//! [`ControllerSettings`] is what a controller runs by, [`BrokerSettings`] a broker, [`NodeSettings`]
//! what the directories of any node are made from. All name everything that is wrong with a file at
//! once.

mod authorization;
mod broker;
mod broker_keys;
mod connections;
mod keys;
mod listeners;
mod metadata_log;
mod node;
mod other_keys;
mod quorum;
mod replicas;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use klamm_config::{ConfigError, KeyTable, Properties, Reading, Values, Warning, is_secret};
use klamm_controller::ControllerConfig;
use klamm_metadata::AuthorizerConfig;
use klamm_net::ServerAddress;

pub use authorization::TokenSettings;
pub use broker::BrokerSettings;
pub use connections::ConnectionSettings;
pub use listeners::Listener;
pub use metadata_log::MetadataLogSettings;
pub use node::{NodeSettings, Role};
pub use quorum::{QuorumSettings, Voter};
pub use replicas::{ReplicaFetchSettings, ReplicaSettings};

/// The keys of `server.properties` that a controller of klamm reads.
pub fn server_keys() -> &'static KeyTable {
    &keys::KEYS
}

/// What `server.properties` says to a controller, defaults included.
#[derive(Clone, Debug)]
pub struct ControllerSettings {
    /// Who the node is, where it listens and what its directories are.
    pub node: NodeSettings,
    /// What it does with connections.
    pub connections: ConnectionSettings,
    /// How the metadata log is kept.
    pub metadata_log: MetadataLogSettings,
    /// What decisions go by where no dynamic config does.
    pub controller: ControllerConfig,
    /// `broker.session.timeout.ms`: a broker that was not heard of for so long is fenced.
    pub broker_session_timeout: Duration,
    /// `klamm.broker.connection.loss.grace.ms`: so is one that had no connection for so long; `None`
    /// turns that off.
    pub connection_loss_grace: Option<Duration>,
    /// How often preferred leaders are elected where others lead, if
    /// `auto.leader.rebalance.enable` says so.
    pub leader_rebalance_interval: Option<Duration>,
    /// `unclean.leader.election.interval.ms`: how often leaderless partitions are looked at that may
    /// have an unclean election.
    pub unclean_election_interval: Duration,
    /// `klamm.http.listener`: where the node tells of itself by HTTP.
    pub http_listener: Option<ServerAddress>,
    /// `delete.topic.enable`.
    pub delete_topics: bool,
    /// What allows and denies, if `authorizer.class.name` says so.
    pub authorizer: Option<AuthorizerConfig>,
    /// Delegation tokens.
    pub tokens: TokenSettings,
}

impl ControllerSettings {
    /// Reads the file of a node that is a controller and nothing else.
    pub fn read(properties: &Properties) -> Result<(Self, Vec<Warning>), ConfigError> {
        let mut reading = keys::KEYS.begin(properties);
        let node = NodeSettings::parse(&mut reading);
        node.check_for_controller(&mut reading);
        let connections = ConnectionSettings::parse(&mut reading);
        let authorizer = authorization::authorizer(&mut reading);
        refuse_plugins(&mut reading);
        check_heartbeats(&mut reading);
        let http_listener = http_listener(&mut reading);
        let values = reading.finish()?;
        let settings = Self {
            connections,
            metadata_log: MetadataLogSettings::new(&values),
            controller: controller_config(&node, &values, properties),
            broker_session_timeout: millis(&values, "broker.session.timeout.ms"),
            connection_loss_grace: Some(millis(&values, "klamm.broker.connection.loss.grace.ms"))
                .filter(|grace| !grace.is_zero()),
            leader_rebalance_interval: flag(&values, "auto.leader.rebalance.enable").then(|| {
                let seconds = long(&values, "leader.imbalance.check.interval.seconds");
                Duration::from_secs(seconds.unsigned_abs())
            }),
            unclean_election_interval: long_millis(&values, "unclean.leader.election.interval.ms"),
            http_listener,
            delete_topics: flag(&values, "delete.topic.enable"),
            authorizer,
            tokens: TokenSettings::new(&values),
            node,
        };
        Ok((settings, values.warnings().to_vec()))
    }
}

fn controller_config(
    node: &NodeSettings,
    values: &Values,
    properties: &Properties,
) -> ControllerConfig {
    let replicas = int(values, "default.replication.factor");
    ControllerConfig {
        min_insync_replicas: int(values, "min.insync.replicas").unsigned_abs() as usize,
        unclean_leader_election: flag(values, "unclean.leader.election.enable"),
        num_partitions: int(values, "num.partitions"),
        default_replication_factor: i16::try_from(replicas).expect("the table bounds it"),
        properties: configured(properties),
        voters: node
            .quorum
            .static_voters
            .iter()
            .map(|voter| voter.id)
            .collect(),
        ..ControllerConfig::new(node.id)
    }
}

/// Whoever relies on a policy or on a value from elsewhere must not find it passed over.
fn refuse_plugins(reading: &mut Reading<'_>) {
    const LACKS: [(&str, &str); 3] = [
        (
            "create.topic.policy.class.name",
            "klamm cannot load a policy written in Java, and would let every topic pass; remove \
             the key if that is meant",
        ),
        (
            "alter.config.policy.class.name",
            "klamm cannot load a policy written in Java, and would let every config pass; remove \
             the key if that is meant",
        ),
        (
            "config.providers",
            "klamm reads no values from elsewhere; write them into the file",
        ),
    ];
    for (key, what) in LACKS {
        let values = reading.values();
        if !values.string(key).unwrap_or_default().is_empty() || !values.list(key).is_empty() {
            reading.wrong(key, what);
        }
    }
    if flag(reading.values(), "controller.quorum.auto.join.enable") {
        let what = "klamm's controllers do not join a quorum by themselves yet; must be false";
        reading.wrong("controller.quorum.auto.join.enable", what);
    }
}

fn http_listener(reading: &mut Reading<'_>) -> Option<ServerAddress> {
    const KEY: &str = "klamm.http.listener";
    let address = reading.values().string(KEY).unwrap_or_default();
    if address.is_empty() {
        return None;
    }
    // Port 0 is any that is free.
    let parsed = match address.strip_suffix(":0") {
        Some(host) => format!("{host}:1")
            .parse::<ServerAddress>()
            .map(|address| ServerAddress::new(address.host(), 0)),
        None => address.parse(),
    };
    match parsed {
        Ok(address) => Some(address),
        Err(error) => {
            let what = format!("{error}; give HOST:PORT, such as 127.0.0.1:9101");
            reading.wrong(KEY, what);
            None
        }
    }
}

/// A broker that is heard of too rarely is fenced now and then although it is well.
fn check_heartbeats(reading: &mut Reading<'_>) {
    let values = reading.values();
    let session = millis(values, "broker.session.timeout.ms");
    let interval = millis(values, "broker.heartbeat.interval.ms");
    if session < interval * 2
        && let Some(entry) = ["broker.session.timeout.ms", "broker.heartbeat.interval.ms"]
            .iter()
            .find_map(|key| reading.properties().get(key))
    {
        let what = "lets brokers be fenced that are well: broker.session.timeout.ms should be at \
                    least twice broker.heartbeat.interval.ms";
        reading.warn(entry, what);
    }
}

/// Every entry of the file that is no secret: what DescribeConfigs shows, and what topics inherit.
fn configured(properties: &Properties) -> BTreeMap<String, String> {
    properties
        .effective()
        .filter(|entry| !is_secret(&entry.key))
        .map(|entry| (entry.key.clone(), entry.value.trim().to_owned()))
        .collect()
}

fn int(values: &Values, key: &str) -> i32 {
    values.int(key).expect("the table has a default for it")
}

fn long(values: &Values, key: &str) -> i64 {
    values.long(key).expect("the table has a default for it")
}

fn flag(values: &Values, key: &str) -> bool {
    values.bool(key).expect("the table has a default for it")
}

fn millis(values: &Values, key: &str) -> Duration {
    let duration = values.duration(key);
    duration.expect("the table has a default for it")
}

/// The duration of a key of 64 bits; what is negative is none at all.
fn long_millis(values: &Values, key: &str) -> Duration {
    Duration::from_millis(u64::try_from(long(values, key)).unwrap_or(0))
}

/// The same where -1 means without end.
fn bounded_millis(values: &Values, key: &str) -> Option<Duration> {
    let millis = u64::try_from(long(values, key)).ok()?;
    Some(Duration::from_millis(millis))
}
