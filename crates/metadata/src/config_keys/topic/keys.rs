//! The table.

use super::super::ConfigType::{Boolean, Double, Int, List, Long, String as Text};
use super::super::value::Check::{
    Any, AtLeast, Between, GzipLevel, ItemsOf, OneOf, ThrottledReplicas,
};
use super::super::{ConfigKey, Synonym, of, row};

/// One minute and one hour in milliseconds.
const MINUTES: i64 = 60_000;
const HOURS: i64 = 60 * MINUTES;

const FOREVER: &str = "9223372036854775807";
const WEEK: &str = "604800000";
const COMPRESSIONS: &[&str] = &["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"];

/// The longest that an array of Java may be.
const MAX_ARRAY: i64 = i32::MAX as i64 - 8;

/// The keys of topics, in the order in which Apache Kafka checks them.
pub const TOPIC_KEYS: &[ConfigKey] = &[
    row(
        "segment.bytes",
        Int,
        "1073741824",
        AtLeast(1 << 20),
        &[of("log.segment.bytes")],
    ),
    row(
        "segment.ms",
        Long,
        WEEK,
        AtLeast(1),
        &[of("log.roll.ms"), in_units("log.roll.hours", HOURS)],
    ),
    row(
        "segment.jitter.ms",
        Long,
        "0",
        AtLeast(0),
        &[
            of("log.roll.jitter.ms"),
            in_units("log.roll.jitter.hours", HOURS),
        ],
    ),
    row(
        "segment.index.bytes",
        Int,
        "10485760",
        AtLeast(4),
        &[of("log.index.size.max.bytes")],
    ),
    row(
        "flush.messages",
        Long,
        FOREVER,
        AtLeast(1),
        &[of("log.flush.interval.messages")],
    ),
    row(
        "flush.ms",
        Long,
        FOREVER,
        AtLeast(0),
        &[
            of("log.flush.interval.ms"),
            of("log.flush.scheduler.interval.ms"),
        ],
    ),
    row(
        "retention.bytes",
        Long,
        "-1",
        Any,
        &[of("log.retention.bytes")],
    ),
    row(
        "retention.ms",
        Long,
        WEEK,
        AtLeast(-1),
        &[
            of("log.retention.ms"),
            in_units("log.retention.minutes", MINUTES),
            in_units("log.retention.hours", HOURS),
        ],
    ),
    row(
        "max.message.bytes",
        Int,
        "1048588",
        AtLeast(0),
        &[of("message.max.bytes")],
    ),
    row(
        "max.decompressed.message.bytes",
        Int,
        "2147483639",
        Between(1, MAX_ARRAY),
        &[of("max.decompressed.message.bytes")],
    ),
    row(
        "index.interval.bytes",
        Int,
        "4096",
        AtLeast(0),
        &[of("log.index.interval.bytes")],
    ),
    row(
        "delete.retention.ms",
        Long,
        "86400000",
        AtLeast(0),
        &[of("log.cleaner.delete.retention.ms")],
    ),
    row(
        "min.compaction.lag.ms",
        Long,
        "0",
        AtLeast(0),
        &[of("log.cleaner.min.compaction.lag.ms")],
    ),
    row(
        "max.compaction.lag.ms",
        Long,
        FOREVER,
        AtLeast(1),
        &[of("log.cleaner.max.compaction.lag.ms")],
    ),
    row(
        "file.delete.delay.ms",
        Long,
        "60000",
        AtLeast(0),
        &[of("log.segment.delete.delay.ms")],
    ),
    row(
        "min.cleanable.dirty.ratio",
        Double,
        "0.5",
        Between(0, 1),
        &[of("log.cleaner.min.cleanable.ratio")],
    ),
    row(
        "cleanup.policy",
        List,
        "delete",
        ItemsOf(&["compact", "delete"]),
        &[of("log.cleanup.policy")],
    ),
    row(
        "unclean.leader.election.enable",
        Boolean,
        "false",
        Any,
        &[of("unclean.leader.election.enable")],
    ),
    row(
        "min.insync.replicas",
        Int,
        "1",
        AtLeast(1),
        &[of("min.insync.replicas")],
    ),
    row(
        "compression.type",
        Text,
        "producer",
        OneOf(COMPRESSIONS),
        &[of("compression.type")],
    ),
    row(
        "compression.gzip.level",
        Int,
        "-1",
        GzipLevel,
        &[of("compression.gzip.level")],
    ),
    row(
        "compression.lz4.level",
        Int,
        "9",
        Between(1, 17),
        &[of("compression.lz4.level")],
    ),
    row(
        "compression.zstd.level",
        Int,
        "3",
        Between(-131_072, 22),
        &[of("compression.zstd.level")],
    ),
    row(
        "preallocate",
        Boolean,
        "false",
        Any,
        &[of("log.preallocate")],
    ),
    row(
        "message.timestamp.type",
        Text,
        "CreateTime",
        OneOf(&["CreateTime", "LogAppendTime"]),
        &[of("log.message.timestamp.type")],
    ),
    row(
        "message.timestamp.before.max.ms",
        Long,
        FOREVER,
        AtLeast(0),
        &[of("log.message.timestamp.before.max.ms")],
    ),
    row(
        "message.timestamp.after.max.ms",
        Long,
        "3600000",
        AtLeast(0),
        &[of("log.message.timestamp.after.max.ms")],
    ),
    row(
        "leader.replication.throttled.replicas",
        List,
        "",
        ThrottledReplicas,
        &[],
    ),
    row(
        "follower.replication.throttled.replicas",
        List,
        "",
        ThrottledReplicas,
        &[],
    ),
    row("remote.storage.enable", Boolean, "false", Any, &[]),
    row(
        "local.retention.ms",
        Long,
        "-2",
        AtLeast(-2),
        &[of("log.local.retention.ms")],
    ),
    row(
        "local.retention.bytes",
        Long,
        "-2",
        AtLeast(-2),
        &[of("log.local.retention.bytes")],
    ),
    row("remote.log.copy.disable", Boolean, "false", Any, &[]),
    row(
        "remote.copy.lag.ms",
        Long,
        "0",
        AtLeast(-1),
        &[of("log.remote.copy.lag.ms")],
    ),
    row(
        "remote.copy.lag.bytes",
        Long,
        "-1",
        AtLeast(-1),
        &[of("log.remote.copy.lag.bytes")],
    ),
    row("remote.log.delete.on.disable", Boolean, "false", Any, &[]),
    row(
        "errors.deadletterqueue.group.enable",
        Boolean,
        "false",
        Any,
        &[],
    ),
    ConfigKey {
        default: None,
        internal: true,
        ..row("internal.segment.bytes", Int, "", Any, &[])
    },
];

const fn in_units(name: &'static str, factor: i64) -> Synonym {
    Synonym { name, factor }
}
