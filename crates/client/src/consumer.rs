mod answers;
mod options;
mod position;
mod records;
mod requests;
mod session;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use klamm_net::{Connector, TcpConnector};
use klamm_protocol::{BrokerId, Offset};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

pub use options::{ConsumeError, ConsumerOptions, IsolationLevel, OffsetReset, SeekTo};
pub use records::PartitionRecords;

use crate::client::Client;
use crate::errand::Errand;
use crate::leaders::{Leaders, METADATA_MAX_AGE, ask};
use crate::retry::{Backoff, Deadline};
use crate::{ClientConfig, TopicPartition};
use position::Position;
use requests::{Done, Kind};
use session::Session;

/// Reads the partitions that it is assigned, without a group.
///
/// ```no_run
/// use std::time::Duration;
///
/// use klamm_client::{
///     Bootstrap, ClientConfig, Consumer, ConsumerOptions, SeekTo, ServerAddress, TopicPartition,
/// };
///
/// # async fn consume() -> Result<(), Box<dyn std::error::Error>> {
/// let brokers = ServerAddress::parse_list("localhost:9092")?;
/// let config = ClientConfig::new(Bootstrap::Brokers(brokers));
/// let mut consumer = Consumer::connect(config, ConsumerOptions::default()).await?;
/// let partition = TopicPartition::new("orders", 0);
/// consumer.assign([partition.clone()]);
/// consumer.seek(&partition, SeekTo::Beginning)?;
/// loop {
///     for read in consumer.poll(Duration::from_secs(1)).await? {
///         for record in read.records() {
///             let record = record?;
///             println!("{}: {} bytes", record.offset(), record.value().map_or(0, <[u8]>::len));
///         }
///     }
/// }
/// # }
/// ```
///
/// A broker is asked for the next records when those before are handed over, so that they come
/// while these are read. Leaders that move are followed, through what their answers say (KIP-951)
/// or through metadata; a new leader's log is compared with what was read before (KIP-320).
pub struct Consumer {
    client: Client,
    options: ConsumerOptions,
    leaders: Leaders,
    positions: BTreeMap<TopicPartition, Position>,
    brokers: HashMap<BrokerId, Broker>,
    metadata: Errand,
    backoff: Backoff,
    tasks: JoinSet<Done>,
    ready: VecDeque<Result<Vec<PartitionRecords>, ConsumeError>>,
    next_seek: u64,
}

/// What is asked of a broker.
#[derive(Debug, Default)]
struct Broker {
    session: Session,
    /// What is on its way, one of each kind.
    asked: Vec<Kind>,
    failures: u32,
    not_before: Option<Instant>,
}

impl Consumer {
    /// Connects over TCP to the first server of the bootstrap list, in random order, that works.
    /// Must be called within a tokio runtime.
    pub async fn connect(
        config: ClientConfig,
        options: ConsumerOptions,
    ) -> Result<Self, ConsumeError> {
        let connector = TcpConnector {
            timeout: config.connect_timeout,
        };
        Self::connect_with(config, options, Arc::new(connector)).await
    }

    /// Like [`Consumer::connect`], with another way to reach servers.
    pub async fn connect_with(
        config: ClientConfig,
        options: ConsumerOptions,
        connector: Arc<dyn Connector>,
    ) -> Result<Self, ConsumeError> {
        let backoff = Backoff::between_retries(&config);
        Ok(Self {
            client: Client::connect(config, connector).await?,
            options,
            leaders: Leaders::default(),
            positions: BTreeMap::new(),
            brokers: HashMap::new(),
            metadata: Errand::due_after(METADATA_MAX_AGE),
            backoff,
            tasks: JoinSet::new(),
            ready: VecDeque::new(),
            next_seek: 0,
        })
    }

    /// Reads these partitions from now on, and no others. Those that were assigned before keep
    /// their positions; the others begin where `auto.offset.reset` says, until they are sought.
    pub fn assign(&mut self, partitions: impl IntoIterator<Item = TopicPartition>) {
        let mut before = std::mem::take(&mut self.positions);
        for partition in partitions {
            let seek = self.next_seek();
            let position = before.remove(&partition);
            if position.is_none() {
                self.leaders.distrust(&partition.topic);
            }
            let begin = || Position::begin(self.options.offset_reset, seek);
            self.positions
                .insert(partition, position.unwrap_or_else(begin));
        }
        let positions = &self.positions;
        for records in self.ready.iter_mut().flatten() {
            records.retain(|read| positions.contains_key(&read.partition));
        }
    }

    /// Goes on somewhere else in a partition. Where that is not an offset, the leader is asked
    /// with the next `poll`.
    pub fn seek(&mut self, partition: &TopicPartition, to: SeekTo) -> Result<(), ConsumeError> {
        let seek = self.next_seek();
        let Some(position) = self.positions.get_mut(partition) else {
            return Err(ConsumeError::NotAssigned(partition.clone()));
        };
        *position = Position::sought(to, seek);
        for records in self.ready.iter_mut().flatten() {
            records.retain(|read| read.partition != *partition);
        }
        Ok(())
    }

    /// The offset of the next record that `poll` gives of a partition, if it is known: a consumer
    /// that is to begin at the end learns it in `poll`.
    pub fn position(&self, partition: &TopicPartition) -> Option<Offset> {
        let waiting = self.ready.iter().flatten().flatten();
        let first = waiting
            .filter(|read| read.partition == *partition)
            .map(|read| read.from)
            .next();
        first.or_else(|| self.positions.get(partition)?.offset())
    }

    /// The next records, as soon as a broker has some; none where the timeout is over before.
    ///
    /// It may be dropped before it ends: what has come then is given by the next call.
    pub async fn poll(&mut self, timeout: Duration) -> Result<Vec<PartitionRecords>, ConsumeError> {
        let deadline = Deadline::after(timeout);
        loop {
            let next = self.ask_what_is_due();
            while let Some(ready) = self.ready.pop_front() {
                match ready {
                    Ok(records) if records.is_empty() => {}
                    ready => {
                        // The next ones come while these are read.
                        self.ask_what_is_due();
                        return ready;
                    }
                }
            }
            if deadline.is_over() {
                return Ok(Vec::new());
            }
            tokio::select! {
                Some(done) = self.tasks.join_next() => match done {
                    Ok(done) => self.finish(done),
                    Err(failed) if failed.is_panic() => {
                        std::panic::resume_unwind(failed.into_panic())
                    }
                    Err(_) => {}
                },
                () = sleep_until(next.min(deadline.at)) => {}
            }
        }
    }

    fn next_seek(&mut self) -> u64 {
        self.next_seek += 1;
        self.next_seek
    }

    /// Starts what is to be asked and is not on its way yet; gives when to look again.
    fn ask_what_is_due(&mut self) -> Instant {
        let now = Instant::now();
        let mut next = now + METADATA_MAX_AGE;
        for (partition, position) in &self.positions {
            if self.leaders.of(partition).leader.is_none() {
                self.leaders.distrust(&partition.topic);
            }
            if let Some(at) = position.not_before().filter(|at| *at > now) {
                next = at.min(next);
            }
        }
        let wanted = self.leaders.is_stale();
        if self.metadata.starts(wanted, now, &mut next) {
            let topics = self.leaders.due();
            if topics.is_empty() {
                self.metadata.ended(true, &self.backoff, METADATA_MAX_AGE);
            } else {
                let client = self.client.clone();
                let deadline = Deadline::after(client.config().request_timeout);
                self.tasks
                    .spawn(async move { Done::Asked(ask(client, topics, deadline).await) });
            }
        }
        for leader in self.led_by() {
            let broker = self.brokers.entry(leader).or_default();
            if let Some(at) = broker.not_before.filter(|at| *at > now) {
                next = at.min(next);
                continue;
            }
            self.ask(leader, now);
        }
        next
    }

    /// The brokers that lead what is assigned, and those that answer for nothing any more.
    fn led_by(&self) -> Vec<BrokerId> {
        let leaders = self.positions.keys();
        let mut leaders: Vec<_> = leaders
            .filter_map(|partition| self.leaders.of(partition).leader)
            .collect();
        leaders.sort_unstable();
        leaders.dedup();
        leaders
    }
}

impl std::fmt::Debug for Consumer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Consumer")
            .field("config", self.client.config())
            .field("options", &self.options)
            .field("positions", &self.positions)
            .finish_non_exhaustive()
    }
}
