use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{SystemTime, UNIX_EPOCH};

use klamm_protocol::records::{Header, NewRecord};
use klamm_protocol::{Bytes, Offset, PartitionIndex, SmallString};
use tokio::sync::oneshot;

use super::ProduceError;
use crate::TopicPartition;

/// A record to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerRecord {
    /// The topic.
    pub topic: SmallString,
    /// The partition; without one the key decides, and without a key chance does.
    pub partition: Option<PartitionIndex>,
    /// The key.
    pub key: Option<Bytes>,
    /// The value; none makes a tombstone.
    pub value: Option<Bytes>,
    /// The headers, in order.
    pub headers: Vec<(SmallString, Option<Bytes>)>,
    /// Milliseconds since 1970; now, where there is none.
    pub timestamp: Option<i64>,
}

impl ProducerRecord {
    /// A record for a topic, without key and value.
    pub fn new(topic: impl Into<SmallString>) -> Self {
        Self {
            topic: topic.into(),
            partition: None,
            key: None,
            value: None,
            headers: Vec::new(),
            timestamp: None,
        }
    }

    /// The record for a partition.
    #[must_use]
    pub fn partition(mut self, partition: impl Into<PartitionIndex>) -> Self {
        self.partition = Some(partition.into());
        self
    }

    /// The record with a key.
    #[must_use]
    pub fn key(mut self, key: impl Into<Bytes>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The record with a value.
    #[must_use]
    pub fn value(mut self, value: impl Into<Bytes>) -> Self {
        self.value = Some(value.into());
        self
    }

    /// The record with one more header.
    #[must_use]
    pub fn header(mut self, key: impl Into<SmallString>, value: impl Into<Bytes>) -> Self {
        self.headers.push((key.into(), Some(value.into())));
        self
    }

    /// The record with a timestamp in milliseconds since 1970.
    #[must_use]
    pub fn timestamp(mut self, timestamp: i64) -> Self {
        self.timestamp = Some(timestamp);
        self
    }

    /// What the record takes in the buffer: its bytes, and what is kept beside them.
    pub(super) fn buffered_bytes(&self) -> usize {
        const BESIDE: usize = 64;
        let headers = self.headers.iter().fold(0, |len, (key, value)| {
            len + key.len() + value.as_ref().map_or(0, Bytes::len) + 10
        });
        let len = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, Bytes::len);
        BESIDE + len(&self.key) + len(&self.value) + headers
    }

    /// Calls `each` with the record as batches take it.
    pub(super) fn with<T>(&self, timestamp: i64, each: impl FnOnce(&NewRecord<'_>) -> T) -> T {
        let headers: Vec<Header<'_>> = self
            .headers
            .iter()
            .map(|(key, value)| Header {
                key: key.as_bytes(),
                value: value.as_deref(),
            })
            .collect();
        each(&NewRecord {
            timestamp,
            key: self.key.as_deref(),
            value: self.value.as_deref(),
            headers: &headers,
        })
    }
}

/// Milliseconds since 1970.
pub(super) fn now_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

/// Where a record was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordMetadata {
    /// The partition.
    pub partition: TopicPartition,
    /// The record's offset. `None` where the broker had the record already from a request whose
    /// answer was lost, and does not tell where.
    pub offset: Option<Offset>,
    /// The record's timestamp, or the time of its append where the topic is set so, in
    /// milliseconds since 1970.
    pub timestamp: i64,
}

/// What becomes of a record that was sent: a future that ends when it is acknowledged or given up.
/// It may be dropped; the record is sent all the same.
#[derive(Debug)]
#[must_use = "whether the record was written is only known from this"]
pub struct Delivery(pub(super) oneshot::Receiver<Result<RecordMetadata, ProduceError>>);

impl Future for Delivery {
    type Output = Result<RecordMetadata, ProduceError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = Pin::new(&mut self.0).poll(context);
        polled.map(|outcome| outcome.unwrap_or(Err(ProduceError::Closed)))
    }
}
