use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use super::{Published, Touched};

/// What the observer has for the rest of the broker. What is not taken in time is joined with what
/// comes after it, so that it is never more than one image.
#[derive(Clone, Debug, Default)]
pub(super) struct Feed(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    next: Mutex<Option<(Published, Touched)>>,
    filled: Notify,
}

impl Feed {
    /// Hands over what is known now, and what changed since the last time.
    pub(super) fn put(&self, published: Published, touched: Touched) {
        {
            let mut next = self.0.next.lock().unwrap_or_else(PoisonError::into_inner);
            let mut all = next.take().map(|(_, touched)| touched).unwrap_or_default();
            all.merge(touched);
            *next = Some((published, all));
        }
        self.0.filled.notify_one();
    }

    /// Waits for news.
    pub(super) async fn next(&self) -> (Published, Touched) {
        loop {
            let next = {
                let mut next = self.0.next.lock().unwrap_or_else(PoisonError::into_inner);
                next.take()
            };
            match next {
                Some(next) => return next,
                None => self.0.filled.notified().await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use klamm_protocol::Offset;

    fn published(end: i64) -> Published {
        Published {
            end: Offset(end),
            ..Published::default()
        }
    }

    #[tokio::test]
    async fn what_was_not_taken_is_joined() {
        let feed = Feed::default();
        feed.put(published(1), Touched::All);
        feed.put(published(2), Touched::default());
        let (news, touched) = feed.next().await;
        assert_eq!((news.end, touched), (Offset(2), Touched::All));
        let (waits, ()) = tokio::join!(feed.next(), async {
            feed.put(published(3), Touched::default());
        });
        assert_eq!(waits.0.end, Offset(3));
        assert!(waits.1.is_nothing());
    }
}
