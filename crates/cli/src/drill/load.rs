//! A steady load, and what becomes of each record.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use klamm_client::{
    Bytes, ClientConfig, Delivery, PartitionIndex, ProduceError, Producer, ProducerOptions,
    ProducerRecord, SmallString,
};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::errors::Problem;

/// How often records are sent. What a second's rate does not divide into is made up for later.
const TICK: Duration = Duration::from_millis(5);
/// The most records of a load: what became of each is kept until the report.
pub(super) const MOST_RECORDS: u64 = 5_000_000;
/// How long a record is tried, and how long one waits for room in the buffer: longer than anything
/// else may take.
const DELIVERY: Duration = Duration::from_secs(120);

/// What a load is to be.
#[derive(Clone, Debug)]
pub(super) struct Steady {
    pub(super) topic: SmallString,
    pub(super) partitions: u16,
    /// Records a second.
    pub(super) rate: u32,
}

/// Records on their way to all partitions in turn.
#[derive(Debug)]
pub(super) struct Load {
    counts: Arc<Counts>,
    stop: watch::Sender<bool>,
    sending: JoinHandle<Result<(), ProduceError>>,
    partitions: Vec<JoinHandle<Vec<Sent>>>,
}

/// What the load is, in numbers.
#[derive(Debug, Default)]
pub(super) struct Counts {
    sent: AtomicU64,
    ended: AtomicU64,
    acked: AtomicU64,
    /// How long all that are acknowledged waited for it together, in microseconds.
    waited_us: AtomicU64,
    /// The longest since it was last asked for.
    longest_us: AtomicU64,
}

/// How many records there are so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) sent: u64,
    /// Acknowledged or given up.
    pub(super) ended: u64,
    pub(super) acked: u64,
    /// How long all that are acknowledged waited for it together, in microseconds.
    pub(super) waited_us: u64,
}

impl Counts {
    pub(super) fn totals(&self) -> Totals {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Totals {
            // In this order no more have ended than were sent.
            acked: read(&self.acked),
            ended: read(&self.ended),
            waited_us: read(&self.waited_us),
            sent: read(&self.sent),
        }
    }

    /// The longest that a record waited to be acknowledged since this was last asked.
    pub(super) fn take_longest(&self) -> Duration {
        Duration::from_micros(self.longest_us.swap(0, Ordering::Relaxed))
    }

    pub(super) fn sent_one(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn ended(&self, wait: Duration, is_acked: bool) {
        self.ended.fetch_add(1, Ordering::Relaxed);
        if is_acked {
            let wait_us = u64::try_from(wait.as_micros()).unwrap_or(u64::MAX);
            self.acked.fetch_add(1, Ordering::Relaxed);
            self.waited_us.fetch_add(wait_us, Ordering::Relaxed);
            self.longest_us.fetch_max(wait_us, Ordering::Relaxed);
        }
    }
}

/// A record that was sent. Records of a partition are numbered from 0.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    /// When, from the drill's beginning.
    pub(super) at: Duration,
    /// When it was acknowledged, or given up.
    pub(super) ended: Duration,
    /// Why it was given up.
    pub(super) failure: Option<Box<str>>,
}

/// A record and what becomes of it.
struct Waiting {
    at: Duration,
    delivery: Delivery,
}

impl Load {
    /// Begins to send. `began` is when the drill did.
    pub(super) async fn begin(
        config: ClientConfig,
        steady: Steady,
        began: Instant,
    ) -> Result<Self, ProduceError> {
        let options = ProducerOptions {
            delivery_timeout: DELIVERY,
            max_block: DELIVERY,
            ..ProducerOptions::default()
        };
        let producer = Producer::connect(config, options).await?;
        let counts = Arc::new(Counts::default());
        let (stop, stopped) = watch::channel(false);
        let mut queues = Vec::new();
        let mut tasks = Vec::new();
        for _ in 0..steady.partitions {
            let (queue, waiting) = mpsc::unbounded_channel();
            queues.push(queue);
            tasks.push(tokio::spawn(ends(waiting, Arc::clone(&counts), began)));
        }
        let sender = Sender {
            producer,
            steady,
            queues,
            counts: Arc::clone(&counts),
            began,
        };
        Ok(Self {
            counts,
            stop,
            sending: tokio::spawn(sender.run(stopped)),
            partitions: tasks,
        })
    }

    /// Whether nothing more is sent: it cannot go on, or all has been sent that may be.
    pub(super) fn is_over(&self) -> bool {
        self.sending.is_finished()
    }

    /// What it is in numbers, also while it goes on.
    pub(super) fn counts(&self) -> Arc<Counts> {
        Arc::clone(&self.counts)
    }

    /// Sends no more, and waits until it is known what became of each record: by partition, in the
    /// order in which they were sent.
    pub(super) async fn end(self) -> Result<Vec<Vec<Sent>>, ProduceError> {
        self.stop.send_replace(true);
        joined(self.sending.await)?;
        let mut partitions = Vec::new();
        for task in self.partitions {
            partitions.push(joined(task.await));
        }
        Ok(partitions)
    }
}

/// Why a load cannot begin, or go on.
pub(super) fn produce_problem(error: &ProduceError) -> Problem {
    Problem::failure("the load cannot go on").because(error.to_string())
}

/// What a task that nobody aborts has ended with.
fn joined<T>(ended: Result<T, tokio::task::JoinError>) -> T {
    ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

struct Sender {
    producer: Producer,
    steady: Steady,
    queues: Vec<mpsc::UnboundedSender<Waiting>>,
    counts: Arc<Counts>,
    began: Instant,
}

impl Sender {
    async fn run(self, mut stopped: watch::Receiver<bool>) -> Result<(), ProduceError> {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let start = Instant::now();
        let mut numbers = vec![0u64; self.queues.len()];
        let mut sent: u64 = 0;
        loop {
            tokio::select! {
                biased;
                _ = stopped.wait_for(|stop| *stop) => break,
                _ = ticks.tick() => {}
            }
            let due = start.elapsed().as_secs_f64() * f64::from(self.steady.rate);
            while (sent as f64) < due && !*stopped.borrow() {
                let partition = (sent % self.queues.len() as u64) as usize;
                // What waits for room is not sent when the load ends.
                tokio::select! {
                    biased;
                    _ = stopped.wait_for(|stop| *stop) => break,
                    done = self.send(partition, numbers[partition]) => done?,
                }
                numbers[partition] += 1;
                sent += 1;
            }
            if sent >= MOST_RECORDS {
                break;
            }
        }
        self.producer.close().await;
        Ok(())
    }

    async fn send(&self, partition: usize, number: u64) -> Result<(), ProduceError> {
        let value = Bytes::copy_from_slice(&number.to_be_bytes());
        let index = PartitionIndex(partition as i32);
        let record = ProducerRecord::new(self.steady.topic.clone())
            .partition(index)
            .value(value);
        let at = self.began.elapsed();
        let delivery = self.producer.send(record).await?;
        self.counts.sent_one();
        // Its task ends after this one.
        let _ = self.queues[partition].send(Waiting { at, delivery });
        Ok(())
    }
}

/// Waits for the records of a partition, which end in the order in which they were sent.
async fn ends(
    mut waiting: mpsc::UnboundedReceiver<Waiting>,
    counts: Arc<Counts>,
    began: Instant,
) -> Vec<Sent> {
    let mut all = Vec::new();
    while let Some(Waiting { at, delivery }) = waiting.recv().await {
        let failure = delivery.await.err().map(|error| error.to_string().into());
        let ended = began.elapsed();
        counts.ended(ended.saturating_sub(at), failure.is_none());
        all.push(Sent { at, ended, failure });
    }
    all
}
