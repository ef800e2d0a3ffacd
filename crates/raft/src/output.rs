use bytes::Bytes;
use klamm_protocol::{ApiKey, BrokerId, ErrorCode, LeaderEpoch, Offset};
use thiserror::Error;

use crate::{
    AnswerId, ControlError, ElectionState, Node, OffsetAndEpoch, Request, RequestId, Response,
};

/// What the machine wants done. Outputs are carried out in the order they come.
#[derive(Debug)]
pub enum Output {
    /// Write the file `quorum-state`. It is durable before any later output is carried out.
    Persist(ElectionState),
    /// Append these batches to the log, and tell with [`Raft::flushed`](crate::Raft::flushed) when
    /// they are durable. Later outputs need not wait for that.
    Append(Append),
    /// Remove all records from this offset on.
    Truncate(Offset),
    /// Send a request, and give what becomes of it to
    /// [`Raft::handle_response`](crate::Raft::handle_response).
    Send(Send),
    /// Answer a request.
    Answer(Answer),
    /// Write a part of a snapshot that comes from the leader. A part at position 0 begins anew:
    /// what was written of any snapshot before is not wanted any more.
    WriteSnapshot(SnapshotPart),
    /// The snapshot with this id is written: make it complete and durable, remove the whole log,
    /// and begin it anew at the snapshot's end. The next input has to be
    /// [`Raft::snapshot_installed`](crate::Raft::snapshot_installed); the machine waits for it.
    InstallSnapshot(OffsetAndEpoch),
    /// Records before this offset are committed.
    HighWatermark(Offset),
    /// There is a new epoch, or its leader is known now.
    Leadership(Leadership),
    /// Something for the log of the process. The machine goes on.
    Incident(Incident),
}

/// Batches to append. Offsets and epochs in them are right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Append {
    /// The machine's name for the append; a later one is greater.
    pub id: AppendId,
    /// The first record's offset, which is the end of the log so far.
    pub base: Offset,
    /// The end of the log with these batches.
    pub end: Offset,
    /// The batches.
    pub batches: Bytes,
}

/// The machine's name for an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AppendId(pub u64);

/// A request to send.
#[derive(Clone, Debug, PartialEq)]
pub struct Send {
    /// The machine's name for the request.
    pub id: RequestId,
    /// Where to.
    pub to: Node,
    /// The request, which goes out in the latest version that both sides have.
    pub request: Request,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The request's name.
    pub id: AnswerId,
    /// The answer, complete but for the records.
    pub response: Response,
    /// Records to put in the answer.
    pub read: Option<Read>,
}

/// What to read for the records of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// Whole batches of the log, for a Fetch answer.
    Log {
        /// The offset that the first batch contains.
        from: Offset,
        /// How many bytes at most; the first batch is read even if it is longer.
        max_bytes: u32,
    },
    /// Bytes of a snapshot, for a FetchSnapshot answer.
    Snapshot {
        /// Which snapshot.
        id: OffsetAndEpoch,
        /// From which byte on.
        position: u64,
        /// How many bytes at most.
        max_bytes: u32,
    },
}

/// A part of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotPart {
    /// Which snapshot.
    pub id: OffsetAndEpoch,
    /// Where in the snapshot the part belongs, in bytes: the parts come in order.
    pub position: u64,
    /// The part.
    pub bytes: Bytes,
}

/// A snapshot cannot be taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SnapshotError {
    /// Its records are not all committed.
    #[error("snapshot {0} goes beyond what is committed")]
    NotCommitted(OffsetAndEpoch),
    /// The log has no record of that epoch before that offset.
    #[error("snapshot {0} is of no place in the log")]
    NoPlace(OffsetAndEpoch),
    /// There is no such snapshot, so the log before it is needed still.
    #[error("there is no snapshot {0}")]
    Unknown(OffsetAndEpoch),
}

/// An epoch and who leads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leadership {
    /// The epoch.
    pub epoch: LeaderEpoch,
    /// Its leader, if it is known.
    pub leader: Option<BrokerId>,
    /// If this node is the leader: the offset its epoch starts at. It has seen all committed
    /// records when the high watermark is beyond.
    pub start: Option<Offset>,
}

/// What a peer did wrong, or what an operator should know.
#[derive(Debug, Error)]
pub enum Incident {
    /// Two leaders are said to be in one epoch.
    #[error(
        "{said:?} is said to lead epoch {epoch} of the metadata quorum, which {known:?} leads; \
         check that no two nodes have one node.id"
    )]
    InconsistentLeader {
        /// The epoch.
        epoch: LeaderEpoch,
        /// Who leads as far as this node knows.
        known: Option<BrokerId>,
        /// Who is said to.
        said: Option<BrokerId>,
    },
    /// A leader wants committed records removed. They are kept.
    #[error(
        "leader {leader} of epoch {epoch} has a log that parts from this node's at {to:?}, below \
         the high watermark {high_watermark}: a voter has lost committed records"
    )]
    CommittedRecordsDiverge {
        /// The leader.
        leader: BrokerId,
        /// Its epoch.
        epoch: LeaderEpoch,
        /// Where the logs part.
        to: OffsetAndEpoch,
        /// What is committed.
        high_watermark: Offset,
    },
    /// A leader sent records that do not continue the log.
    #[error("leader {leader} sent records that cannot be appended: {reason}")]
    BadRecords {
        /// The leader.
        leader: BrokerId,
        /// What is wrong with them.
        reason: AppendError,
    },
    /// An error that the answer to this request should not have.
    #[error("node {node} answered {api} with {error}")]
    UnexpectedError {
        /// Who answered.
        node: BrokerId,
        /// What was asked.
        api: ApiKey,
        /// The error.
        error: ErrorCode,
    },
    /// An answer that does not belong to the request or misses what it must have.
    #[error("node {node} gave an answer that does not fit the request")]
    Malformed {
        /// Who answered.
        node: BrokerId,
    },
    /// The leader has not heard from a majority for too long, and resigns.
    #[error("no majority of the voters has fetched in time in epoch {epoch}; resigning")]
    QuorumLost {
        /// The epoch that ends.
        epoch: LeaderEpoch,
    },
}

/// Records cannot be appended.
#[derive(Debug, Error)]
pub enum AppendError {
    /// This node does not lead the epoch.
    #[error("not the leader of epoch {0}")]
    NotLeader(LeaderEpoch),
    /// A batch does not start where the log ends.
    #[error("a batch starts at offset {base}, the log ends at {end}")]
    Gap {
        /// The batch's first offset.
        base: Offset,
        /// The end of the log.
        end: Offset,
    },
    /// A batch has an epoch that it cannot have here.
    #[error("a batch at offset {base} has epoch {epoch}")]
    Epoch {
        /// The batch's first offset.
        base: Offset,
        /// Its epoch.
        epoch: LeaderEpoch,
    },
    /// A batch is of a format that the metadata log never has.
    #[error("a batch of format {0}")]
    Format(i8),
    /// A control batch from outside of KRaft.
    #[error("control records are written by KRaft alone")]
    Control,
    /// No whole batch.
    #[error("no whole batch")]
    Empty,
    /// A batch is damaged.
    #[error(transparent)]
    Damaged(#[from] ControlError),
}

impl From<klamm_protocol::records::RecordsError> for AppendError {
    fn from(error: klamm_protocol::records::RecordsError) -> Self {
        Self::Damaged(error.into())
    }
}
