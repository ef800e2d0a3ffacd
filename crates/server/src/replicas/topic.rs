use std::collections::BTreeMap;
use std::time::Duration;

use klamm_log::{LogOptions, Retention};
use klamm_metadata::config_keys::{ConfigValue, topic_config};
use klamm_metadata::{ConfigResource, Image};
use klamm_protocol::BrokerId;
use klamm_protocol::records::{Codec, Compression};

/// What the configuration says of a topic's partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TopicSettings {
    pub(super) replication: klamm_replica::Settings,
    pub(super) log: LogOptions,
    /// How long records are kept.
    pub(super) retention: Retention,
    /// Whether `cleanup.policy` has `delete`: old records go.
    pub(super) deletes: bool,
    /// Whether it has `compact`: records need keys.
    pub(super) compacts: bool,
    /// `max.message.bytes`: the largest batch.
    pub(super) max_batch_bytes: usize,
    /// Whether records get the time of the append (`message.timestamp.type`).
    pub(super) append_time: bool,
    /// `message.timestamp.before.max.ms` and `message.timestamp.after.max.ms`.
    pub(super) timestamps: Timestamps,
    /// How batches are compressed; `None` for as the producer did.
    pub(super) codec: Option<Codec>,
}

/// How far the timestamps of records may be from the clock, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timestamps {
    pub(super) before_max_ms: i64,
    pub(super) after_max_ms: i64,
}

/// What topics take from their node where they have no value of their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeConfigs<'a> {
    pub(super) broker: BrokerId,
    /// What the node's file sets.
    pub(super) file: &'a BTreeMap<String, String>,
    /// `replica.lag.time.max.ms`.
    pub(super) lag_time_max: Duration,
}

impl TopicSettings {
    /// What holds for a topic.
    pub(super) fn new(image: &Image, topic: &str, node: NodeConfigs<'_>) -> Self {
        let configs = image.configs();
        let resource = ConfigResource::topic(topic);
        let of_node = |key: &str| {
            let dynamic = configs.node_value(node.broker, key);
            dynamic.or_else(|| node.file.get(key).map(String::as_str))
        };
        let value = |key: &str| topic_config(key, configs.value(&resource, key), &of_node);
        let number = |key: &str| match value(key) {
            Some(ConfigValue::Number(number)) => number,
            _ => 0,
        };
        let text = |key: &str| match value(key) {
            Some(ConfigValue::Text(text)) => text,
            _ => String::new(),
        };
        let policies = match value("cleanup.policy") {
            Some(ConfigValue::List(policies)) => policies,
            _ => Vec::new(),
        };
        let has = |policy: &str| policies.iter().any(|one| one == policy);
        let bounded = |key: &str| u32::try_from(number(key)).unwrap_or(u32::MAX);
        Self {
            replication: klamm_replica::Settings {
                min_insync_replicas: bounded("min.insync.replicas") as usize,
                lag_time_max: node.lag_time_max,
            },
            log: LogOptions {
                segment_bytes: bounded("segment.bytes"),
                segment_ms: Some(number("segment.ms")),
                index_interval_bytes: bounded("index.interval.bytes"),
                index_bytes: bounded("segment.index.bytes"),
                // Compaction, by Apache Kafka perhaps, leaves gaps.
                contiguous: false,
            },
            retention: Retention {
                ms: Some(number("retention.ms")).filter(|ms| *ms >= 0),
                bytes: u64::try_from(number("retention.bytes")).ok(),
            },
            deletes: has("delete"),
            compacts: has("compact"),
            max_batch_bytes: bounded("max.message.bytes") as usize,
            append_time: text("message.timestamp.type") == "LogAppendTime",
            timestamps: Timestamps {
                before_max_ms: number("message.timestamp.before.max.ms"),
                after_max_ms: number("message.timestamp.after.max.ms"),
            },
            codec: codec(&text("compression.type"), number),
        }
    }
}

fn codec(name: &str, number: impl Fn(&str) -> i64) -> Option<Codec> {
    let (compression, level) = match name {
        "uncompressed" => (Compression::None, None),
        "gzip" => (Compression::Gzip, Some("compression.gzip.level")),
        "snappy" => (Compression::Snappy, None),
        "lz4" => (Compression::Lz4, Some("compression.lz4.level")),
        "zstd" => (Compression::Zstd, Some("compression.zstd.level")),
        _ => return None,
    };
    // -1 is the codec's own level, as is none.
    let level = level.map(number).filter(|level| *level != -1);
    Some(match level.and_then(|level| i32::try_from(level).ok()) {
        Some(level) => Codec::with_level(compression, level),
        None => Codec::new(compression),
    })
}

#[cfg(test)]
mod tests {
    use klamm_metadata::Record;
    use klamm_protocol::data::metadata::ConfigRecord;

    use super::*;

    fn settings(configs: &[(i8, &str, &str, &str)], file: &[(&str, &str)]) -> TopicSettings {
        let mut image = Image::new();
        for (resource_type, resource_name, name, value) in configs {
            let record = Record::Config(ConfigRecord {
                resource_type: *resource_type,
                resource_name: (*resource_name).into(),
                name: (*name).into(),
                value: Some((*value).into()),
                ..ConfigRecord::default()
            });
            image.apply(&record).unwrap();
        }
        let file = file.iter();
        let file = file.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let node = NodeConfigs {
            broker: BrokerId(1),
            file: &file.collect(),
            lag_time_max: Duration::from_secs(30),
        };
        TopicSettings::new(&image, "orders", node)
    }

    #[test]
    fn defaults_are_kafkas() {
        let found = settings(&[], &[]);
        assert_eq!(found.log, LogOptions::TOPIC);
        assert_eq!(found.retention.ms, Some(7 * 24 * 60 * 60 * 1000));
        assert_eq!(found.retention.bytes, None);
        assert_eq!(found.replication.min_insync_replicas, 1);
        assert_eq!(found.max_batch_bytes, 1_048_588);
        assert!(found.deletes && !found.compacts && !found.append_time);
        assert_eq!(found.codec, None);
    }

    #[test]
    fn a_topics_own_value_comes_before_the_nodes_and_that_before_the_file() {
        const TOPIC: i8 = 2;
        const NODE: i8 = 4;
        let file = [
            ("min.insync.replicas", "4"),
            ("log.retention.hours", "1"),
            ("log.segment.bytes", "2000000"),
        ];
        let found = settings(
            &[
                (TOPIC, "orders", "min.insync.replicas", "2"),
                (TOPIC, "other", "segment.bytes", "3000000"),
                (NODE, "", "min.insync.replicas", "3"),
                (NODE, "1", "log.retention.bytes", "5"),
                (TOPIC, "orders", "compression.type", "lz4"),
                (TOPIC, "orders", "cleanup.policy", "compact"),
                (TOPIC, "orders", "message.timestamp.type", "LogAppendTime"),
            ],
            &file,
        );
        assert_eq!(found.replication.min_insync_replicas, 2);
        assert_eq!(found.retention.bytes, Some(5));
        assert_eq!(found.retention.ms, Some(60 * 60 * 1000));
        assert_eq!(found.log.segment_bytes, 2_000_000);
        assert!(found.compacts && !found.deletes && found.append_time);
        assert_eq!(found.codec, Some(Codec::with_level(Compression::Lz4, 9)));
    }
}
