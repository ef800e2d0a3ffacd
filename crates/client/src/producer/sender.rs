use std::collections::{BTreeMap, HashMap};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use klamm_protocol::messages::produce::ProduceResponse;
use klamm_protocol::{BrokerId, SmallString};
use tokio::task::{JoinSet, unconstrained};
use tokio::time::{Instant, sleep_until};

use super::batch::{Batch, Origin};
use super::queue::Idle;
use super::request::{Draft, identify};
use super::{ProduceError, Shared, answers};
use crate::admin::TopicDescription;
use crate::call::Answer;
use crate::errand::Errand;
use crate::leaders::{METADATA_MAX_AGE, ask};
use crate::retry::{Backoff, Deadline};
use crate::{ClientError, ItemError, TopicPartition};

/// How long the task sleeps when nothing is to be done.
const IDLE: Duration = Duration::from_secs(3600);

/// Sends batches until the producer is gone.
///
/// One task decides; each request, and what has to be learned, is a task of its own that this one
/// waits for.
pub(super) async fn run(shared: Arc<Shared>) {
    let backoff = Backoff::between_retries(shared.client.config());
    let mut sender = Sender {
        shared,
        tasks: JoinSet::new(),
        lanes: HashMap::new(),
        metadata: Errand::due_after(METADATA_MAX_AGE),
        identity: Errand::due_after(IDLE),
        backoff,
    };
    loop {
        let next = sender.send_what_is_ready().await;
        if sender.shared.state().abandoned {
            return sender.give_up();
        }
        tokio::select! {
            Some(done) = sender.tasks.join_next() => match done {
                Ok(done) => sender.finish(done),
                Err(failed) if failed.is_panic() => {
                    std::panic::resume_unwind(failed.into_panic())
                }
                Err(_) => {}
            },
            () = sender.shared.wake.notified() => {}
            () = sleep_until(next) => {}
        }
    }
}

struct Sender {
    shared: Arc<Shared>,
    tasks: JoinSet<Done>,
    lanes: HashMap<BrokerId, Lane>,
    metadata: Errand,
    identity: Errand,
    backoff: Backoff,
}

/// Requests on their way to a broker.
#[derive(Debug, Default)]
struct Lane {
    in_flight: usize,
    /// It has answered since it failed last. Until then it gets one request at a time: several
    /// that wait for one connection could overtake each other.
    is_warm: bool,
    failures: u32,
    not_before: Option<Instant>,
}

/// What a task has ended with.
enum Done {
    Produced(Produced),
    Asked(Result<BTreeMap<SmallString, Result<TopicDescription, ItemError>>, ClientError>),
    Identified(Result<Origin, ClientError>),
}

/// An answer to a request, or why there is none, with the batches that were in it.
pub(super) struct Produced {
    pub(super) leader: BrokerId,
    pub(super) batches: Vec<(TopicPartition, Batch)>,
    pub(super) outcome: Result<Answer<ProduceResponse>, ClientError>,
}

impl Lane {
    /// Whether a request may be sent now, or when.
    fn opens(&self, most: usize, now: Instant) -> Result<(), Option<Instant>> {
        let most = if self.is_warm { most } else { 1 };
        match self.not_before {
            _ if self.in_flight >= most => Err(None),
            Some(at) if at > now => Err(Some(at)),
            _ => Ok(()),
        }
    }
}

impl Sender {
    /// Sends every batch that is ready and has a way to go; gives when to look again.
    async fn send_what_is_ready(&mut self) -> Instant {
        loop {
            let now = Instant::now();
            let mut next = now + IDLE;
            let requests = self.take_ready(now, &mut next);
            self.ask_what_is_missing(now, &mut next);
            if requests.is_empty() {
                return next;
            }
            for (leader, batches) in requests {
                self.send(leader, batches).await;
            }
        }
    }

    /// One batch of each partition that has one ready, by leader.
    fn take_ready(
        &mut self,
        now: Instant,
        next: &mut Instant,
    ) -> BTreeMap<BrokerId, Vec<(TopicPartition, Batch)>> {
        let shared = self.shared.clone();
        let options = &shared.options;
        let mut requests: BTreeMap<BrokerId, Vec<(TopicPartition, Batch)>> = BTreeMap::new();
        let mut sizes: BTreeMap<BrokerId, usize> = BTreeMap::new();
        let mut state = shared.state();
        if !state.waiting.is_empty() {
            answers::expire(&shared, &mut state, now);
        }
        let hurry = state.hurried();
        // Who comes first changes by chance: a request may be full before the last one's turn.
        let mut waiting: Vec<_> = state.waiting.iter().cloned().collect();
        let turn = fastrand::usize(0..waiting.len().max(1));
        waiting.rotate_left(turn);
        for partition in waiting {
            let leader = state.leaders.of(&partition).leader;
            let renewed = state.origin;
            let Some(queue) = state.queues.get_mut(&partition).filter(|q| !q.is_empty()) else {
                state.waiting.remove(&partition);
                continue;
            };
            if let Some(oldest) = queue.oldest() {
                *next = (oldest + options.delivery_timeout).min(*next);
            }
            let Some(leader) = leader else {
                state.leaders.distrust(&partition.topic);
                state.avoid(&partition.topic);
                continue;
            };
            let lane = self.lanes.entry(leader).or_default();
            if let Err(at) = lane.opens(options.max_in_flight, now) {
                *next = at.map_or(*next, |at| at.min(*next));
                continue;
            }
            let request = requests.entry(leader).or_default();
            let bytes = sizes.entry(leader).or_default();
            if !request.is_empty() && *bytes + options.batch_size > options.max_request_size {
                continue;
            }
            match queue.take(options, hurry, now) {
                Ok(batch) => {
                    *bytes += batch.buffered;
                    request.push((partition, batch));
                }
                Err(Idle::Waiting) => {}
                Err(Idle::Until(at)) => *next = at.min(*next),
                Err(Idle::NeedsId(used)) => match renewed.filter(|o| o.producer_id != used) {
                    Some(origin) => {
                        queue.start_over(origin);
                        *next = now;
                    }
                    None => state.origin = None,
                },
            }
        }
        requests.retain(|_, batches| !batches.is_empty());
        requests
    }

    fn ask_what_is_missing(&mut self, now: Instant, next: &mut Instant) {
        let mut state = self.shared.state();
        let client = &self.shared.client;
        if state.origin.is_none() && state.fatal.is_none() && self.identity.starts(true, now, next)
        {
            let client = client.clone();
            self.tasks
                .spawn(async move { Done::Identified(identify(client).await) });
        }
        let wanted = state.leaders.is_stale();
        if self.metadata.starts(wanted, now, next) {
            let topics = state.leaders.due();
            if topics.is_empty() {
                return self.metadata.ended(true, &self.backoff, METADATA_MAX_AGE);
            }
            let client = client.clone();
            let deadline = Deadline::after(client.config().request_timeout);
            self.tasks
                .spawn(async move { Done::Asked(ask(client, topics, deadline).await) });
        }
    }

    async fn send(&mut self, leader: BrokerId, batches: Vec<(TopicPartition, Batch)>) {
        let shared = self.shared.clone();
        let mut draft = Draft::new(&shared.options);
        let mut sent = Vec::with_capacity(batches.len());
        let now = Instant::now();
        let mut within = shared.client.config().request_timeout;
        for (partition, mut batch) in batches {
            let bytes = match batch.bytes() {
                Ok(bytes) => bytes,
                Err(error) => {
                    let error = ProduceError::Build(error);
                    answers::fail(&shared, &mut shared.state(), &partition, batch, &error);
                    continue;
                }
            };
            let left = batch.opened + shared.options.delivery_timeout;
            within = within.min(left.saturating_duration_since(now));
            batch.attempts += 1;
            let id = shared.state().leaders.id(&partition.topic);
            draft.add(&partition, id, bytes);
            sent.push((partition, batch));
        }
        if sent.is_empty() {
            return;
        }
        self.lanes.entry(leader).or_default().in_flight += 1;
        let client = shared.client.clone();
        let mut task = Box::pin(async move {
            let outcome = draft.send(client, leader, within).await;
            Done::Produced(Produced {
                leader,
                batches: sent,
                outcome,
            })
        });
        // Polled here once, requests get in line in this order, whichever thread has them later.
        let first = poll_fn(|context| Poll::Ready(task.as_mut().poll(context)));
        match unconstrained(first).await {
            Poll::Ready(done) => self.finish(done),
            Poll::Pending => {
                self.tasks.spawn(task);
            }
        }
    }

    fn finish(&mut self, done: Done) {
        let shared = self.shared.clone();
        match done {
            Done::Produced(produced) => {
                let lane = self.lanes.entry(produced.leader).or_default();
                lane.in_flight -= 1;
                if produced.outcome.is_ok() {
                    lane.is_warm = true;
                    lane.failures = 0;
                    lane.not_before = None;
                } else {
                    lane.is_warm = false;
                    lane.failures = lane.failures.saturating_add(1);
                    lane.not_before = Some(Instant::now() + self.backoff.after(lane.failures));
                }
                answers::settle(&shared, produced, &self.backoff);
            }
            Done::Asked(asked) => {
                let mut state = shared.state();
                match asked {
                    Ok(topics) => state.leaders.learn(topics),
                    Err(error) => state.trouble = Some(Box::new(error.into())),
                }
                let settled = !state.leaders.is_stale();
                self.metadata
                    .ended(settled, &self.backoff, METADATA_MAX_AGE);
            }
            Done::Identified(identified) => {
                let mut state = shared.state();
                match identified {
                    Ok(origin) => state.origin = Some(origin),
                    Err(error) if is_final(&error) => {
                        let error = ProduceError::Client(error);
                        answers::fail_all(&shared, &mut state, &error);
                        state.fatal = Some(error);
                    }
                    Err(error) => state.trouble = Some(Box::new(error.into())),
                }
                self.identity
                    .ended(state.origin.is_some(), &self.backoff, IDLE);
            }
        }
        shared.changed.notify_waiters();
    }

    fn give_up(&mut self) {
        let mut state = self.shared.state();
        answers::fail_all(&self.shared, &mut state, &ProduceError::Closed);
    }
}

/// Whether an id will not be given out, however often it is asked for.
pub(super) fn is_final(error: &ClientError) -> bool {
    matches!(
        error,
        ClientError::NotAuthorized { .. }
            | ClientError::Unsupported { .. }
            | ClientError::Server { .. }
    ) && !error.is_retriable()
}
