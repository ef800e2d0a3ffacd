use std::time::Duration;

use klamm_protocol::records::Codec;

/// Which replicas must have a record before the leader acknowledges it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acks {
    /// `acks=all`: every replica in sync.
    #[default]
    All,
    /// `acks=1`: the leader alone. A record may be lost with the leader.
    Leader,
}

impl Acks {
    /// The number in requests.
    pub(super) fn wire(self) -> i16 {
        match self {
            Self::All => -1,
            Self::Leader => 1,
        }
    }
}

/// How a producer works, with the names and defaults of Apache Kafka 4.4.0's.
#[derive(Clone, Debug)]
pub struct ProducerOptions {
    /// `acks`.
    pub acks: Acks,
    /// `enable.idempotence`: brokers keep records in order and drop those that come twice (KIP-98).
    /// Needs [`Acks::All`]; without it a record whose answer was lost may be there twice.
    pub idempotence: bool,
    /// `linger.ms`: how long a batch that is not full waits for more records.
    pub linger: Duration,
    /// `batch.size`: the size of a full batch in bytes, before it is compressed. A larger record
    /// has a batch of its own.
    pub batch_size: usize,
    /// `max.request.size`: the largest record, and about the largest request, in bytes.
    pub max_request_size: usize,
    /// `buffer.memory`: how many bytes of records wait to be acknowledged at most; more wait in
    /// [`Producer::send`](crate::Producer::send).
    pub buffer_memory: usize,
    /// `max.block.ms`: how long `send` waits for room in the buffer, for the topic's metadata and
    /// for the producer's id.
    pub max_block: Duration,
    /// `delivery.timeout.ms`: when a record that was neither acknowledged nor refused is given up.
    pub delivery_timeout: Duration,
    /// `compression.type`, and the level of the codec.
    pub compression: Codec,
    /// `max.in.flight.requests.per.connection`: how many requests wait for their answers at a
    /// broker. With idempotence 5 is the most, since brokers know the last five batches of a
    /// producer; without it a partition has one batch on its way at a time, so that order is kept.
    pub max_in_flight: usize,
}

/// The most batches of a producer that a broker knows again.
pub(super) const MAX_IDEMPOTENT_IN_FLIGHT: usize = 5;

impl Default for ProducerOptions {
    fn default() -> Self {
        Self {
            acks: Acks::All,
            idempotence: true,
            linger: Duration::from_millis(5),
            batch_size: 16 * 1024,
            max_request_size: 1024 * 1024,
            buffer_memory: 32 * 1024 * 1024,
            max_block: Duration::from_secs(60),
            delivery_timeout: Duration::from_secs(120),
            compression: Codec::default(),
            max_in_flight: MAX_IDEMPOTENT_IN_FLIGHT,
        }
    }
}

impl ProducerOptions {
    /// What does not go together, in words.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        if self.idempotence && self.acks != Acks::All {
            return Err("enable.idempotence needs acks=all; set one of them");
        }
        if self.idempotence && self.max_in_flight > MAX_IDEMPOTENT_IN_FLIGHT {
            return Err(
                "enable.idempotence allows max.in.flight.requests.per.connection up to 5; lower it",
            );
        }
        if self.max_in_flight == 0 {
            return Err("max.in.flight.requests.per.connection must be at least 1");
        }
        if self.buffer_memory > u32::MAX as usize {
            return Err("buffer.memory must be less than 4 GiB");
        }
        if self.max_request_size > self.buffer_memory {
            return Err("max.request.size must not exceed buffer.memory; lower it");
        }
        Ok(())
    }
}
