mod answers;
mod batch;
mod error;
mod options;
mod partitioner;
mod queue;
mod record;
mod request;
mod sender;
mod state;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use klamm_net::{Connector, TcpConnector};
use klamm_protocol::SmallString;
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout_at;

pub use error::ProduceError;
pub use options::{Acks, ProducerOptions};
pub use record::{Delivery, ProducerRecord, RecordMetadata};

use crate::ClientConfig;
use crate::client::Client;
use crate::retry::Deadline;
use state::{Readiness, State};

/// Sends records to partitions' leaders, in batches. Clones are the same producer.
///
/// ```no_run
/// use klamm_client::{
///     Bootstrap, ClientConfig, Producer, ProducerOptions, ProducerRecord, ServerAddress,
/// };
///
/// # async fn produce() -> Result<(), Box<dyn std::error::Error>> {
/// let brokers = ServerAddress::parse_list("localhost:9092")?;
/// let config = ClientConfig::new(Bootstrap::Brokers(brokers));
/// let producer = Producer::connect(config, ProducerOptions::default()).await?;
/// let mut deliveries = Vec::new();
/// for n in 0..10_000 {
///     let record = ProducerRecord::new("orders").key(format!("customer-{}", n % 7)).value("...");
///     // Waits where the buffer is full, not for the broker.
///     deliveries.push(producer.send(record).await?);
/// }
/// for delivery in deliveries {
///     let written = delivery.await?;
///     println!("{} at {:?}", written.partition, written.offset);
/// }
/// producer.close().await;
/// # Ok(())
/// # }
/// ```
///
/// With its default options a record that was acknowledged is on every replica in sync, once, and
/// after those that were sent to its partition before it. A record that could not be sent is tried
/// again until [`ProducerOptions::delivery_timeout`] is over, over new connections and to new
/// leaders; its [`Delivery`] then ends with the cause, and with whether it may be there all the
/// same. Topics are not created.
///
/// A producer that is dropped without [`Producer::close`] gives up what it has not sent.
#[derive(Clone)]
pub struct Producer {
    /// Ends the sending task with the last clone.
    handle: Arc<Handle>,
}

struct Handle(Arc<Shared>);

/// What callers and the sending task share.
struct Shared {
    client: Client,
    options: ProducerOptions,
    state: Mutex<State>,
    /// Bytes of the buffer that are free.
    room: Semaphore,
    /// There may be something to do for the sending task.
    wake: Notify,
    /// A batch has ended, or something became known that callers wait for.
    changed: Notify,
}

impl Producer {
    /// Connects over TCP to the first server of the bootstrap list, in random order, that works.
    /// Must be called within a tokio runtime, which the sending task then runs on.
    pub async fn connect(
        config: ClientConfig,
        options: ProducerOptions,
    ) -> Result<Self, ProduceError> {
        let connector = TcpConnector {
            timeout: config.connect_timeout,
        };
        Self::connect_with(config, options, Arc::new(connector)).await
    }

    /// Like [`Producer::connect`], with another way to reach servers.
    pub async fn connect_with(
        config: ClientConfig,
        options: ProducerOptions,
        connector: Arc<dyn Connector>,
    ) -> Result<Self, ProduceError> {
        options.check().map_err(ProduceError::Options)?;
        let shared = Arc::new(Shared {
            client: Client::connect(config, connector).await?,
            room: Semaphore::new(options.buffer_memory),
            state: Mutex::new(State::new(&options)),
            options,
            wake: Notify::new(),
            changed: Notify::new(),
        });
        tokio::spawn(sender::run(shared.clone()));
        Ok(Self {
            handle: Arc::new(Handle(shared)),
        })
    }

    /// Puts a record into the buffer, in order with other calls of this task.
    ///
    /// Waits up to `max.block.ms` for room in the buffer, and for what must be known before: the
    /// topic's partitions, and with idempotence the producer's id. What then becomes of the record
    /// is told by the [`Delivery`].
    pub async fn send(&self, record: ProducerRecord) -> Result<Delivery, ProduceError> {
        let shared = &self.handle.0;
        let bytes = record.buffered_bytes();
        let limit = shared.options.max_request_size;
        if bytes > limit {
            return Err(ProduceError::TooLarge { bytes, limit });
        }
        let deadline = Deadline::after(shared.options.max_block);
        shared.ready(&record.topic, &deadline).await?;
        shared.wait_for_room(bytes, &deadline).await?;
        let mut state = shared.state();
        let appended = state.append(&shared.options, &record, bytes);
        let (receiver, is_news) = appended.inspect_err(|_| shared.room.add_permits(bytes))?;
        drop(state);
        if is_news {
            shared.wake.notify_one();
        }
        Ok(Delivery(receiver))
    }

    /// Sends what is in the buffer without lingering, and waits until each record of it is
    /// acknowledged or given up. Records that are sent meanwhile are not waited for.
    pub async fn flush(&self) {
        let shared = &self.handle.0;
        let Some(last) = shared.state().hurry() else {
            return;
        };
        shared.wake.notify_one();
        loop {
            let changed = shared.changed.notified();
            if shared.state().has_ended(last) {
                return;
            }
            changed.await;
        }
    }

    /// Takes no more records, sends what is in the buffer, and waits until each record of it is
    /// acknowledged or given up: at most for `delivery.timeout.ms`.
    pub async fn close(self) {
        self.handle.0.state().closing = true;
        self.handle.0.changed.notify_waiters();
        self.flush().await;
    }
}

impl std::fmt::Debug for Producer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Producer")
            .field("config", self.handle.0.client.config())
            .field("options", &self.handle.0.options)
            .finish_non_exhaustive()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.state().abandoned = true;
        self.0.wake.notify_one();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a record for a topic can be numbered and given a partition.
    async fn ready(&self, topic: &SmallString, deadline: &Deadline) -> Result<(), ProduceError> {
        loop {
            let changed = self.changed.notified();
            match self.state().readiness(topic)? {
                Readiness::Ready => return Ok(()),
                Readiness::Asking => {}
            }
            self.wake.notify_one();
            if timeout_at(deadline.at, changed).await.is_err() {
                return Err(ProduceError::NotReady {
                    topic: topic.clone(),
                    after: deadline.total(),
                    cause: self.state().trouble.clone(),
                });
            }
        }
    }

    /// Takes bytes of the buffer; who has them gives them back.
    async fn wait_for_room(&self, bytes: usize, deadline: &Deadline) -> Result<(), ProduceError> {
        // `max.request.size` is below 4 GiB, and so is a record.
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        if let Ok(room) = self.room.try_acquire_many(bytes) {
            room.forget();
            return Ok(());
        }
        let _waiting = WaitingForRoom::new(self);
        match timeout_at(deadline.at, self.room.acquire_many(bytes)).await {
            Ok(Ok(room)) => {
                room.forget();
                Ok(())
            }
            Ok(Err(_)) => Err(ProduceError::Closed),
            Err(_) => Err(ProduceError::BufferFull {
                limit: self.options.buffer_memory,
                after: deadline.total(),
            }),
        }
    }
}

/// Has batches sent that linger, as long as a record waits for room.
struct WaitingForRoom<'a>(&'a Shared);

impl<'a> WaitingForRoom<'a> {
    fn new(shared: &'a Shared) -> Self {
        shared.state().wait_for_room += 1;
        shared.wake.notify_one();
        Self(shared)
    }
}

impl Drop for WaitingForRoom<'_> {
    fn drop(&mut self) {
        self.0.state().wait_for_room -= 1;
    }
}
