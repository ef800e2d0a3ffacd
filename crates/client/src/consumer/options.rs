use std::time::Duration;

use klamm_net::ServerAddress;
use klamm_protocol::records::RecordsError;
use klamm_protocol::{ErrorCode, Offset};
use thiserror::Error;

use crate::{ClientError, TopicPartition};

/// Which records of transactions a consumer sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IsolationLevel {
    /// `read_uncommitted`: all, up to the high watermark.
    #[default]
    ReadUncommitted,
    /// `read_committed`: those of committed transactions and those of none, up to the first
    /// transaction that is not decided yet (KIP-98).
    ReadCommitted,
}

impl IsolationLevel {
    pub(super) fn wire(self) -> i8 {
        match self {
            Self::ReadUncommitted => 0,
            Self::ReadCommitted => 1,
        }
    }
}

/// Where a consumer goes on whose position is not in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OffsetReset {
    /// `earliest`: the beginning of the log.
    Earliest,
    /// `latest`: the end of the log.
    #[default]
    Latest,
    /// `none`: nowhere, until it is told by a seek.
    None,
}

/// A place in a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeekTo {
    /// This offset.
    Offset(Offset),
    /// The first offset that is there.
    Beginning,
    /// After the last record that can be read.
    End,
    /// The first record with this timestamp or a later one, in milliseconds since 1970; the end
    /// where there is none.
    Timestamp(i64),
}

/// How a consumer works, with the names and defaults of Apache Kafka 4.4.0's.
#[derive(Clone, Debug)]
pub struct ConsumerOptions {
    /// `isolation.level`.
    pub isolation: IsolationLevel,
    /// `auto.offset.reset`: also where an assigned partition begins.
    pub offset_reset: OffsetReset,
    /// `fetch.min.bytes`: how much a broker waits for before it answers.
    pub fetch_min_bytes: i32,
    /// `fetch.max.wait.ms`: for how long it waits.
    pub fetch_max_wait: Duration,
    /// `fetch.max.bytes`: the size of an answer. A consumer holds up to two of each broker, one
    /// that is being read and one more.
    pub fetch_max_bytes: i32,
    /// `max.partition.fetch.bytes`: how much of it one partition has. A batch that is larger comes
    /// alone.
    pub max_partition_fetch_bytes: i32,
    /// `check.crcs`: whether checksums are compared.
    pub check_crcs: bool,
}

impl Default for ConsumerOptions {
    fn default() -> Self {
        Self {
            isolation: IsolationLevel::default(),
            offset_reset: OffsetReset::default(),
            fetch_min_bytes: 1,
            fetch_max_wait: Duration::from_millis(500),
            fetch_max_bytes: 50 << 20,
            max_partition_fetch_bytes: 1 << 20,
            check_crcs: true,
        }
    }
}

/// Why a consumer has nothing to give. After each of these `poll` may be called again; it goes on
/// with the partitions that it can read.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ConsumeError {
    /// The consumer could not connect, or a broker does not offer what is needed.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The partition is not assigned.
    #[error("{0} is not assigned to this consumer; assign it first")]
    NotAssigned(TopicPartition),
    /// The position is before or after what the log has, and `auto.offset.reset` is `none`.
    #[error("{partition}: offset {offset} is not in the log; seek to one that is")]
    OutOfRange {
        /// The partition, which is not read until a seek.
        partition: TopicPartition,
        /// The position.
        offset: Offset,
    },
    /// Records that were read are not in the log any more: a leader was elected that did not have
    /// them (an unclean election, or a lost disk), KIP-320.
    #[error(
        "{partition}: the log was truncated below offset {position}, which this consumer had \
         read to{}",
        .diverges_at.map(|at| format!("; it agrees up to offset {at}")).unwrap_or_default()
    )]
    Truncated {
        /// The partition. Where `auto.offset.reset` is `none` it is not read until a seek, else
        /// reading goes on where the logs agree.
        partition: TopicPartition,
        /// The position before.
        position: Offset,
        /// Up to where what was read is still there, if that is known.
        diverges_at: Option<Offset>,
    },
    /// A batch cannot be read.
    #[error("{partition}: at offset {offset}: {error}")]
    Corrupt {
        /// The partition, which is not read until a seek.
        partition: TopicPartition,
        /// The position.
        offset: Offset,
        /// What is wrong with it.
        error: RecordsError,
    },
    /// The leader does not let this consumer read.
    #[error("{partition}: {server} answered {code}")]
    Refused {
        /// The partition, which is not read until a seek.
        partition: TopicPartition,
        /// The leader.
        server: ServerAddress,
        /// The error code.
        code: ErrorCode,
    },
}
