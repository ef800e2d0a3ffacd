use std::time::Duration;

use crate::settings::MetadataLogSettings;

/// When the next snapshot is due: after so many bytes of records
/// (`metadata.log.max.record.bytes.between.snapshots`), or when a record has waited so long for one
/// (`metadata.log.max.snapshot.interval.ms`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    max_bytes: u64,
    max_interval: Option<Duration>,
    /// How many bytes of records came since the last snapshot.
    bytes: u64,
    /// When the first of them came.
    since: Option<Duration>,
    is_making: bool,
}

impl Pace {
    /// The pace of a log that has so many bytes after its latest snapshot.
    pub(crate) fn new(settings: &MetadataLogSettings, bytes: u64, now: Duration) -> Self {
        Self {
            max_bytes: settings.max_bytes_between_snapshots,
            max_interval: settings.max_snapshot_interval,
            bytes,
            since: (bytes > 0).then_some(now),
            is_making: false,
        }
    }

    /// Records were written.
    pub(crate) fn wrote(&mut self, bytes: usize, now: Duration) {
        self.bytes += bytes as u64;
        self.since.get_or_insert(now);
    }

    /// Whether a snapshot is to be made now. If so, it is taken to be made of all that is there.
    pub(crate) fn begin(&mut self, now: Duration) -> bool {
        let is_due = self.bytes >= self.max_bytes || self.deadline().is_some_and(|at| at <= now);
        if self.is_making || !is_due {
            return false;
        }
        self.is_making = true;
        self.bytes = 0;
        self.since = None;
        true
    }

    /// The snapshot is made, or could not be.
    pub(crate) fn ended(&mut self) {
        self.is_making = false;
    }

    /// When [`Pace::begin`] is to be asked even if nothing is written.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let (since, interval) = (self.since?, self.max_interval?);
        (!self.is_making).then(|| since.saturating_add(interval))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use klamm_log::LogOptions;

    fn pace(max_bytes: u64, interval: Option<u64>, bytes: u64) -> Pace {
        let settings = MetadataLogSettings {
            options: LogOptions::METADATA,
            max_batch_bytes: 1,
            max_retention_bytes: None,
            max_retention: None,
            max_idle_interval: None,
            max_bytes_between_snapshots: max_bytes,
            max_snapshot_interval: interval.map(Duration::from_secs),
        };
        Pace::new(&settings, bytes, Duration::ZERO)
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn bytes_make_a_snapshot_due_one_at_a_time() {
        let mut pace = pace(100, None, 90);
        assert!(!pace.begin(at(1)));
        pace.wrote(10, at(2));
        assert!(pace.begin(at(2)));
        pace.wrote(500, at(3));
        assert!(!pace.begin(at(3)), "one is being made");
        pace.ended();
        assert!(pace.begin(at(4)));
        assert_eq!(pace.deadline(), None);
    }

    #[test]
    fn a_record_waits_no_longer_than_the_interval() {
        let mut pace = pace(u64::MAX, Some(10), 0);
        assert_eq!(pace.deadline(), None, "nothing to make one of");
        pace.wrote(1, at(5));
        pace.wrote(1, at(9));
        assert_eq!(pace.deadline(), Some(at(15)));
        assert!(!pace.begin(at(14)));
        assert!(pace.begin(at(15)));
        assert_eq!(pace.deadline(), None);
    }
}
