//! The keys of dynamic configs as Apache Kafka 4.4.0 has them: what their values may be, what holds
//! where none is set, and from which keys of a node's file topics and groups take it.
//!
//! Values and messages are judged as Kafka's own tables judge them, so that what one side stores the
//! other accepts.

mod broker;
mod client_metrics;
mod group;
mod topic;
mod value;

use std::borrow::Cow;

use thiserror::Error;

pub use broker::{BrokerKey, broker_key, broker_keys};
pub use client_metrics::{CLIENT_METRICS_KEYS, validate_client_metrics};
pub use group::{GROUP_KEYS, validate_group};
pub use topic::{TOPIC_KEYS, topic_config, validate_topic};
pub use value::ConfigValue;

use value::Check;

#[cfg(test)]
mod tests;

/// What the values of a key are. The numbers are those of DescribeConfigs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConfigType {
    /// `true` or `false`, in any case.
    Boolean = 1,
    /// Text.
    String = 2,
    /// A number of 32 bits.
    Int = 3,
    /// A number of 16 bits.
    Short = 4,
    /// A number of 64 bits.
    Long = 5,
    /// A floating-point number.
    Double = 6,
    /// Texts separated by commas.
    List = 7,
    /// The name of a Java class.
    Class = 8,
    /// Text that is never shown.
    Password = 9,
}

impl ConfigType {
    /// Whether values are never shown.
    pub fn is_secret(self) -> bool {
        self == Self::Password
    }

    /// The code in DescribeConfigs.
    pub fn to_wire(self) -> i8 {
        self as i8
    }

    /// Kafka's name, such as `LONG`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Boolean => "BOOLEAN",
            Self::String => "STRING",
            Self::Int => "INT",
            Self::Short => "SHORT",
            Self::Long => "LONG",
            Self::Double => "DOUBLE",
            Self::List => "LIST",
            Self::Class => "CLASS",
            Self::Password => "PASSWORD",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        const ALL: [ConfigType; 9] = [
            ConfigType::Boolean,
            ConfigType::String,
            ConfigType::Int,
            ConfigType::Short,
            ConfigType::Long,
            ConfigType::Double,
            ConfigType::List,
            ConfigType::Class,
            ConfigType::Password,
        ];
        ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A key of topics, groups or client metrics.
#[derive(Clone, Copy, Debug)]
pub struct ConfigKey {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: ConfigType,
    /// The value where none is set; `None` where there is none then.
    pub default: Option<&'static str>,
    /// The keys of a node that its value is taken from where the resource has none, the first that is
    /// set.
    pub synonyms: &'static [Synonym],
    /// Whether only Kafka's own tests set it: it may be set, and is not listed.
    pub internal: bool,
    check: Check,
}

/// A key of a node whose value holds for another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synonym {
    /// Its name.
    pub name: &'static str,
    /// How many of the other key's units one of its units is.
    pub factor: i64,
}

impl Synonym {
    /// The value in units of the other key. Kafka takes what is no number for its default.
    pub fn convert<'a>(&self, value: &'a str) -> Cow<'a, str> {
        match self.factor {
            1 => value.into(),
            factor => {
                let number = value.trim().parse::<i32>().map_or(0, i64::from);
                number.saturating_mul(factor).to_string().into()
            }
        }
    }
}

/// Why a resource may not have its configs. The text is Kafka's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A value is none of its key.
    #[error("Invalid value {value} for configuration {key}: {what}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value, as Kafka shows it.
        value: String,
        /// What is allowed.
        what: String,
    },
    /// A list has an item without a text.
    #[error("Configuration '{0}' values must not be empty.")]
    EmptyItem(&'static str),
    /// Topics have no such key.
    #[error("Unknown topic config name: {0}")]
    UnknownTopicKey(String),
    /// Groups have no such key.
    #[error("Unknown group config name: {0}")]
    UnknownGroupKey(String),
    /// Client metrics have no such key.
    #[error("Unknown client metrics configuration: {0}")]
    UnknownClientMetricsKey(String),
    /// A subscription of client metrics has no name.
    #[error("Subscription name can't be empty")]
    NoSubscription,
    /// The interval of client metrics is too short or too long.
    #[error("Invalid value {0} for interval.ms, interval must be between 100 and 3600000 (1 hour)")]
    Interval(i64),
    /// What chooses clients for client metrics cannot be read.
    #[error("Illegal client matching pattern: {0}")]
    Pattern(String),
    /// Each value is one of its key, and they do not go together, or not with the node's own.
    #[error("{0}")]
    Conflict(String),
}

/// The keys of a kind of resource with a table of its own.
pub fn config_key(kind: crate::ConfigResourceKind, name: &str) -> Option<&'static ConfigKey> {
    use crate::ConfigResourceKind as Kind;
    let table = match kind {
        Kind::TOPIC => TOPIC_KEYS,
        Kind::GROUP => GROUP_KEYS,
        Kind::CLIENT_METRICS => CLIENT_METRICS_KEYS,
        _ => return None,
    };
    table.iter().find(|key| key.name == name)
}

/// A row of a table.
const fn row(
    name: &'static str,
    kind: ConfigType,
    default: &'static str,
    check: Check,
    synonyms: &'static [Synonym],
) -> ConfigKey {
    ConfigKey {
        name,
        kind,
        default: Some(default),
        synonyms,
        internal: false,
        check,
    }
}

/// A key of the node with the same unit.
const fn of(name: &'static str) -> Synonym {
    Synonym { name, factor: 1 }
}

/// Every key that a resource sets, checked one by one in the order of the table.
fn check_each<'a>(
    table: &'static [ConfigKey],
    new: impl Fn(&str) -> Option<&'a str>,
) -> Result<(), ConfigError> {
    for key in table {
        if let Some(text) = new(key.name) {
            key.parse(text)?;
        }
    }
    Ok(())
}

/// The value of a key: the resource's own, else that of the node, else the default. What the node has
/// and cannot be read counts for nothing: it was never checked.
fn effective<'a>(
    key: &'static ConfigKey,
    own: Option<&str>,
    node: &dyn Fn(&str) -> Option<&'a str>,
) -> Option<ConfigValue> {
    if let Some(value) = own.and_then(|text| key.parse(text).ok()) {
        return Some(value);
    }
    let mut of_node = key.synonyms.iter().filter_map(|synonym| {
        let value = node(synonym.name)?;
        key.parse(&synonym.convert(value)).ok()
    });
    of_node
        .next()
        .or_else(|| key.default.and_then(|text| key.parse(text).ok()))
}
