use std::fmt;

use klamm_protocol::{LeaderEpoch, Offset};

/// A place in the log, or a snapshot's id: an end offset and the epoch of the record before it.
///
/// They are ordered as Raft compares logs: by epoch first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OffsetAndEpoch {
    /// The epoch of the last record before the offset; 0 for an empty log.
    pub epoch: LeaderEpoch,
    /// The offset after that record.
    pub offset: Offset,
}

impl OffsetAndEpoch {
    /// The bootstrap snapshot, which is never replicated: its content gets into the log.
    pub const BOOTSTRAP: Self = Self {
        epoch: LeaderEpoch(0),
        offset: Offset(0),
    };
}

impl fmt::Display for OffsetAndEpoch {
    /// The form that snapshot files are named after.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:020}-{:010}", self.offset.0, self.epoch.0)
    }
}
