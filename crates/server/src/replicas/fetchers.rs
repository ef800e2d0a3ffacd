//! Followers: a task for each leader, with a connection to it.

mod apply;
mod session;
mod task;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use klamm_metadata::Place;
use klamm_net::Connector;
use klamm_protocol::BrokerId;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::Shared;
use super::hosted::Hosted;
use crate::settings::ReplicaFetchSettings;

/// The wait after a partition's first failure, doubled with each up to `replica.fetch.backoff.ms`:
/// most come from metadata that the leader knows a moment later.
const FIRST_BACKOFF: Duration = Duration::from_millis(20);

/// The tasks that fetch.
pub(super) struct Fetchers {
    /// The listener by which brokers reach each other.
    listener: String,
    connector: Arc<dyn Connector>,
    settings: ReplicaFetchSettings,
    tasks: Mutex<Tasks>,
}

/// One of the connections to a leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    leader: BrokerId,
    number: usize,
}

#[derive(Debug, Default)]
struct Tasks {
    lines: BTreeMap<Line, (Arc<Fetcher>, JoinHandle<()>)>,
    by_place: HashMap<Place, Line>,
}

/// What one task fetches.
#[derive(Debug)]
struct Fetcher {
    leader: BrokerId,
    followed: Mutex<BTreeMap<Place, Followed>>,
    /// There is another partition, or one has news.
    changed: Notify,
}

/// A partition that is fetched.
#[derive(Debug)]
struct Followed {
    hosted: Arc<Hosted>,
    /// How often it failed in a row, and until when it is left alone.
    failures: u32,
    not_before: Option<Instant>,
}

impl fmt::Debug for Fetchers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<Line> = self.tasks().lines.keys().copied().collect();
        f.debug_tuple("Fetchers").field(&lines).finish()
    }
}

impl Fetchers {
    pub(super) fn new(
        listener: String,
        connector: Arc<dyn Connector>,
        settings: ReplicaFetchSettings,
    ) -> Self {
        Self {
            listener,
            connector,
            settings,
            tasks: Mutex::default(),
        }
    }

    /// Fetches a partition from this leader, and from no other.
    pub(super) fn follow(&self, shared: &Arc<Shared>, leader: BrokerId, hosted: &Arc<Hosted>) {
        let place = hosted.place;
        let number = place.index.0.unsigned_abs() as usize % self.settings.fetchers.max(1);
        let line = Line { leader, number };
        let mut tasks = self.tasks();
        if tasks.by_place.get(&place) != Some(&line) {
            tasks.forget(place);
        }
        tasks.by_place.insert(place, line);
        let (fetcher, _) = tasks.lines.entry(line).or_insert_with(|| {
            let fetcher = Arc::new(Fetcher {
                leader,
                followed: Mutex::default(),
                changed: Notify::new(),
            });
            let run = task::run(Arc::downgrade(shared), Arc::clone(&fetcher));
            (fetcher, tokio::spawn(run))
        });
        let followed = Followed {
            hosted: Arc::clone(hosted),
            failures: 0,
            not_before: None,
        };
        fetcher.followed().insert(place, followed);
        fetcher.changed.notify_one();
    }

    /// Fetches a partition no more.
    pub(super) fn forget(&self, place: Place) {
        self.tasks().forget(place);
    }

    /// Ends all tasks.
    pub(super) async fn stop(&self) {
        let lines = std::mem::take(&mut *self.tasks()).lines;
        for (_, task) in lines.into_values() {
            task.abort();
            // It has ended, or was ended: both are what is wanted.
            let _ = task.await;
        }
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tasks {
    fn forget(&mut self, place: Place) {
        if let Some(line) = self.by_place.remove(&place)
            && let Some((fetcher, _)) = self.lines.get(&line)
        {
            fetcher.followed().remove(&place);
        }
    }
}

impl Fetcher {
    fn followed(&self) -> MutexGuard<'_, BTreeMap<Place, Followed>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A partition could not be fetched: it is left alone for a while.
    fn failed(&self, place: Place, most: Duration) {
        if let Some(followed) = self.followed().get_mut(&place) {
            let wait = FIRST_BACKOFF * 2_u32.pow(followed.failures.min(10));
            followed.failures = followed.failures.saturating_add(1);
            followed.not_before = Some(Instant::now() + wait.min(most));
        }
    }

    fn succeeded(&self, place: Place) {
        if let Some(followed) = self.followed().get_mut(&place) {
            followed.failures = 0;
            followed.not_before = None;
        }
    }
}
