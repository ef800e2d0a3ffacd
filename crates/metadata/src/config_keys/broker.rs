//! Brokers and controllers.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::ConfigType;

/// A key of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokerKey {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: ConfigType,
    /// The value where none is set; `None` where there is none then.
    pub default: Option<&'static str>,
    /// Whether it may be changed while the node runs.
    pub dynamic: bool,
    /// Whether DescribeConfigs leaves it out unless it is set.
    pub internal: bool,
}

/// One key a line: name, type, whether it is dynamic and internal, default. Of the release 4.4.0.
const FACTS: &str = include_str!("../../facts/broker-configs.tsv");

static KEYS: LazyLock<BTreeMap<&'static str, BrokerKey>> = LazyLock::new(|| {
    let rows = FACTS.lines().skip(1).filter_map(read);
    rows.map(|key| (key.name, key)).collect()
});

fn read(line: &'static str) -> Option<BrokerKey> {
    let mut columns = line.split('\t');
    let name = columns.next()?;
    let kind = ConfigType::from_name(columns.next()?)?;
    let mode = columns.next()?;
    Some(BrokerKey {
        name,
        kind,
        default: columns.next(),
        dynamic: mode.starts_with("dynamic"),
        internal: mode.ends_with("internal"),
    })
}

/// The key of nodes with this name, or the one that it is for one listener alone.
pub fn broker_key(name: &str) -> Option<&'static BrokerKey> {
    KEYS.get(name)
        .or_else(|| KEYS.get(mechanism_base(listener_base(name)?)))
}

/// Every key of nodes, in the order of the names.
pub fn broker_keys() -> impl Iterator<Item = &'static BrokerKey> {
    KEYS.values()
}

impl BrokerKey {
    /// The names whose values hold for a name of nodes, the closest first: smaller units before larger
    /// ones, a listener's own before what holds for all.
    pub fn synonyms(name: &str) -> Vec<&str> {
        const UNITS: &[&[&str]] = &[
            &["log.roll.ms", "log.roll.hours"],
            &["log.roll.jitter.ms", "log.roll.jitter.hours"],
            &["log.flush.interval.ms", "log.flush.scheduler.interval.ms"],
            &[
                "log.retention.ms",
                "log.retention.minutes",
                "log.retention.hours",
            ],
        ];
        let in_units = UNITS.iter().find(|names| names.contains(&name));
        match (in_units, listener_base(name)) {
            (Some(names), _) => names.to_vec(),
            (None, Some(base)) => vec![name, mechanism_base(base)],
            (None, None) => vec![name],
        }
    }
}

/// The name without the listener that it is for: `listener.name.NAME.`.
fn listener_base(name: &str) -> Option<&str> {
    let (listener, base) = name.strip_prefix("listener.name.")?.split_once('.')?;
    (!listener.is_empty()).then_some(base)
}

/// The name without the SASL mechanism that it is for: `plain.sasl.jaas.config`.
fn mechanism_base(name: &str) -> &str {
    const OF_MECHANISMS: &[&str] = &[
        "sasl.jaas.config",
        "sasl.login.callback.handler.class",
        "sasl.login.class",
        "sasl.server.callback.handler.class",
        "connections.max.reauth.ms",
    ];
    let base = name.split_once('.').map(|(_, base)| base);
    base.filter(|base| OF_MECHANISMS.contains(base))
        .unwrap_or(name)
}
