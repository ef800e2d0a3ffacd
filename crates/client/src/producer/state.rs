use std::collections::{BTreeMap, BTreeSet, HashMap};

use klamm_protocol::{PartitionIndex, SmallString};
use tokio::sync::oneshot;

use super::batch::{Batch, Origin};
use super::options::ProducerOptions;
use super::partitioner::{Partitioner, of_key};
use super::queue::{Hurry, PartitionQueue};
use super::record::now_millis;
use super::{ProduceError, ProducerRecord, RecordMetadata};
use crate::TopicPartition;
use crate::leaders::Leaders;

/// What is queued, and what is known. It knows no clock but the batches' and does no IO.
#[derive(Debug)]
pub(super) struct State {
    pub(super) leaders: Leaders,
    partitioner: Partitioner,
    pub(super) queues: HashMap<TopicPartition, PartitionQueue>,
    /// The partitions with something in their queue.
    pub(super) waiting: BTreeSet<TopicPartition>,
    /// What new partitions' numbers begin with, once it is known.
    pub(super) origin: Option<Origin>,
    /// Why this producer cannot go on.
    pub(super) fatal: Option<ProduceError>,
    /// What went wrong last with what callers wait for.
    pub(super) trouble: Option<Box<ProduceError>>,
    /// How many batches have not ended, by their flush id.
    incomplete: BTreeMap<u64, usize>,
    next_flush_id: u64,
    flush_through: Option<u64>,
    /// How many records wait for room in the buffer.
    pub(super) wait_for_room: usize,
    /// No more records are taken.
    pub(super) closing: bool,
    /// The last handle is gone.
    pub(super) abandoned: bool,
}

/// Whether a record for a topic can be put into a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    Ready,
    /// Something is not known yet.
    Asking,
}

impl State {
    pub(super) fn new(options: &ProducerOptions) -> Self {
        Self {
            leaders: Leaders::default(),
            partitioner: Partitioner::default(),
            queues: HashMap::new(),
            waiting: BTreeSet::new(),
            origin: (!options.idempotence).then_some(Origin::NONE),
            fatal: None,
            trouble: None,
            incomplete: BTreeMap::new(),
            next_flush_id: 0,
            flush_through: None,
            wait_for_room: 0,
            closing: false,
            abandoned: false,
        }
    }

    fn usable(&self) -> Result<(), ProduceError> {
        match &self.fatal {
            Some(error) => Err(error.clone()),
            None if self.closing => Err(ProduceError::Closed),
            None => Ok(()),
        }
    }

    /// Whether a topic's record can be put into a batch; has asked for what is missing.
    pub(super) fn readiness(&mut self, topic: &SmallString) -> Result<Readiness, ProduceError> {
        self.usable()?;
        match self.leaders.partitions(topic) {
            Some(Ok(count)) if count > 0 && self.origin.is_some() => return Ok(Readiness::Ready),
            Some(Ok(count)) if count > 0 => {}
            Some(Err(error)) if !error.code.is_retriable() => {
                let topic = topic.clone();
                // Somebody may put it right: who sends again asks again.
                self.leaders.distrust(&topic);
                self.leaders.forget(&topic);
                return Err(ProduceError::Topic { topic, error });
            }
            Some(Err(error)) => {
                let topic = topic.clone();
                self.leaders.distrust(&topic);
                self.trouble = Some(Box::new(ProduceError::Topic { topic, error }));
            }
            _ => self.leaders.distrust(topic),
        }
        Ok(Readiness::Asking)
    }

    /// Puts a record into its partition's batch. True where that is news for the sending task: a
    /// batch was begun or is full.
    pub(super) fn append(
        &mut self,
        options: &ProducerOptions,
        record: &ProducerRecord,
        buffered: usize,
    ) -> Result<
        (
            oneshot::Receiver<Result<RecordMetadata, ProduceError>>,
            bool,
        ),
        ProduceError,
    > {
        self.usable()?;
        let origin = self.origin.ok_or(ProduceError::Closed)?;
        let index = self.partition_of(options, record, buffered)?;
        let partition = TopicPartition::new(record.topic.clone(), index);
        let timestamp = record.timestamp.unwrap_or_else(now_millis);
        let queue = self.queues.entry(partition.clone()).or_default();
        let flush_id = self.next_flush_id;
        let size = options.batch_size;
        let flushed = self.flush_through;
        let pushed = record.with(timestamp, |new| {
            let batch = queue.open_batch(options, origin, flush_id, |batch| {
                batch.has_room(new, size) && flushed.is_none_or(|flushed| batch.flush_id > flushed)
            });
            let receiver = batch.push(new, buffered)?;
            let is_begun = batch.records() == 1;
            let is_news = is_begun || batch.is_full(size);
            Ok((receiver, is_begun, is_news))
        });
        match pushed {
            Ok((receiver, is_begun, is_news)) => {
                queue.pushed();
                if is_begun {
                    self.next_flush_id += 1;
                    *self.incomplete.entry(flush_id).or_default() += 1;
                    self.waiting.insert(partition);
                }
                Ok((receiver, is_news))
            }
            Err(error) => {
                queue.drop_empty();
                Err(ProduceError::Build(error))
            }
        }
    }

    fn partition_of(
        &mut self,
        options: &ProducerOptions,
        record: &ProducerRecord,
        buffered: usize,
    ) -> Result<PartitionIndex, ProduceError> {
        let topic = &record.topic;
        let count = match self.leaders.partitions(topic) {
            Some(Ok(count)) => count,
            _ => 0,
        };
        match (record.partition, &record.key) {
            (Some(index), _) if (0..count).contains(&index.0) => Ok(index),
            (Some(index), _) => Err(ProduceError::NoPartition {
                partition: TopicPartition::new(topic.clone(), index),
                count,
            }),
            (None, Some(key)) => Ok(of_key(key, count)),
            (None, None) => Ok(self.partitioner.without_key(
                topic,
                count,
                || self.leaders.led(topic),
                buffered,
                options.batch_size,
            )),
        }
    }

    /// Has records without a key go to other partitions than one whose leader does not answer.
    pub(super) fn avoid(&mut self, topic: &SmallString) {
        self.partitioner.leave(topic);
    }

    /// Has everything that is queued sent without lingering, and gives the last batch's flush id.
    pub(super) fn hurry(&mut self) -> Option<u64> {
        let last = *self.incomplete.last_key_value()?.0;
        self.flush_through = self.flush_through.max(Some(last));
        Some(last)
    }

    /// Whether every batch up to a flush id has ended.
    pub(super) fn has_ended(&self, flush_id: u64) -> bool {
        let first = self.incomplete.first_key_value();
        first.is_none_or(|(first, _)| *first > flush_id)
    }

    /// What makes batches ready.
    pub(super) fn hurried(&self) -> Hurry {
        Hurry {
            flush_through: self.flush_through,
            for_room: self.wait_for_room > 0,
        }
    }

    /// One more batch waits, of one that was split.
    pub(super) fn split(&mut self, flush_id: u64) {
        *self.incomplete.entry(flush_id).or_default() += 1;
    }

    /// A batch has ended.
    pub(super) fn ended(&mut self, flush_id: u64) {
        if let Some(count) = self.incomplete.get_mut(&flush_id) {
            *count -= 1;
            if *count == 0 {
                self.incomplete.remove(&flush_id);
            }
        }
    }

    /// The queue of a partition that something was sent to.
    pub(super) fn queue(&mut self, partition: &TopicPartition) -> &mut PartitionQueue {
        self.queues.entry(partition.clone()).or_default()
    }

    /// Puts a batch back, to be sent again.
    pub(super) fn again(&mut self, partition: &TopicPartition, batch: Batch) {
        self.queue(partition).again(batch);
        self.waiting.insert(partition.clone());
    }
}
