use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use klamm_protocol::BrokerId;
use tokio::sync::Notify;

/// What a reader waits for: that something changes in one of the partitions that it looked at.
#[derive(Debug)]
pub(super) struct Watch {
    /// The broker that reads, where it is one that follows.
    follower: Option<BrokerId>,
    /// When it asked last, in milliseconds since the node started.
    asked_at_ms: AtomicU64,
    /// The partitions that have changed, by the names that the reader gave them.
    changed: Mutex<Vec<u64>>,
    wakes: Notify,
}

impl Watch {
    pub(super) fn new(follower: Option<BrokerId>) -> Self {
        Self {
            follower,
            asked_at_ms: AtomicU64::new(0),
            changed: Mutex::default(),
            wakes: Notify::new(),
        }
    }

    /// The reader asks, for everything that it has named.
    pub(super) fn asked(&self, now: Duration) {
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        self.asked_at_ms.fetch_max(now, Ordering::Relaxed);
    }

    /// What has changed since this was called last.
    pub(super) fn take_changed(&self) -> Vec<u64> {
        std::mem::take(&mut *self.changed())
    }

    /// Waits until something changes, or has since the last look.
    pub(super) async fn wait(&self) {
        self.wakes.notified().await;
    }

    fn changed(&self) -> MutexGuard<'_, Vec<u64>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who wants to know of the next change of a partition, and how they name it.
#[derive(Debug, Default)]
pub(super) struct Watchers(Vec<(Weak<Watch>, u64)>);

impl Watchers {
    /// Tells `watch` of the next change, under this name.
    pub(super) fn add(&mut self, watch: &Arc<Watch>, name: u64) {
        if self.0.len() == self.0.capacity() {
            // Those that have given up make room, so that the list is at most twice as long as
            // those that wait.
            self.0.retain(|(watch, _)| watch.strong_count() > 0);
        }
        self.0.push((Arc::downgrade(watch), name));
    }

    /// Something has changed.
    pub(super) fn wake(&mut self) {
        for (watch, name) in self.0.drain(..) {
            if let Some(watch) = watch.upgrade() {
                watch.changed().push(name);
                watch.wakes.notify_one();
            }
        }
    }

    /// The followers that have had no news of this partition since they looked, and when each asked
    /// for it last.
    pub(super) fn followers(&self) -> impl Iterator<Item = (BrokerId, Duration)> {
        self.0.iter().filter_map(|(watch, _)| {
            let watch = watch.upgrade()?;
            let at = Duration::from_millis(watch.asked_at_ms.load(Ordering::Relaxed));
            Some((watch.follower?, at))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_have_given_up_make_room() {
        let mut watchers = Watchers::default();
        let waits = Arc::new(Watch::new(None));
        watchers.add(&waits, 7);
        for _ in 0..1_000 {
            watchers.add(&Arc::new(Watch::new(None)), 1);
        }
        assert!(watchers.0.capacity() < 10, "{}", watchers.0.capacity());
        watchers.wake();
        assert!(watchers.0.is_empty());
        assert_eq!(waits.take_changed(), [7]);
        assert!(waits.take_changed().is_empty());
        // It was woken before it waits.
        let woken = std::pin::pin!(waits.wait());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(woken.poll(&mut context).is_ready());
    }

    #[test]
    fn followers_are_known_until_there_is_news() {
        let mut watchers = Watchers::default();
        let follower = Arc::new(Watch::new(Some(BrokerId(2))));
        watchers.add(&follower, 1);
        let consumer = Arc::new(Watch::new(None));
        watchers.add(&consumer, 1);
        follower.asked(Duration::from_secs(3));
        let followers: Vec<_> = watchers.followers().collect();
        assert_eq!(followers, [(BrokerId(2), Duration::from_secs(3))]);
        watchers.wake();
        assert_eq!(watchers.followers().count(), 0);
    }
}
