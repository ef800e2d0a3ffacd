//! Consumers: one that reads while things break, and one that reads everything at the end.

use std::time::Duration;

use klamm_client::{
    Bootstrap, ClientConfig, ConsumeError, Consumer, ConsumerOptions, OffsetReset,
    PartitionRecords, SeekTo, ServerAddress, TopicPartition,
};
use tokio::time::Instant;

use crate::load::TOPIC;
use crate::record::{Id, Placed};

const POLL: Duration = Duration::from_millis(100);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);

/// What a consumer was given.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Read {
    /// By partition, in the order in which it came.
    pub(crate) records: Vec<Vec<Placed>>,
    /// What it said of partitions that it could not read on.
    pub(crate) complaints: Vec<String>,
}

/// A consumer of all partitions from their beginnings.
pub(crate) struct Reader {
    consumer: Consumer,
    /// The position in each partition.
    positions: Vec<i64>,
    read: Read,
}

impl Reader {
    pub(crate) async fn connect(
        servers: &[ServerAddress],
        partitions: usize,
    ) -> Result<Self, ConsumeError> {
        let mut config = ClientConfig::new(Bootstrap::Brokers(servers.to_vec()));
        config.request_timeout = REQUEST_TIMEOUT;
        let options = ConsumerOptions {
            // What is not where it was is to be told of, not passed over.
            offset_reset: OffsetReset::None,
            ..ConsumerOptions::default()
        };
        let mut consumer = Consumer::connect(config, options).await?;
        let all: Vec<_> = (0..partitions as i32)
            .map(|index| TopicPartition::new(TOPIC, index))
            .collect();
        consumer.assign(all.clone());
        for partition in &all {
            consumer.seek(partition, SeekTo::Beginning)?;
        }
        Ok(Self {
            consumer,
            positions: vec![0; partitions],
            read: Read {
                records: vec![Vec::new(); partitions],
                complaints: Vec::new(),
            },
        })
    }

    /// Reads until `is_enough` says so of the position in every partition, and
    /// gives what was read; false where that took too long.
    pub(crate) async fn read_until(
        mut self,
        limit: Duration,
        mut is_enough: impl FnMut(usize, i64) -> bool,
    ) -> (Read, bool) {
        let deadline = Instant::now() + limit;
        loop {
            let mut positions = self.positions.iter().enumerate();
            if positions.all(|(index, position)| is_enough(index, *position)) {
                return (self.read, true);
            }
            if Instant::now() > deadline {
                return (self.read, false);
            }
            match self.consumer.poll(POLL).await {
                Ok(read) => read.iter().for_each(|read| self.take(read)),
                // Brokers are away now and then.
                Err(ConsumeError::Client(_)) => tokio::time::sleep(POLL).await,
                Err(error) => self.read.complaints.push(error.to_string()),
            }
        }
    }

    fn take(&mut self, read: &PartitionRecords) {
        let index = read.partition().partition.0.unsigned_abs() as usize;
        for record in read.records() {
            match record {
                Ok(record) => self.read.records[index].push(Placed {
                    offset: record.offset().0,
                    id: record.value().and_then(Id::of),
                }),
                Err(error) => {
                    let complaint = format!("{}: {error}", read.partition());
                    self.read.complaints.push(complaint);
                }
            }
        }
        self.positions[index] = read.next_offset().0;
    }
}
