//! Producers, and what becomes of each record.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fastrand::Rng;
use klamm_client::{
    Bootstrap, ClientConfig, Codec, Delivery, PartitionIndex, ProduceError, Producer,
    ProducerOptions, ProducerRecord, ServerAddress,
};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::joined;
use crate::patience::eventually;
use crate::plan::{Load, Sender};
use crate::record::Id;

pub(crate) const TOPIC: &str = "safety";
const TICK: Duration = Duration::from_millis(5);
/// What cannot be sent in time is not made up for beyond this.
const MAX_DUE: u64 = 20;

/// A record that was sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sent {
    /// How long it took until its end was known.
    pub(crate) took: Duration,
    pub(crate) outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Acknowledged, at this offset where the leader tells.
    Acked(Option<i64>),
    /// Given up; it may be there.
    Unknown,
    /// Given up, and the producer says that it is not there.
    Denied(String),
}

/// Producers at work.
#[derive(Debug)]
pub(crate) struct Running {
    stop: watch::Sender<bool>,
    acked: Arc<Vec<AtomicU64>>,
    producers: Vec<JoinHandle<Vec<Vec<Sent>>>>,
}

impl Running {
    /// Begins to send.
    pub(crate) async fn begin(servers: &[ServerAddress], seed: u64, load: &Load) -> Self {
        let (stop, _) = watch::channel(false);
        let acked: Vec<_> = (0..load.partitions).map(|_| AtomicU64::new(0)).collect();
        let acked = Arc::new(acked);
        let mut producers = Vec::new();
        for (number, sender) in load.producers.iter().enumerate() {
            let connect = async || connect(servers, sender).await;
            let work = Work {
                number,
                sender: sender.clone(),
                producer: eventually("a producer connected", connect).await,
                rng: Rng::with_seed(seed ^ number as u64),
                acked: Arc::clone(&acked),
            };
            producers.push(tokio::spawn(work.run(stop.subscribe())));
        }
        Self {
            stop,
            acked,
            producers,
        }
    }

    /// How many records of each partition are acknowledged.
    pub(crate) fn acked(&self) -> Vec<u64> {
        let counts = self.acked.iter();
        counts.map(|count| count.load(Ordering::Relaxed)).collect()
    }

    /// Sends no more, and waits until it is known what became of each record: by producer and
    /// partition, in the order of their numbers.
    pub(crate) async fn end(self) -> Vec<Vec<Vec<Sent>>> {
        self.stop.send_replace(true);
        let mut sent = Vec::new();
        for producer in self.producers {
            sent.push(joined(producer.await));
        }
        sent
    }
}

async fn connect(servers: &[ServerAddress], sender: &Sender) -> Result<Producer, ProduceError> {
    let mut config = ClientConfig::new(Bootstrap::Brokers(servers.to_vec()));
    config.request_timeout = sender.request_timeout;
    let options = ProducerOptions {
        linger: sender.linger,
        batch_size: sender.batch_size,
        max_in_flight: sender.max_in_flight,
        delivery_timeout: sender.delivery_timeout,
        compression: Codec::new(sender.compression),
        ..ProducerOptions::default()
    };
    Producer::connect(config, options).await
}

/// A producer and what it does.
struct Work {
    number: usize,
    sender: Sender,
    producer: Producer,
    rng: Rng,
    acked: Arc<Vec<AtomicU64>>,
}

/// A record whose end is not known.
struct Waiting {
    began: Instant,
    delivery: Result<Delivery, ProduceError>,
}

impl Work {
    async fn run(mut self, stopped: watch::Receiver<bool>) -> Vec<Vec<Sent>> {
        let mut queues = Vec::new();
        let mut ends = Vec::new();
        for partition in 0..self.acked.len() {
            let (queue, waiting) = mpsc::unbounded_channel();
            queues.push((queue, 0));
            let acked = Arc::clone(&self.acked);
            ends.push(tokio::spawn(until_known(waiting, acked, partition)));
        }
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let begin = Instant::now();
        let mut counted = 0;
        while !*stopped.borrow() {
            tick.tick().await;
            let until_now = begin.elapsed().as_micros() as u64 * u64::from(self.sender.rate);
            let due = (until_now / 1_000_000).saturating_sub(counted);
            counted += due;
            for _ in 0..due.min(MAX_DUE) {
                let partition = self.rng.usize(..queues.len());
                let (queue, number) = &mut queues[partition];
                let waiting = self.send(partition, *number).await;
                *number += 1;
                // Who waits for the ends goes when the queue goes.
                let _ = queue.send(waiting);
            }
        }
        self.producer.close().await;
        drop(queues);
        let mut sent = Vec::new();
        for end in ends {
            sent.push(joined(end.await));
        }
        sent
    }

    async fn send(&mut self, partition: usize, number: usize) -> Waiting {
        let id = Id {
            producer: self.number,
            partition,
            number,
        };
        let value = id.value(self.rng.usize(..=self.sender.value_bytes));
        let record = ProducerRecord::new(TOPIC)
            .partition(PartitionIndex(partition as i32))
            .value(value);
        Waiting {
            began: Instant::now(),
            delivery: self.producer.send(record).await,
        }
    }
}

async fn until_known(
    mut waiting: mpsc::UnboundedReceiver<Waiting>,
    acked: Arc<Vec<AtomicU64>>,
    partition: usize,
) -> Vec<Sent> {
    let mut sent = Vec::new();
    while let Some(Waiting { began, delivery }) = waiting.recv().await {
        let outcome = match delivery {
            Ok(delivery) => match delivery.await {
                Ok(metadata) => {
                    acked[partition].fetch_add(1, Ordering::Relaxed);
                    Outcome::Acked(metadata.offset.map(|offset| offset.0))
                }
                Err(error) if error.is_outcome_unknown() => Outcome::Unknown,
                Err(error) => Outcome::Denied(error.to_string()),
            },
            Err(error) => Outcome::Denied(error.to_string()),
        };
        sent.push(Sent {
            took: began.elapsed(),
            outcome,
        });
    }
    sent
}
