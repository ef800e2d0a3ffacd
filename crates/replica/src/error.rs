use klamm_protocol::records::RecordsError;
use klamm_protocol::{ErrorCode, LeaderEpoch, Offset};
use thiserror::Error;

use crate::ProducerId;

/// Why a request for this replica is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReplicaError {
    /// The directory of its log has failed.
    #[error("the log directory of this replica has failed")]
    Offline,
    /// The request is of an epoch that has ended.
    #[error("leader epoch {asked} has ended, this is {current}")]
    FencedLeaderEpoch {
        /// The request's epoch.
        asked: LeaderEpoch,
        /// This replica's epoch.
        current: LeaderEpoch,
    },
    /// The request is of an epoch that this broker has not heard of yet.
    #[error("leader epoch {asked} has not begun here, this is {current}")]
    UnknownLeaderEpoch {
        /// The request's epoch.
        asked: LeaderEpoch,
        /// This replica's epoch.
        current: LeaderEpoch,
    },
    /// This replica is not the leader.
    #[error("this replica does not lead the partition")]
    NotLeader,
    /// A broker fetches that is no replica, as far as this one knows.
    #[error("the broker that fetches is not known as a replica in leader epoch {0}")]
    UnknownReplica(LeaderEpoch),
    /// A broker fetches with the epoch of a run that has ended.
    #[error("the broker that fetches has registered anew since")]
    StaleBrokerEpoch,
    /// The log has no such offset, or does not know the epoch that the reader has read last.
    #[error("offset {asked} is not in the log, which has {start} to {end}")]
    OffsetOutOfRange {
        /// The offset asked for.
        asked: Offset,
        /// Where the log begins.
        start: Offset,
        /// Where what may be read ends.
        end: Offset,
    },
    /// A new leader does not know yet what is committed.
    #[error("the high watermark has not come to the start of leader epoch {0} yet")]
    OffsetNotAvailable(LeaderEpoch),
}

impl From<ReplicaError> for ErrorCode {
    fn from(error: ReplicaError) -> Self {
        match error {
            ReplicaError::Offline => Self::KAFKA_STORAGE_ERROR,
            ReplicaError::FencedLeaderEpoch { .. } => Self::FENCED_LEADER_EPOCH,
            ReplicaError::UnknownLeaderEpoch { .. } | ReplicaError::UnknownReplica(_) => {
                Self::UNKNOWN_LEADER_EPOCH
            }
            ReplicaError::NotLeader | ReplicaError::StaleBrokerEpoch => {
                Self::NOT_LEADER_OR_FOLLOWER
            }
            ReplicaError::OffsetOutOfRange { .. } => Self::OFFSET_OUT_OF_RANGE,
            ReplicaError::OffsetNotAvailable(_) => Self::OFFSET_NOT_AVAILABLE,
        }
    }
}

/// Why a batch is not appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProduceError {
    /// This replica takes no batches.
    #[error(transparent)]
    Replica(#[from] ReplicaError),
    /// acks=all, and too few replicas are in sync.
    #[error("{in_sync} replicas are in sync, min.insync.replicas is {needed}")]
    NotEnoughReplicas {
        /// How many are in the ISR.
        in_sync: usize,
        /// How many there have to be.
        needed: usize,
    },
    /// The batch was appended, and then too many replicas fell out of sync.
    #[error("the batch is appended, and fewer replicas are in sync than min.insync.replicas")]
    NotEnoughReplicasAfterAppend,
    /// The producer has a newer epoch: another one has taken its place.
    #[error("epoch {epoch} of producer {producer} is older than {current}, the last one seen")]
    InvalidProducerEpoch {
        /// Whose.
        producer: ProducerId,
        /// The batch's epoch.
        epoch: i16,
        /// The last one seen.
        current: i16,
    },
    /// The batch does not follow the last one of its producer.
    #[error("sequence {sequence} of producer {producer} does not follow {last}")]
    OutOfOrderSequence {
        /// Whose.
        producer: ProducerId,
        /// The batch's first sequence number.
        sequence: i32,
        /// The last one that was appended; -1 where the epoch has none.
        last: i32,
    },
    /// A batch outside of the transaction that its producer has begun.
    #[error("producer {0} has a transaction going on, and the batch is not of it")]
    InvalidTransactionState(ProducerId),
    /// Offsets that no log can have.
    #[error("the batch has offsets that no log can have")]
    Offsets,
}

impl From<ProduceError> for ErrorCode {
    fn from(error: ProduceError) -> Self {
        match error {
            ProduceError::Replica(error) => error.into(),
            ProduceError::NotEnoughReplicas { .. } => Self::NOT_ENOUGH_REPLICAS,
            ProduceError::NotEnoughReplicasAfterAppend => Self::NOT_ENOUGH_REPLICAS_AFTER_APPEND,
            ProduceError::InvalidProducerEpoch { .. } => Self::INVALID_PRODUCER_EPOCH,
            ProduceError::OutOfOrderSequence { .. } => Self::OUT_OF_ORDER_SEQUENCE_NUMBER,
            ProduceError::InvalidTransactionState(_) => Self::INVALID_TXN_STATE,
            ProduceError::Offsets => Self::INVALID_RECORD,
        }
    }
}

/// Why the records that a leader sent are not appended.
#[derive(Debug, Error)]
pub enum FetchedError {
    /// A batch is damaged.
    #[error(transparent)]
    Damaged(#[from] RecordsError),
    /// A batch does not continue the log.
    #[error("a batch has the offsets {base} to {last}, the log ends at {end}")]
    Gap {
        /// Its first offset.
        base: Offset,
        /// Its last offset.
        last: Offset,
        /// The end of the log.
        end: Offset,
    },
    /// A batch of an epoch before that of the batch in front of it.
    #[error("the batch at offset {base} has epoch {epoch}, the one before it has {before}")]
    Epoch {
        /// Its first offset.
        base: Offset,
        /// Its epoch.
        epoch: LeaderEpoch,
        /// The epoch before it.
        before: LeaderEpoch,
    },
    /// A batch of a format that no supported release writes.
    #[error("a batch of format {0}")]
    Format(i8),
}
