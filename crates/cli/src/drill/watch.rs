//! A task that looks at the cluster again and again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use klamm_client::{Admin, ClientConfig, ClientError, SmallString};
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::history::{Change, History, changes};
use super::seen::Seen;

/// How long there is between two looks.
const PAUSE: Duration = Duration::from_millis(10);
/// How long one broker is waited for before another one is asked.
const ANSWER: Duration = Duration::from_secs(1);
/// How long it takes until it is said that nobody answers.
const LOOK: Duration = Duration::from_secs(3);
/// How many changes may wait to be told.
const UNTOLD: usize = 1_024;

/// Looks at brokers and a topic until it is dropped.
#[derive(Debug)]
pub(super) struct Watch {
    began: Instant,
    now: watch::Receiver<Now>,
    news: broadcast::Sender<News>,
    history: Arc<Mutex<History>>,
    task: JoinHandle<()>,
}

/// What is known now.
#[derive(Clone, Debug, Default)]
pub(super) struct Now {
    pub(super) seen: Arc<Seen>,
    /// Why no broker answers.
    pub(super) trouble: Option<Arc<str>>,
}

/// What a look shows that was otherwise before.
#[derive(Clone, Debug)]
pub(super) enum News {
    Changed {
        at: Duration,
        changes: Vec<Change>,
    },
    /// No broker answers.
    Silence {
        at: Duration,
        why: Arc<str>,
    },
    /// One answers again.
    Answer {
        at: Duration,
    },
}

impl Watch {
    /// Begins to look at a topic.
    pub(super) async fn begin(
        mut config: ClientConfig,
        topic: SmallString,
        began: Instant,
    ) -> Result<Self, ClientError> {
        // A broker that hangs must not be waited for while others know who leads.
        config.request_timeout = config.request_timeout.min(ANSWER);
        let admin = Admin::connect(config).await?;
        let (sender, now) = watch::channel(Now::default());
        let history = Arc::default();
        let (news, _) = broadcast::channel(UNTOLD);
        let looks = Looks {
            admin,
            topic,
            began,
            now: sender,
            news: news.clone(),
            history: Arc::clone(&history),
        };
        Ok(Self {
            began,
            now,
            news,
            history,
            task: tokio::spawn(looks.run()),
        })
    }

    /// What is known at any time.
    pub(super) fn now(&self) -> watch::Receiver<Now> {
        self.now.clone()
    }

    /// What changes from now on.
    pub(super) fn news(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    /// All that was seen.
    pub(super) fn history(&self) -> History {
        locked(&self.history).clone()
    }

    /// Waits until a look that begins after this shows what is waited for.
    pub(super) async fn until(
        &self,
        limit: Duration,
        mut is_so: impl FnMut(&Seen) -> bool,
    ) -> Result<Arc<Seen>, Option<Arc<str>>> {
        let from = self.began.elapsed();
        let mut now = self.now();
        let shown = now.wait_for(|now| now.seen.asked >= from && is_so(&now.seen));
        let shown = timeout(limit, shown).await;
        match shown {
            Ok(Ok(now)) => Ok(Arc::clone(&now.seen)),
            // Too late, or the task has ended, which it does not.
            _ => Err(self.now.borrow().trouble.clone()),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Looks {
    admin: Admin,
    topic: SmallString,
    began: Instant,
    now: watch::Sender<Now>,
    news: broadcast::Sender<News>,
    history: Arc<Mutex<History>>,
}

impl Looks {
    async fn run(self) {
        loop {
            let look = Seen::look(&self.admin, &self.topic, self.began);
            match timeout(LOOK, look).await {
                Ok(Ok(seen)) => self.seen(seen),
                Ok(Err(error)) => self.silence(error.to_string().into()),
                Err(_) => self.silence("no broker answers".into()),
            }
            sleep(PAUSE).await;
        }
    }

    fn seen(&self, seen: Seen) {
        let Now {
            seen: before,
            trouble,
        } = self.now.borrow().clone();
        let at = seen.at;
        let seen = seen.after(&before);
        let changes = changes(&before, &seen);
        let mut history = locked(&self.history);
        for change in &changes {
            history.note(at, change);
        }
        drop(history);
        self.now.send_replace(Now {
            seen: Arc::new(seen),
            trouble: None,
        });
        // Whether anybody wants to know is theirs to say.
        if trouble.is_some() {
            let _ = self.news.send(News::Answer { at });
        }
        if !changes.is_empty() {
            let _ = self.news.send(News::Changed { at, changes });
        }
    }

    fn silence(&self, why: Arc<str>) {
        let at = self.began.elapsed();
        let mut was_silent = false;
        self.now
            .send_modify(|now| was_silent = now.trouble.replace(Arc::clone(&why)).is_some());
        if !was_silent {
            let _ = self.news.send(News::Silence { at, why });
        }
    }
}

fn locked(history: &Mutex<History>) -> MutexGuard<'_, History> {
    history.lock().unwrap_or_else(PoisonError::into_inner)
}
