use klamm_protocol::records::{
    Batch as AnyBatch, BatchBuilder, BatchOptions, Batches, BuildError, Codec, DecompressLimit,
    NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, NewRecord,
};
use klamm_protocol::{Bytes, Offset};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{ProduceError, RecordMetadata};
use crate::TopicPartition;

/// Who a batch says it is from: an id and its epoch, and the first record's sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) producer_id: i64,
    pub(super) producer_epoch: i16,
    pub(super) sequence: i32,
}

impl Origin {
    /// A producer without idempotence.
    pub(super) const NONE: Self = Self {
        producer_id: NO_PRODUCER_ID,
        producer_epoch: NO_PRODUCER_EPOCH,
        sequence: NO_SEQUENCE,
    };

    /// The origin of what comes after so many records. After [`i32::MAX`] comes 0.
    pub(super) fn after(self, records: usize) -> Self {
        if self.sequence == NO_SEQUENCE {
            return self;
        }
        let sequence = self.sequence.wrapping_add(records as i32) & i32::MAX;
        Self { sequence, ..self }
    }

    fn options(self, codec: Codec) -> BatchOptions {
        BatchOptions {
            codec,
            producer_id: self.producer_id,
            producer_epoch: self.producer_epoch,
            base_sequence: self.sequence,
            ..BatchOptions::default()
        }
    }
}

/// Records of one partition that are sent together, and who waits for them.
#[derive(Debug)]
pub(super) struct Batch {
    /// How many records of the partition came before: the batches' order.
    pub(super) ordinal: u64,
    /// When `flush` counts it as done: later ones come from later calls of `send`.
    pub(super) flush_id: u64,
    content: Content,
    origin: Origin,
    codec: Codec,
    waiting: Vec<Waiting>,
    /// What it takes of the buffer.
    pub(super) buffered: usize,
    pub(super) opened: Instant,
    pub(super) attempts: u32,
    /// How many batches of the partition were sent before it was, as long as it may be written.
    pub(super) first_sent: Option<u64>,
    pub(super) not_before: Option<Instant>,
    /// What went wrong last.
    pub(super) last: Option<Box<ProduceError>>,
    /// Whether a request with it may have arrived and have been carried out.
    pub(super) may_be_written: bool,
}

#[derive(Debug)]
enum Content {
    Open(BatchBuilder),
    Closed(Bytes),
    /// It could not be built; the error is told when it is to be sent.
    Broken(BuildError),
}

#[derive(Debug)]
struct Waiting {
    timestamp: i64,
    sender: oneshot::Sender<Result<RecordMetadata, ProduceError>>,
}

impl Batch {
    pub(super) fn open(
        ordinal: u64,
        flush_id: u64,
        origin: Origin,
        codec: Codec,
        size: usize,
    ) -> Self {
        let builder = BatchBuilder::with_capacity(origin.options(codec), size);
        Self {
            ordinal,
            flush_id,
            content: Content::Open(builder),
            origin,
            codec,
            waiting: Vec::new(),
            buffered: 0,
            opened: Instant::now(),
            attempts: 0,
            first_sent: None,
            not_before: None,
            last: None,
            may_be_written: false,
        }
    }

    /// Whether a record still fits into it.
    pub(super) fn has_room(&self, record: &NewRecord<'_>, size: usize) -> bool {
        match &self.content {
            Content::Open(builder) => builder.count() == 0 || builder.len_with(record) <= size,
            _ => false,
        }
    }

    /// Adds a record, and gives what tells what becomes of it.
    pub(super) fn push(
        &mut self,
        record: &NewRecord<'_>,
        buffered: usize,
    ) -> Result<oneshot::Receiver<Result<RecordMetadata, ProduceError>>, BuildError> {
        let Content::Open(builder) = &mut self.content else {
            return Err(BuildError::Empty);
        };
        builder.append(record)?;
        let (sender, receiver) = oneshot::channel();
        let timestamp = record.timestamp;
        self.waiting.push(Waiting { timestamp, sender });
        self.buffered += buffered;
        Ok(receiver)
    }

    pub(super) fn records(&self) -> usize {
        self.waiting.len()
    }

    /// Whether it takes no more records, having as many bytes as it is to have.
    pub(super) fn is_full(&self, size: usize) -> bool {
        match &self.content {
            Content::Open(builder) => builder.len() >= size,
            _ => true,
        }
    }

    /// The bytes to send. No record is added from now on.
    pub(super) fn bytes(&mut self) -> Result<Bytes, BuildError> {
        let content = std::mem::replace(&mut self.content, Content::Closed(Bytes::new()));
        self.content = match content {
            Content::Open(builder) => match builder.finish() {
                Ok(batch) => Content::Closed(batch.into_bytes()),
                Err(error) => Content::Broken(error),
            },
            content => content,
        };
        match &self.content {
            Content::Closed(bytes) => Ok(bytes.clone()),
            Content::Broken(error) => Err(error.clone()),
            Content::Open(_) => Err(BuildError::Empty),
        }
    }

    /// Makes it again as if from another origin: the broker does not have it.
    pub(super) fn renumber(&mut self, origin: Origin) {
        let rebuilt = self.rebuilt(0, self.records(), origin);
        self.origin = origin;
        self.first_sent = None;
        self.content = rebuilt.map_or_else(Content::Broken, Content::Closed);
    }

    /// Makes two of it, each with half of the records.
    pub(super) fn split(mut self) -> (Self, Self) {
        let origin = self.origin;
        let middle = self.records() / 2;
        let all = self.records();
        let first = self.rebuilt(0, middle, origin);
        let second = self.rebuilt(middle, all, origin.after(middle));
        let buffered = self.buffered;
        let mut rest = Self {
            ordinal: self.ordinal + middle as u64,
            flush_id: self.flush_id,
            content: second.map_or_else(Content::Broken, Content::Closed),
            origin: origin.after(middle),
            codec: self.codec,
            waiting: self.waiting.split_off(middle),
            buffered: 0,
            opened: self.opened,
            attempts: self.attempts,
            first_sent: None,
            not_before: None,
            last: None,
            may_be_written: self.may_be_written,
        };
        self.content = first.map_or_else(Content::Broken, Content::Closed);
        self.first_sent = None;
        self.buffered = buffered / 2;
        rest.buffered = buffered - self.buffered;
        (self, rest)
    }

    fn rebuilt(&mut self, from: usize, to: usize, origin: Origin) -> Result<Bytes, BuildError> {
        let bytes = self.bytes()?;
        let limit = DecompressLimit(usize::MAX);
        let mut builder = BatchBuilder::with_capacity(origin.options(self.codec), bytes.len());
        for batch in Batches::new(bytes).flatten() {
            let records = match &batch {
                AnyBatch::V2(batch) => batch.records(limit),
                AnyBatch::Legacy(_) => continue,
            };
            for record in (&records.expect("this producer has built it"))
                .into_iter()
                .flatten()
                .take(to)
                .skip(from)
            {
                let headers: Vec<_> = record.headers().iter().collect();
                builder.append(&NewRecord {
                    timestamp: record.timestamp(),
                    key: record.key(),
                    value: record.value(),
                    headers: &headers,
                })?;
            }
        }
        Ok(builder.finish()?.into_bytes())
    }

    /// Tells every waiting caller that the records are written, from an offset on.
    pub(super) fn acknowledge(
        self,
        partition: &TopicPartition,
        base_offset: Option<Offset>,
        append_time: Option<i64>,
    ) {
        for (at, waiting) in (0..).zip(self.waiting) {
            let metadata = RecordMetadata {
                partition: partition.clone(),
                offset: base_offset.map(|base| Offset(base.0.saturating_add(at))),
                timestamp: append_time.unwrap_or(waiting.timestamp),
            };
            // Nobody may wait.
            let _ = waiting.sender.send(Ok(metadata));
        }
    }

    /// Tells every waiting caller what went wrong, and that it may be written all the same.
    pub(super) fn fail(self, error: &ProduceError) {
        let error = match self.may_be_written && !error.is_outcome_unknown() {
            true => ProduceError::Uncertain(Box::new(error.clone())),
            false => error.clone(),
        };
        for waiting in self.waiting {
            let _ = waiting.sender.send(Err(error.clone()));
        }
    }
}
