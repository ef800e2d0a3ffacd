use std::sync::{Arc, Weak};

use tokio::sync::Notify;

/// Fetches that wait until something changes.
#[derive(Debug, Default)]
pub(super) struct Watchers(Vec<Weak<Notify>>);

impl Watchers {
    /// Wakes `watcher` at the next change.
    pub(super) fn add(&mut self, watcher: &Arc<Notify>) {
        if self.0.len() == self.0.capacity() {
            // Those that have given up make room, so that the list is at most twice as long as
            // those that wait.
            self.0.retain(|watcher| watcher.strong_count() > 0);
        }
        self.0.push(Arc::downgrade(watcher));
    }

    /// Something has changed.
    pub(super) fn wake(&mut self) {
        for watcher in self.0.drain(..) {
            if let Some(watcher) = watcher.upgrade() {
                watcher.notify_one();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_have_given_up_make_room() {
        let mut watchers = Watchers::default();
        let waits = Arc::new(Notify::new());
        watchers.add(&waits);
        for _ in 0..1_000 {
            watchers.add(&Arc::new(Notify::new()));
        }
        assert!(watchers.0.capacity() < 10, "{}", watchers.0.capacity());
        watchers.wake();
        assert!(watchers.0.is_empty());
        // It was woken before it waits.
        let woken = std::pin::pin!(waits.notified());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(woken.poll(&mut context).is_ready());
    }
}
