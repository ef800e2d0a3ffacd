use std::time::Duration;

use klamm_net::{ServerAddress, seconds};
use klamm_protocol::records::BuildError;
use klamm_protocol::{ErrorCode, SmallString};
use thiserror::Error;

use crate::{ClientError, ItemError, TopicPartition};

/// Why a record was not sent, or is not known to be written.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ProduceError {
    /// The producer could not connect, or cannot go on: its id was refused.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Options that do not go together.
    #[error("the producer's options do not go together: {0}")]
    Options(&'static str),
    /// The record is larger than is allowed.
    #[error("a record of {bytes} bytes is more than max.request.size ({limit}); raise it")]
    TooLarge {
        /// The record's size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The record cannot be put into a batch.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Acknowledgements did not come fast enough to make room.
    #[error(
        "the buffer of {limit} bytes (buffer.memory) stayed full for {} (max.block.ms): brokers \
         acknowledge more slowly than records come",
        seconds(*.after)
    )]
    BufferFull {
        /// `buffer.memory`.
        limit: usize,
        /// `max.block.ms`.
        after: Duration,
    },
    /// Nothing was learned of the topic, or no producer id was given out, in time.
    #[error(
        "{topic}: not ready after {} (max.block.ms): {}",
        seconds(*.after),
        .cause.as_ref().map_or_else(|| "no broker answered".to_owned(), ToString::to_string)
    )]
    NotReady {
        /// The record's topic.
        topic: SmallString,
        /// `max.block.ms`.
        after: Duration,
        /// What went wrong last.
        cause: Option<Box<ProduceError>>,
    },
    /// The topic cannot be used.
    #[error("{topic}: {error}")]
    Topic {
        /// The record's topic.
        topic: SmallString,
        /// What a broker says of it.
        error: ItemError,
    },
    /// The topic has fewer partitions.
    #[error("{partition}: the topic has {count} partitions, from 0")]
    NoPartition {
        /// The partition that the record names.
        partition: TopicPartition,
        /// How many there are.
        count: i32,
    },
    /// The leader refused the record's batch.
    #[error(
        "{partition}: {server} answered {code}{}",
        .message.as_ref().map_or_else(String::new, |text| format!(": {text}"))
    )]
    Refused {
        /// The partition.
        partition: TopicPartition,
        /// The leader.
        server: ServerAddress,
        /// The error code.
        code: ErrorCode,
        /// What the server says about it.
        message: Option<SmallString>,
    },
    /// The record was not acknowledged in time.
    #[error("{}", expired_text(self))]
    Expired {
        /// The partition.
        partition: TopicPartition,
        /// `delivery.timeout.ms`.
        after: Duration,
        /// How often the record's batch was sent.
        attempts: u32,
        /// What went wrong last.
        last: Option<Box<ProduceError>>,
        /// Whether the record may have been written all the same.
        outcome_unknown: bool,
    },
    /// The record was refused when it was sent again, and an earlier request may have written it.
    #[error("{0}; whether it was written before is unknown")]
    Uncertain(Box<ProduceError>),
    /// The producer was closed or dropped before the record was acknowledged.
    #[error("the producer was closed before the record was acknowledged")]
    Closed,
}

impl ProduceError {
    /// The error code, where a server answered with one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Client(error) => error.code(),
            Self::Topic { error, .. } => Some(error.code),
            Self::Refused { code, .. } => Some(*code),
            Self::NotReady { cause, .. } => cause.as_ref()?.code(),
            Self::Expired { last, .. } => last.as_ref()?.code(),
            Self::Uncertain(error) => error.code(),
            _ => None,
        }
    }

    /// Whether the record may have been written although this error says it failed.
    pub fn is_outcome_unknown(&self) -> bool {
        match self {
            Self::Expired {
                outcome_unknown, ..
            } => *outcome_unknown,
            Self::Uncertain(_) | Self::Closed => true,
            _ => false,
        }
    }
}

fn expired_text(error: &ProduceError) -> String {
    let ProduceError::Expired {
        partition,
        after,
        attempts,
        last,
        outcome_unknown,
    } = error
    else {
        return String::new();
    };
    let after = seconds(*after);
    let last = match last {
        Some(last) => format!("; last: {last}"),
        None if *attempts == 0 => "; it has no leader, or its leader does not keep up".to_owned(),
        None => String::new(),
    };
    let unknown = match outcome_unknown {
        true => "; whether it was written is unknown",
        false => "",
    };
    format!(
        "{partition}: not acknowledged within {after} (delivery.timeout.ms), sent {attempts} \
         times{last}{unknown}"
    )
}
