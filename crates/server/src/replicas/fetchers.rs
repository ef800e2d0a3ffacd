//! Followers: a task for each leader, with a connection to it.

mod apply;
mod session;
mod task;

use std::collections::{BTreeMap, BTreeSet, HashMap};
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
    following: Mutex<Following>,
    /// There is another partition, or one has news.
    changed: Notify,
}

/// The partitions that a task fetches.
#[derive(Debug, Default)]
struct Following {
    by_place: HashMap<Place, Followed>,
    /// Those for which another thing may be asked now than last time, or nothing any more.
    news: BTreeSet<Place>,
    /// Those that are left alone for a while.
    failed: BTreeSet<Place>,
}

/// A partition that is fetched.
#[derive(Debug)]
struct Followed {
    hosted: Arc<Hosted>,
    /// How often it failed in a row, and until when it is left alone.
    failures: u32,
    not_before: Option<Instant>,
}

/// A partition to look at again.
#[derive(Debug)]
struct Revised {
    place: Place,
    /// `None` where it is to be fetched no more, or not now.
    hosted: Option<Arc<Hosted>>,
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
                following: Mutex::default(),
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
        {
            let mut following = fetcher.following();
            following.by_place.insert(place, followed);
            following.failed.remove(&place);
            following.news.insert(place);
        }
        fetcher.changed.notify_one();
    }

    /// What is asked for a partition may have changed by another thing than the leader's answers.
    pub(super) fn touch(&self, place: Place) {
        let tasks = self.tasks();
        if let Some(line) = tasks.by_place.get(&place)
            && let Some((fetcher, _)) = tasks.lines.get(line)
        {
            fetcher.following().news.insert(place);
        }
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
            let mut following = fetcher.following();
            following.by_place.remove(&place);
            following.failed.remove(&place);
            following.news.insert(place);
        }
    }
}

impl Fetcher {
    fn following(&self) -> MutexGuard<'_, Following> {
        self.following
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is nothing to fetch.
    fn is_idle(&self) -> bool {
        self.following().by_place.is_empty()
    }

    /// A partition could not be fetched: it is left alone for a while.
    fn failed(&self, place: Place, most: Duration) {
        let mut following = self.following();
        if let Some(followed) = following.by_place.get_mut(&place) {
            let wait = FIRST_BACKOFF * 2_u32.pow(followed.failures.min(10));
            followed.failures = followed.failures.saturating_add(1);
            followed.not_before = Some(Instant::now() + wait.min(most));
            following.failed.insert(place);
            following.news.insert(place);
        }
    }

    fn succeeded(&self, place: Place) {
        let mut following = self.following();
        if let Some(followed) = following.by_place.get_mut(&place) {
            followed.failures = 0;
            followed.not_before = None;
            following.failed.remove(&place);
            following.news.insert(place);
        }
    }
}

impl Following {
    /// The partitions to look at again, those whose wait is over among them; and when the next one's
    /// will be.
    fn take_news(&mut self, now: Instant) -> (Vec<Revised>, Option<Instant>) {
        let mut due = None;
        for place in &self.failed {
            let not_before = self.by_place.get(place).and_then(|it| it.not_before);
            match not_before.filter(|at| *at > now) {
                Some(at) => due = Some(due.map_or(at, |due: Instant| due.min(at))),
                None => {
                    self.news.insert(*place);
                }
            }
        }
        let news = std::mem::take(&mut self.news).into_iter();
        let news = news.map(|place| {
            let followed = self.by_place.get(&place);
            let followed = followed.filter(|it| it.not_before.is_none_or(|at| at <= now));
            if followed.is_some() {
                self.failed.remove(&place);
            }
            let hosted = followed.map(|followed| Arc::clone(&followed.hosted));
            Revised { place, hosted }
        });
        (news.collect(), due)
    }
}
