//! Groups of consumers, of share consumers and of Kafka Streams.

use std::collections::{BTreeMap, BTreeSet};

use super::ConfigType::{Boolean, Int, List, Long, String as Text};
use super::value::Check::{Any, AtLeast, Items, OffsetReset, OneOf};
use super::value::items;
use super::{ConfigError, ConfigKey, ConfigValue, broker_key, check_each, effective, of, row};

const ISOLATION_LEVELS: &[&str] = &["read_committed", "read_uncommitted"];

/// The keys of groups, in the order in which Apache Kafka checks them.
pub const GROUP_KEYS: &[ConfigKey] = &[
    row(
        "consumer.session.timeout.ms",
        Int,
        "45000",
        AtLeast(1),
        &[of("group.consumer.session.timeout.ms")],
    ),
    row(
        "consumer.heartbeat.interval.ms",
        Int,
        "5000",
        AtLeast(1),
        &[of("group.consumer.heartbeat.interval.ms")],
    ),
    row(
        "consumer.assignment.interval.ms",
        Int,
        "1000",
        AtLeast(0),
        &[of("group.consumer.assignment.interval.ms")],
    ),
    internal(row(
        "consumer.assignor.offload.enable",
        Boolean,
        "true",
        Any,
        &[of("group.consumer.assignor.offload.enable")],
    )),
    row(
        "share.session.timeout.ms",
        Int,
        "45000",
        AtLeast(1),
        &[of("group.share.session.timeout.ms")],
    ),
    row(
        "share.heartbeat.interval.ms",
        Int,
        "5000",
        AtLeast(1),
        &[of("group.share.heartbeat.interval.ms")],
    ),
    row(
        "share.record.lock.duration.ms",
        Int,
        "30000",
        AtLeast(1000),
        &[of("group.share.record.lock.duration.ms")],
    ),
    row(
        "share.delivery.count.limit",
        Int,
        "5",
        AtLeast(2),
        &[of("group.share.delivery.count.limit")],
    ),
    row(
        "share.partition.max.record.locks",
        Int,
        "2000",
        AtLeast(100),
        &[of("group.share.partition.max.record.locks")],
    ),
    row("share.auto.offset.reset", Text, "latest", OffsetReset, &[]),
    row(
        "share.isolation.level",
        Text,
        "read_uncommitted",
        OneOf(ISOLATION_LEVELS),
        &[],
    ),
    row("share.renew.acknowledge.enable", Boolean, "true", Any, &[]),
    row(
        "share.assignment.interval.ms",
        Int,
        "1000",
        AtLeast(0),
        &[of("group.share.assignment.interval.ms")],
    ),
    internal(row(
        "share.assignor.offload.enable",
        Boolean,
        "true",
        Any,
        &[of("group.share.assignor.offload.enable")],
    )),
    row(
        "streams.session.timeout.ms",
        Int,
        "45000",
        AtLeast(1),
        &[of("group.streams.session.timeout.ms")],
    ),
    row(
        "streams.heartbeat.interval.ms",
        Int,
        "5000",
        AtLeast(1),
        &[of("group.streams.heartbeat.interval.ms")],
    ),
    row(
        "streams.num.standby.replicas",
        Int,
        "0",
        AtLeast(0),
        &[of("group.streams.num.standby.replicas")],
    ),
    row(
        "streams.initial.rebalance.delay.ms",
        Int,
        "3000",
        AtLeast(0),
        &[of("group.streams.initial.rebalance.delay.ms")],
    ),
    row(
        "streams.assignment.interval.ms",
        Int,
        "1000",
        AtLeast(0),
        &[of("group.streams.assignment.interval.ms")],
    ),
    internal(row(
        "streams.assignor.offload.enable",
        Boolean,
        "true",
        Any,
        &[of("group.streams.assignor.offload.enable")],
    )),
    internal(row(
        "streams.task.offset.interval.ms",
        Int,
        "60000",
        AtLeast(1),
        &[of("group.streams.task.offset.interval.ms")],
    )),
    internal(row(
        "streams.num.warmup.replicas",
        Int,
        "2",
        AtLeast(0),
        &[of("group.streams.num.warmup.replicas")],
    )),
    row(
        "streams.rack.aware.assignment.tags",
        List,
        "",
        Items,
        &[of("group.streams.rack.aware.assignment.tags")],
    ),
    internal(row(
        "streams.acceptable.recovery.lag",
        Long,
        "10000",
        AtLeast(0),
        &[of("group.streams.acceptable.recovery.lag")],
    )),
    ConfigKey {
        default: None,
        ..row("streams.assignor.name", Text, "", Any, &[])
    },
    row("errors.deadletterqueue.topic.name", Text, "", Any, &[]),
    row(
        "errors.deadletterqueue.copy.record.enable",
        Boolean,
        "false",
        Any,
        &[],
    ),
];

const fn internal(key: ConfigKey) -> ConfigKey {
    ConfigKey {
        internal: true,
        ..key
    }
}

/// What a group's value is held to by the node: keys for the least and the most, where there are.
const BOUNDS: &[(&str, Option<&str>, Option<&str>)] = &[
    between(
        "consumer.heartbeat.interval.ms",
        "group.consumer.min.heartbeat.interval.ms",
        "group.consumer.max.heartbeat.interval.ms",
    ),
    between(
        "consumer.session.timeout.ms",
        "group.consumer.min.session.timeout.ms",
        "group.consumer.max.session.timeout.ms",
    ),
    between(
        "consumer.assignment.interval.ms",
        "group.consumer.min.assignment.interval.ms",
        "group.consumer.max.assignment.interval.ms",
    ),
    between(
        "share.heartbeat.interval.ms",
        "group.share.min.heartbeat.interval.ms",
        "group.share.max.heartbeat.interval.ms",
    ),
    between(
        "share.session.timeout.ms",
        "group.share.min.session.timeout.ms",
        "group.share.max.session.timeout.ms",
    ),
    between(
        "share.record.lock.duration.ms",
        "group.share.min.record.lock.duration.ms",
        "group.share.max.record.lock.duration.ms",
    ),
    between(
        "share.delivery.count.limit",
        "group.share.min.delivery.count.limit",
        "group.share.max.delivery.count.limit",
    ),
    between(
        "share.partition.max.record.locks",
        "group.share.min.partition.max.record.locks",
        "group.share.max.partition.max.record.locks",
    ),
    between(
        "share.assignment.interval.ms",
        "group.share.min.assignment.interval.ms",
        "group.share.max.assignment.interval.ms",
    ),
    between(
        "streams.heartbeat.interval.ms",
        "group.streams.min.heartbeat.interval.ms",
        "group.streams.max.heartbeat.interval.ms",
    ),
    between(
        "streams.session.timeout.ms",
        "group.streams.min.session.timeout.ms",
        "group.streams.max.session.timeout.ms",
    ),
    (
        "streams.num.standby.replicas",
        None,
        Some("group.streams.max.standby.replicas"),
    ),
    between(
        "streams.assignment.interval.ms",
        "group.streams.min.assignment.interval.ms",
        "group.streams.max.assignment.interval.ms",
    ),
    (
        "streams.task.offset.interval.ms",
        Some("group.streams.min.task.offset.interval.ms"),
        None,
    ),
    (
        "streams.num.warmup.replicas",
        None,
        Some("group.streams.max.warmup.replicas"),
    ),
];

/// A session must outlast a heartbeat.
const SESSIONS: &[(&str, &str)] = &[
    (
        "consumer.session.timeout.ms",
        "consumer.heartbeat.interval.ms",
    ),
    ("share.session.timeout.ms", "share.heartbeat.interval.ms"),
    (
        "streams.session.timeout.ms",
        "streams.heartbeat.interval.ms",
    ),
];

const fn between(
    key: &'static str,
    min: &'static str,
    max: &'static str,
) -> (&'static str, Option<&'static str>, Option<&'static str>) {
    (key, Some(min), Some(max))
}

/// Whether a group may have these configs. `node` has what the controller's own node sets for keys of
/// nodes.
pub fn validate_group<'a>(
    new: &BTreeMap<&str, &str>,
    node: &dyn Fn(&str) -> Option<&'a str>,
) -> Result<(), ConfigError> {
    if let Some(name) = new.keys().find(|name| find(name).is_none()) {
        return Err(ConfigError::UnknownGroupKey((*name).to_owned()));
    }
    let own = |name: &str| new.get(name).copied();
    let refuse = |text: String| Err(ConfigError::Conflict(text));
    let tags = items(
        own("streams.rack.aware.assignment.tags")
            .unwrap_or_default()
            .trim(),
    );
    if tags.iter().collect::<BTreeSet<_>>().len() < tags.len() {
        let text = "streams.rack.aware.assignment.tags must not contain duplicate tag keys.";
        return refuse(text.to_owned());
    }
    check_each(GROUP_KEYS, own)?;
    let number = |name: &str| {
        let value = find(name).and_then(|key| effective(key, own(name), node));
        match value {
            Some(ConfigValue::Number(number)) => number,
            _ => 0,
        }
    };
    for (name, min, max) in BOUNDS {
        if own(name).is_none() {
            continue;
        }
        let value = number(name);
        let min = min.and_then(|key| node_number(key, node));
        let max = max.and_then(|key| node_number(key, node));
        let is_within = min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max);
        if is_within {
            continue;
        }
        return refuse(match (min, max) {
            (Some(min), Some(max)) => {
                format!("{name} must be in the range {min} to {max} inclusive.")
            }
            (Some(min), None) => format!("{name} must be greater than or equal to {min}"),
            (None, max) => {
                format!(
                    "{name} must be less than or equal to {}",
                    max.unwrap_or_default()
                )
            }
        });
    }
    for (session, heartbeat) in SESSIONS {
        if number(session) <= number(heartbeat) {
            return refuse(format!("{session} must be greater than {heartbeat}"));
        }
    }
    check_names(new, node)
}

/// What names something: an assignor of Kafka Streams, a topic for what cannot be processed.
fn check_names<'a>(
    new: &BTreeMap<&str, &str>,
    node: &dyn Fn(&str) -> Option<&'a str>,
) -> Result<(), ConfigError> {
    if let Some(ConfigValue::Text(name)) = parsed("streams.assignor.name", new) {
        let known = node_text("group.streams.assignors", node);
        let known: Vec<&str> = known.split(',').map(str::trim).collect();
        if !known.contains(&&*name) {
            return Err(ConfigError::Conflict(format!(
                "streams.assignor.name '{name}' is not a registered task assignor. Registered \
                 assignors are: [{}].",
                known.join(", ")
            )));
        }
    }
    if let Some(ConfigValue::Text(name)) = parsed("errors.deadletterqueue.topic.name", new)
        && name.starts_with("__")
    {
        let text = "errors.deadletterqueue.topic.name: DLQ topic name must not start with '__'";
        return Err(ConfigError::Conflict(text.to_owned()));
    }
    Ok(())
}

fn find(name: &str) -> Option<&'static ConfigKey> {
    GROUP_KEYS.iter().find(|key| key.name == name)
}

fn parsed(name: &str, new: &BTreeMap<&str, &str>) -> Option<ConfigValue> {
    find(name)?.parse(new.get(name)?).ok()
}

fn node_text<'a>(name: &str, node: &dyn Fn(&str) -> Option<&'a str>) -> &'a str {
    let default = || broker_key(name).and_then(|key| key.default);
    node(name).or_else(default).unwrap_or_default()
}

fn node_number<'a>(name: &str, node: &dyn Fn(&str) -> Option<&'a str>) -> Option<i64> {
    let set = node(name).and_then(|value| value.trim().parse().ok());
    set.or_else(|| broker_key(name)?.default?.parse().ok())
}
