use core::time::Duration;

use klamm_metadata::BrokerEpoch;
use klamm_protocol::Offset;

/// What a leader knows of a follower, from its fetches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Where its log begins and ends; `None` before its first fetch.
    pub(crate) log: Option<FollowerLog>,
    /// Where this log ended at the last fetch, and when that was.
    last_fetch: Option<(Offset, Duration)>,
    /// The last moment at which it had all that this log had then.
    caught_up_at: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FollowerLog {
    pub(crate) start: Offset,
    pub(crate) end: Offset,
    /// `None` where the Fetch named none, as requests before version 15 do.
    pub(crate) broker_epoch: Option<BrokerEpoch>,
}

impl Progress {
    /// Begins anew, at the start of a leader's epoch. Who is in sync is caught up until its time
    /// has passed; others are not before they fetch.
    pub(crate) fn reset(&mut self, now: Duration, log_end: Offset, is_new: bool, in_sync: bool) {
        let since = in_sync.then_some(now);
        if is_new {
            *self = Self::default();
        } else {
            self.last_fetch = since.map(|since| (log_end, since));
        }
        self.caught_up_at = since;
    }

    /// Takes note of a fetch. A follower that has fetched all that there was at its last fetch was
    /// caught up then: otherwise one that is always a little behind would never be.
    pub(crate) fn fetched(&mut self, follower: FollowerLog, log_end: Offset, now: Duration) {
        let caught_up = if follower.end >= log_end {
            Some(now)
        } else {
            self.last_fetch
                .filter(|(end, _)| follower.end >= *end)
                .map(|(_, at)| at)
        };
        self.caught_up_at = self.caught_up_at.max(caught_up);
        let end = self.last_fetch.map_or(log_end, |(end, _)| end.max(log_end));
        self.last_fetch = Some((end, now));
        self.log = Some(follower);
    }

    /// The follower has asked again for what it asked for last, at `at`.
    pub(crate) fn asked_again(&mut self, log_end: Offset, at: Duration) {
        if let Some(log) = self.log
            && self.last_fetch.is_some_and(|(_, last)| last < at)
        {
            self.fetched(log, log_end, at);
        }
    }

    /// Whether it has all, or had all not long ago.
    pub(crate) fn is_caught_up(&self, log_end: Offset, now: Duration, lag_max: Duration) -> bool {
        self.log.is_some_and(|log| log.end == log_end)
            || self
                .caught_up_at
                .is_some_and(|at| now.saturating_sub(at) <= lag_max)
    }
}
