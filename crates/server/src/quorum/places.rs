use klamm_log::SnapshotId;
use klamm_raft::OffsetAndEpoch;

/// A snapshot's name in the words of the log.
pub(super) fn snapshot_id(id: OffsetAndEpoch) -> SnapshotId {
    SnapshotId {
        end: id.offset,
        epoch: id.epoch,
    }
}

/// A snapshot's name in the words of KRaft.
pub(super) fn place(id: SnapshotId) -> OffsetAndEpoch {
    OffsetAndEpoch {
        epoch: id.epoch,
        offset: id.end,
    }
}
