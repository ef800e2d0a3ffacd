use klamm_config::{Key, KeyTable, Kind};

use super::keys::{KEYS, int, key, long, millis, without_default};
use super::other_keys::{SILENT, UNUSED};

/// The keys of `server.properties` that a broker reads: those of any node, and these. Names, defaults
/// and bounds are those of Apache Kafka 4.4.0.
pub(super) static BROKER_KEYS: KeyTable = KeyTable {
    keys: &ALL,
    unused: &WITHOUT_EFFECT,
    silent: THREADS,
};

static ALL: [Key; KEYS.keys.len() + OF_BROKERS.len()] = joined(KEYS.keys, OF_BROKERS);

/// What says something to a broker of Apache Kafka, and nothing to one of klamm, is warned of.
static WITHOUT_EFFECT: [&str; UNUSED.len() + SILENT.len()] = joined(UNUSED, SILENT);

const fn joined<T: Copy, const N: usize>(first: &[T], second: &[T]) -> [T; N] {
    assert!(N == first.len() + second.len(), "the length of both");
    let mut all = [first[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = match at < first.len() {
            true => first[at],
            false => second[at - first.len()],
        };
        at += 1;
    }
    all
}

/// Keys that only say how many threads, timers and buffers Apache Kafka's brokers have.
const THREADS: &[&str] = &[
    "background.threads",
    "delete.records.purgatory.purge.interval.requests",
    "fetch.purgatory.purge.interval.requests",
    "num.io.threads",
    "num.network.threads",
    "num.replica.alter.log.dirs.threads",
    "producer.purgatory.purge.interval.requests",
    "queued.max.requests",
    "replica.socket.receive.buffer.bytes",
    "socket.receive.buffer.bytes",
    "socket.send.buffer.bytes",
];

const OF_BROKERS: &[Key] = &[
    without_default("broker.rack", Kind::String, "Where the machine stands."),
    without_default(
        "inter.broker.listener.name",
        Kind::String,
        "The listener by which brokers reach each other.",
    ),
    key(
        "security.inter.broker.protocol",
        Kind::Enum(&["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]),
        "PLAINTEXT",
        "The listener of that name, where inter.broker.listener.name names none.",
    ),
    key(
        "initial.broker.registration.timeout.ms",
        millis(0),
        "60000",
        "How long a broker tries to register before it gives up.",
    ),
    key(
        "controlled.shutdown.enable",
        Kind::Bool,
        "true",
        "Whether others lead before a broker stops.",
    ),
    key(
        "klamm.controlled.shutdown.timeout.ms",
        millis(0),
        "30000",
        "How long that may take.",
    ),
    key(
        "controller.socket.timeout.ms",
        millis(1),
        "30000",
        "The wait for an answer of the controller.",
    ),
    key(
        "request.timeout.ms",
        millis(1),
        "30000",
        "How long a forwarded request may take.",
    ),
    // Replicas.
    key(
        "replica.lag.time.max.ms",
        long(1),
        "30000",
        "When a follower leaves the ISR.",
    ),
    key(
        "replica.socket.timeout.ms",
        millis(1),
        "30000",
        "The wait for a leader's answer.",
    ),
    key(
        "replica.fetch.max.bytes",
        int(0),
        "1048576",
        "The most of a partition at a time.",
    ),
    key(
        "replica.fetch.min.bytes",
        int(0),
        "1",
        "The least that a leader answers with.",
    ),
    key(
        "replica.fetch.wait.max.ms",
        millis(0),
        "500",
        "How long a leader may wait for it.",
    ),
    key(
        "replica.fetch.response.max.bytes",
        int(0),
        "10485760",
        "The most at a time.",
    ),
    key(
        "replica.fetch.backoff.ms",
        millis(0),
        "1000",
        "The wait after a failure.",
    ),
    key(
        "num.replica.fetchers",
        int(1),
        "1",
        "Connections to a leader that is followed.",
    ),
    key(
        "fetch.max.bytes",
        int(1024),
        "57671680",
        "The most that a Fetch brings.",
    ),
    key(
        "max.incremental.fetch.session.cache.slots",
        int(0),
        "1000",
        "The most fetch sessions.",
    ),
    // Logs.
    key(
        "log.retention.check.interval.ms",
        long(1),
        "300000",
        "How often old records go.",
    ),
    key(
        "log.flush.offset.checkpoint.interval.ms",
        millis(0),
        "60000",
        "How often recovery points are written.",
    ),
    key(
        "log.flush.start.offset.checkpoint.interval.ms",
        millis(0),
        "60000",
        "How often it is written where logs begin.",
    ),
    key(
        "replica.high.watermark.checkpoint.interval.ms",
        long(1),
        "5000",
        "How often high watermarks are written.",
    ),
    key(
        "log.segment.delete.delay.ms",
        long(0),
        "60000",
        "When removed files are deleted.",
    ),
    key(
        "num.recovery.threads.per.data.dir",
        int(1),
        "2",
        "Threads that open logs.",
    ),
    key(
        "producer.id.expiration.ms",
        int(1),
        "86400000",
        "When a silent producer is forgotten.",
    ),
    key(
        "log.dir.failure.timeout.ms",
        long(1),
        "30000",
        "The wait to tell of a failed directory.",
    ),
    // What topics inherit.
    without_default("log.segment.bytes", int(1 << 20), "The longest segment."),
    without_default("log.roll.ms", long(1), "When a segment ends."),
    without_default("log.roll.hours", int(1), "The same in hours."),
    without_default("log.retention.ms", long(-1), "How long records are kept."),
    without_default("log.retention.minutes", int(-1), "The same in minutes."),
    without_default("log.retention.hours", int(-1), "The same in hours."),
    without_default(
        "log.retention.bytes",
        long(-1),
        "How many bytes of a partition are kept.",
    ),
    without_default("log.index.size.max.bytes", int(4), "The longest index."),
    without_default(
        "log.index.interval.bytes",
        int(0),
        "How many bytes get an index entry.",
    ),
    without_default("message.max.bytes", int(0), "The largest batch."),
    without_default(
        "log.message.timestamp.type",
        Kind::Enum(&["CreateTime", "LogAppendTime"]),
        "Whose clock timestamps are of.",
    ),
    without_default(
        "log.message.timestamp.before.max.ms",
        long(0),
        "How far they may be behind the broker's clock.",
    ),
    without_default(
        "log.message.timestamp.after.max.ms",
        long(0),
        "How far they may be ahead of it.",
    ),
    without_default(
        "log.cleanup.policy",
        Kind::List,
        "What becomes of old records.",
    ),
    without_default(
        "compression.type",
        Kind::String,
        "How batches are compressed.",
    ),
];
