use std::collections::BTreeMap;
use std::time::Duration;

use klamm_controller::{How, LeaderChange, Why};
use klamm_protocol::Offset;

use super::window::{Idle, Summary, Window};

/// What the controller counts and measures of its own work. Its task owns them, so that counting
/// costs no more than an addition.
#[derive(Debug)]
pub(crate) struct Meters {
    /// From when work is handed over until it begins.
    queue_time: Window,
    /// From when it begins until what it wanted is on its way.
    processing_time: Window,
    /// From when records are appended until they are committed.
    commit_latency: Window,
    idle: Idle,
    /// By the name of the reason.
    leader_changes: BTreeMap<&'static str, u64>,
    pub(crate) unclean_elections: u64,
    pub(crate) eligible_elections: u64,
    pub(crate) new_active_controllers: u64,
    pub(crate) metadata_errors: u64,
    /// The end of an append that is not committed yet, and when it was made.
    uncommitted: Option<(Offset, Duration)>,
    last_append_ms: i64,
    snapshot_bytes: u64,
    /// When the last snapshot was made, or the node started.
    snapshot_at: Duration,
}

impl Meters {
    pub(crate) fn new(now: Duration) -> Self {
        Self {
            queue_time: Window::new(now),
            processing_time: Window::new(now),
            commit_latency: Window::new(now),
            idle: Idle::new(now),
            leader_changes: Why::ALL.iter().map(|why| (why.name(), 0)).collect(),
            unclean_elections: 0,
            eligible_elections: 0,
            new_active_controllers: 0,
            metadata_errors: 0,
            uncommitted: None,
            last_append_ms: 0,
            snapshot_bytes: 0,
            snapshot_at: now,
        }
    }

    /// Nothing was to be done from one moment to the other.
    pub(crate) fn waited(&mut self, since: Duration, now: Duration) {
        self.idle.waited(now.saturating_sub(since), now);
    }

    /// Work that was handed over at one moment was done from the next to the last.
    pub(crate) fn worked(&mut self, queued: Duration, begun: Duration, now: Duration) {
        self.queue_time.record(begun.saturating_sub(queued), now);
        self.processing_time.record(now.saturating_sub(begun), now);
    }

    pub(crate) fn leader_changed(&mut self, change: &LeaderChange) {
        *self.leader_changes.entry(change.why.name()).or_default() += 1;
        if change.from != change.to {
            self.unclean_elections += u64::from(change.how.is_unclean());
            self.eligible_elections += u64::from(change.how == How::Eligible);
        }
    }

    /// Records were appended up to an offset.
    pub(crate) fn appended(&mut self, end: Offset, now: crate::clock::Now) {
        self.uncommitted.get_or_insert((end, now.elapsed));
        self.last_append_ms = now.timestamp_ms;
    }

    /// What is before an offset is committed.
    pub(crate) fn committed(&mut self, offset: Offset, now: Duration) {
        if let Some((end, since)) = self.uncommitted
            && end <= offset
        {
            self.uncommitted = None;
            self.commit_latency.record(now.saturating_sub(since), now);
        }
    }

    /// What is not committed may never be.
    pub(crate) fn stopped_leading(&mut self) {
        self.uncommitted = None;
    }

    pub(crate) fn made_snapshot(&mut self, bytes: u64, now: Duration) {
        self.snapshot_bytes = bytes;
        self.snapshot_at = now;
    }

    pub(crate) fn leader_changes(&self) -> Vec<(&'static str, u64)> {
        self.leader_changes
            .iter()
            .map(|(why, count)| (*why, *count))
            .collect()
    }

    /// Queue time, processing time, commit latency.
    pub(crate) fn summaries(&mut self, now: Duration) -> [Summary; 3] {
        [
            self.queue_time.summary(now),
            self.processing_time.summary(now),
            self.commit_latency.summary(now),
        ]
    }

    pub(crate) fn idle_ratio(&self, now: Duration) -> f64 {
        self.idle.ratio(now)
    }

    pub(crate) fn last_append_ms(&self) -> i64 {
        self.last_append_ms
    }

    /// The length of the last snapshot, and how long ago it was made.
    pub(crate) fn snapshot(&self, now: Duration) -> (u64, Duration) {
        (self.snapshot_bytes, now.saturating_sub(self.snapshot_at))
    }
}
