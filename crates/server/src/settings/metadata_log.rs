use std::time::Duration;

use klamm_config::Values;
use klamm_log::LogOptions;

use super::{bounded_millis, int, long, long_millis, millis};

/// How the metadata log is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataLogSettings {
    /// `metadata.log.segment.bytes` and `metadata.log.segment.ms`.
    pub options: LogOptions,
    /// `internal.metadata.max.batch.size.in.bytes`: the largest batch.
    pub max_batch_bytes: u32,
    /// `metadata.max.retention.bytes`: log and snapshots beyond it go, once a newer snapshot is
    /// there; `None` is no bound.
    pub max_retention_bytes: Option<u64>,
    /// `metadata.max.retention.ms`: the same for what is older; `None` is no bound.
    pub max_retention: Option<Duration>,
    /// `metadata.max.idle.interval.ms`: how often a leader without other records writes one, so that
    /// followers see it is there; `None` is never.
    pub max_idle_interval: Option<Duration>,
    /// `metadata.log.max.record.bytes.between.snapshots`: so many bytes make a new snapshot.
    pub max_bytes_between_snapshots: u64,
    /// `metadata.log.max.snapshot.interval.ms`: a change so old makes one; `None` is never.
    pub max_snapshot_interval: Option<Duration>,
}

impl MetadataLogSettings {
    pub(super) fn new(values: &Values) -> Self {
        let segment_bytes = values
            .int("internal.metadata.log.segment.bytes")
            .unwrap_or_else(|| int(values, "metadata.log.segment.bytes"));
        let max_retention_bytes = long(values, "metadata.max.retention.bytes");
        let max_bytes = long(values, "metadata.log.max.record.bytes.between.snapshots");
        let unless_zero = |interval: Duration| Some(interval).filter(|time| !time.is_zero());
        Self {
            options: LogOptions {
                segment_bytes: segment_bytes.unsigned_abs(),
                segment_ms: Some(long(values, "metadata.log.segment.ms")),
                ..LogOptions::METADATA
            },
            max_batch_bytes: int(values, "internal.metadata.max.batch.size.in.bytes")
                .unsigned_abs(),
            max_retention_bytes: u64::try_from(max_retention_bytes).ok(),
            max_retention: bounded_millis(values, "metadata.max.retention.ms"),
            max_idle_interval: unless_zero(millis(values, "metadata.max.idle.interval.ms")),
            max_bytes_between_snapshots: max_bytes.unsigned_abs(),
            max_snapshot_interval: unless_zero(long_millis(
                values,
                "metadata.log.max.snapshot.interval.ms",
            )),
        }
    }
}
