use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A moment, in the two clocks that a node goes by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    /// Time since the node started: every timeout is measured with it.
    pub(crate) elapsed: Duration,
    /// Milliseconds since 1970, for what is written down.
    pub(crate) timestamp_ms: i64,
}

/// The clock of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that begins now.
    pub(crate) fn start() -> Self {
        let start = Instant::now();
        Self { start }
    }

    pub(crate) fn now(&self) -> Now {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since_1970.unwrap_or_default().as_millis();
        Now {
            elapsed: self.start.elapsed(),
            timestamp_ms: i64::try_from(millis).unwrap_or(i64::MAX),
        }
    }

    /// Time since the node started.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// The moment at which so much time has passed.
    pub(crate) fn instant(&self, elapsed: Duration) -> Instant {
        self.start + elapsed
    }
}

impl From<Now> for klamm_raft::Now {
    fn from(now: Now) -> Self {
        Self {
            elapsed: now.elapsed,
            timestamp_ms: now.timestamp_ms,
        }
    }
}

impl From<Now> for klamm_controller::Now {
    fn from(now: Now) -> Self {
        Self(now.elapsed)
    }
}
