use std::collections::BTreeSet;
use std::time::Duration;

use klamm_config::{ConfigError, Properties, Reading, Warning};
use klamm_controller::ControllerConfig;

use super::broker_keys::BROKER_KEYS;
use super::{
    ConnectionSettings, Listener, MetadataLogSettings, NodeSettings, ReplicaSettings, Role,
    check_heartbeats, controller_config, flag, millis, refuse_plugins,
};

/// What `server.properties` says to a broker, defaults included.
#[derive(Clone, Debug)]
pub struct BrokerSettings {
    /// Who the node is and what its directories are.
    pub node: NodeSettings,
    /// The name of the listener by which brokers reach each other.
    pub inter_broker_listener: String,
    /// What it does with connections.
    pub connections: ConnectionSettings,
    /// How its copy of the metadata log is kept.
    pub metadata_log: MetadataLogSettings,
    /// How replicas are kept.
    pub replicas: ReplicaSettings,
    /// What holds for topics and nodes where no dynamic config does.
    pub configs: ControllerConfig,
    /// `broker.rack`.
    pub rack: Option<String>,
    /// `broker.heartbeat.interval.ms`.
    pub heartbeat_interval: Duration,
    /// `broker.session.timeout.ms`: how long the controller may not hear of it.
    pub session_timeout: Duration,
    /// `initial.broker.registration.timeout.ms`: how long it tries to register.
    pub registration_timeout: Duration,
    /// `klamm.controlled.shutdown.timeout.ms`: how long a broker that stops waits until others lead;
    /// `None` where `controlled.shutdown.enable` says that it does not.
    pub controlled_shutdown: Option<Duration>,
    /// `controller.socket.timeout.ms`: how long an answer of the controller is waited for.
    pub controller_timeout: Duration,
    /// `request.timeout.ms`: how long a forwarded request may take.
    pub request_timeout: Duration,
}

impl BrokerSettings {
    /// Reads the file of a node that is a broker and nothing else.
    pub fn read(properties: &Properties) -> Result<(Self, Vec<Warning>), ConfigError> {
        let mut reading = BROKER_KEYS.begin(properties);
        let node = NodeSettings::parse(&mut reading);
        check_node(&node, &mut reading);
        let inter_broker_listener = inter_broker_listener(&node, &mut reading);
        let connections = ConnectionSettings::parse(&mut reading);
        refuse_authorizer(&mut reading);
        refuse_plugins(&mut reading);
        check_heartbeats(&mut reading);
        let values = reading.finish()?;
        let mut configs = controller_config(&node, &values, properties);
        // DescribeConfigs tells what this broker does, and not what the file has for others.
        for (key, value) in NEVER {
            configs.properties.insert(key.to_owned(), value.to_owned());
        }
        let shutdown = millis(&values, "klamm.controlled.shutdown.timeout.ms");
        let settings = Self {
            inter_broker_listener,
            connections,
            metadata_log: MetadataLogSettings::new(&values),
            replicas: ReplicaSettings::new(&node, &values, properties),
            configs,
            rack: values
                .string("broker.rack")
                .filter(|rack| !rack.is_empty())
                .map(str::to_owned),
            heartbeat_interval: millis(&values, "broker.heartbeat.interval.ms"),
            session_timeout: millis(&values, "broker.session.timeout.ms"),
            registration_timeout: millis(&values, "initial.broker.registration.timeout.ms"),
            controlled_shutdown: flag(&values, "controlled.shutdown.enable").then_some(shutdown),
            controller_timeout: millis(&values, "controller.socket.timeout.ms"),
            request_timeout: millis(&values, "request.timeout.ms"),
            node,
        };
        Ok((settings, values.warnings().to_vec()))
    }
}

/// What klamm's brokers do not do, whatever the file says.
const NEVER: [(&str, &str); 1] = [("auto.create.topics.enable", "false")];

/// What is fine for a node in general, but not for one that klamm runs as a broker.
fn check_node(node: &NodeSettings, reading: &mut Reading<'_>) {
    if !node.roles.is_empty() && node.roles != BTreeSet::from([Role::Broker]) {
        let what = "must be broker: klamm runs one role a process, so give the controller a file \
                    of its own (klamm controller)";
        reading.wrong("process.roles", what);
        return;
    }
    for listener in &node.broker_listeners {
        listener.check_plaintext(reading);
        if node.controller_listener_names.contains(&listener.name) {
            let what = format!(
                "{} is a listener of this node, which is no controller",
                listener.name
            );
            reading.wrong("controller.listener.names", what);
        }
    }
}

/// Whoever relies on ACLs must not find every client served.
fn refuse_authorizer(reading: &mut Reading<'_>) {
    const KEY: &str = "authorizer.class.name";
    if reading
        .values()
        .string(KEY)
        .is_some_and(|name| !name.is_empty())
    {
        let what = "this release of klamm's brokers does not check who may read and write; remove \
                    the key if everybody may";
        reading.wrong(KEY, what);
    }
}

/// The listener by which brokers reach each other, which others are told of.
fn inter_broker_listener(node: &NodeSettings, reading: &mut Reading<'_>) -> String {
    const KEY: &str = "inter.broker.listener.name";
    let values = reading.values();
    let named = values.string(KEY).filter(|name| !name.is_empty());
    let protocol = values.word("security.inter.broker.protocol");
    let name = named.or(protocol).unwrap_or_default().to_uppercase();
    let is_it = |listener: &Listener| listener.name == name;
    if !node.broker_listeners.is_empty() && !node.broker_listeners.iter().any(is_it) {
        let what = format!("brokers are to reach each other by {name}, which is not in listeners");
        reading.wrong(KEY, what);
    }
    name
}

#[cfg(test)]
mod tests;
