//! Records that are written while something happens, and what became of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use klamm_client::{
    ClientConfig, Consumer, ConsumerOptions, Producer, ProducerOptions, ProducerRecord, SeekTo,
    TopicPartition,
};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A producer that goes on until it is told to stop.
pub(crate) struct Load {
    stop: watch::Sender<bool>,
    count: watch::Receiver<usize>,
    task: JoinHandle<Sent>,
}

/// What a load has come to.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    /// The values that were acknowledged, by place.
    pub(crate) acknowledged: BTreeMap<(i32, i64), String>,
    /// Those that were not, and may be there all the same.
    pub(crate) unknown: BTreeSet<String>,
}

impl Load {
    /// Writes records to the partitions of a topic in turn, with the producer's defaults: idempotent,
    /// acks=all.
    pub(crate) async fn start(config: ClientConfig, topic: &'static str, partitions: i32) -> Self {
        let producer = Producer::connect(config, ProducerOptions::default());
        let producer = producer.await.unwrap();
        let (stop, mut stopped) = watch::channel(false);
        let (counts, count) = watch::channel(0);
        let task = tokio::spawn(async move {
            let mut sent = Sent::default();
            let mut number = 0;
            while !*stopped.borrow_and_update() {
                let mut deliveries = Vec::new();
                for index in 0..partitions {
                    let value = format!("{index}/{number}");
                    let record = ProducerRecord::new(topic).partition(index);
                    let record = record.value(value.clone());
                    deliveries.push((value, producer.send(record).await));
                }
                for (value, delivery) in deliveries {
                    let delivered = match delivery {
                        Ok(delivery) => delivery.await,
                        Err(error) => Err(error),
                    };
                    match delivered {
                        Ok(written) => {
                            let place = (written.partition.partition.0, written.offset.unwrap().0);
                            let before = sent.acknowledged.insert(place, value);
                            assert_eq!(before, None, "two records at {place:?}");
                        }
                        Err(_) => drop(sent.unknown.insert(value)),
                    }
                }
                number += 1;
                counts.send_replace(sent.acknowledged.len());
            }
            producer.close().await;
            sent
        });
        Self { stop, count, task }
    }

    /// Waits until so many more records were acknowledged.
    pub(crate) async fn goes_on(&mut self, records: usize) {
        let from = *self.count.borrow();
        let more = self.count.wait_for(|count| *count >= from + records);
        let more = tokio::time::timeout(Duration::from_secs(90), more).await;
        more.expect("records are acknowledged").unwrap();
    }

    pub(crate) async fn stop(self) -> Sent {
        self.stop.send_replace(true);
        self.task.await.unwrap()
    }
}

/// Reads a topic from its start until nothing is missing of what was acknowledged, and checks that
/// all of it is where it was said to be, and everything once.
pub(crate) async fn check(config: ClientConfig, topic: &str, partitions: i32, sent: &Sent) {
    let mut consumer = Consumer::connect(config, ConsumerOptions::default())
        .await
        .unwrap();
    let all: Vec<TopicPartition> = (0..partitions)
        .map(|index| TopicPartition::new(topic, index))
        .collect();
    consumer.assign(all.clone());
    for partition in &all {
        consumer.seek(partition, SeekTo::Beginning).unwrap();
    }
    let mut missing = sent.acknowledged.clone();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut next: BTreeMap<i32, i64> = BTreeMap::new();
    let deadline = tokio::time::Instant::now() + Duration::from_secs(90);
    while !missing.is_empty() {
        let first = missing.first_key_value();
        assert!(tokio::time::Instant::now() < deadline, "missing: {first:?}");
        for read in consumer.poll(Duration::from_millis(500)).await.unwrap() {
            let index = read.partition().partition.0;
            for record in read.records() {
                let record = record.unwrap();
                let value = String::from_utf8(record.value().unwrap().to_vec()).unwrap();
                let offset = record.offset().0;
                let expected = next.entry(index).or_default();
                assert_eq!(
                    offset, *expected,
                    "offsets of partition {index} have no gaps"
                );
                *expected += 1;
                assert!(seen.insert(value.clone()), "{value} is there twice");
                match missing.remove(&(index, offset)) {
                    Some(acknowledged) => assert_eq!(acknowledged, value),
                    None => assert!(sent.unknown.contains(&value), "nobody sent {value}"),
                }
            }
        }
    }
}
