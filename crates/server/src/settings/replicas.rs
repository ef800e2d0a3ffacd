use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use klamm_config::{Properties, Values};

use super::{NodeSettings, configured, int, long_millis, millis};

/// How a broker keeps replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaSettings {
    /// `log.dirs`, or else `log.dir`: the directories that logs are in, each once.
    pub dirs: Vec<PathBuf>,
    /// What the file sets, as it stands there: topics take values from it.
    pub properties: BTreeMap<String, String>,
    /// `replica.lag.time.max.ms`: a follower that is behind for so long leaves the ISR.
    pub lag_time_max: Duration,
    /// How leaders are fetched from.
    pub fetch: ReplicaFetchSettings,
    /// `fetch.max.bytes`: the most that a Fetch brings, whatever it asks for.
    pub fetch_max_bytes: usize,
    /// `max.incremental.fetch.session.cache.slots`: the most fetch sessions.
    pub max_fetch_sessions: usize,
    /// `log.retention.check.interval.ms`: how often records are looked for that are too old.
    pub retention_check_interval: Duration,
    /// `log.flush.offset.checkpoint.interval.ms`: how often recovery points are written.
    pub recovery_point_interval: Duration,
    /// `log.flush.start.offset.checkpoint.interval.ms`: how often it is written where logs begin.
    pub log_start_interval: Duration,
    /// `replica.high.watermark.checkpoint.interval.ms`: how often high watermarks are written.
    pub high_watermark_interval: Duration,
    /// `log.segment.delete.delay.ms`: how long files stay that were removed.
    pub delete_delay: Duration,
    /// `num.recovery.threads.per.data.dir`: how many threads open logs.
    pub recovery_threads: usize,
    /// `producer.id.expiration.ms`: when a producer that says nothing is forgotten.
    pub producer_expiration: Duration,
    /// `log.dir.failure.timeout.ms`: how long the controller may not hear of a failed directory.
    pub dir_failure_timeout: Duration,
}

/// How a follower fetches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaFetchSettings {
    /// `num.replica.fetchers`: how many connections there are to a leader.
    pub fetchers: usize,
    /// `replica.fetch.max.bytes`: the most of a partition at a time.
    pub max_bytes: i32,
    /// `replica.fetch.min.bytes`: the least that the leader answers with before the time.
    pub min_bytes: i32,
    /// `replica.fetch.response.max.bytes`: the most at a time.
    pub response_max_bytes: i32,
    /// `replica.fetch.wait.max.ms`: that time.
    pub wait_max: Duration,
    /// `replica.fetch.backoff.ms`: the wait after a failure.
    pub backoff: Duration,
    /// `replica.socket.timeout.ms`: how long an answer is waited for.
    pub timeout: Duration,
}

impl ReplicaSettings {
    pub(super) fn new(node: &NodeSettings, values: &Values, properties: &Properties) -> Self {
        let count = |key| int(values, key).unsigned_abs() as usize;
        let expiration = u64::from(int(values, "producer.id.expiration.ms").unsigned_abs());
        let checkpoint = |key| millis(values, key);
        Self {
            dirs: node.log_dirs.clone(),
            properties: configured(properties),
            lag_time_max: long_millis(values, "replica.lag.time.max.ms"),
            fetch: ReplicaFetchSettings {
                fetchers: count("num.replica.fetchers"),
                max_bytes: int(values, "replica.fetch.max.bytes"),
                min_bytes: int(values, "replica.fetch.min.bytes"),
                response_max_bytes: int(values, "replica.fetch.response.max.bytes"),
                wait_max: millis(values, "replica.fetch.wait.max.ms"),
                backoff: millis(values, "replica.fetch.backoff.ms"),
                timeout: millis(values, "replica.socket.timeout.ms"),
            },
            fetch_max_bytes: count("fetch.max.bytes"),
            max_fetch_sessions: count("max.incremental.fetch.session.cache.slots"),
            retention_check_interval: long_millis(values, "log.retention.check.interval.ms"),
            recovery_point_interval: checkpoint("log.flush.offset.checkpoint.interval.ms"),
            log_start_interval: checkpoint("log.flush.start.offset.checkpoint.interval.ms"),
            high_watermark_interval: long_millis(
                values,
                "replica.high.watermark.checkpoint.interval.ms",
            ),
            delete_delay: long_millis(values, "log.segment.delete.delay.ms"),
            recovery_threads: count("num.recovery.threads.per.data.dir"),
            producer_expiration: Duration::from_millis(expiration),
            dir_failure_timeout: long_millis(values, "log.dir.failure.timeout.ms"),
        }
    }
}
