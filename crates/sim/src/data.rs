//! The data of partitions, as far as a leader's change bears on it: which records are where.

use fastrand::Rng;
use klamm_protocol::LeaderEpoch;

/// A record of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataRecord {
    /// The epoch of the leader that took it.
    pub(crate) epoch: LeaderEpoch,
    /// What tells it from all others.
    pub(crate) id: u64,
}

/// A replica's log. Offsets are positions: nothing is ever removed at its start.
#[derive(Clone, Debug, Default)]
pub(crate) struct DataLog {
    records: Vec<DataRecord>,
    flushed: usize,
}

impl DataLog {
    pub(crate) fn end(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn record(&self, offset: usize) -> Option<DataRecord> {
        self.records.get(offset).copied()
    }

    pub(crate) fn from(&self, offset: usize, max: usize) -> Vec<DataRecord> {
        let rest = self.records.get(offset..).unwrap_or_default();
        rest.iter().take(max).copied().collect()
    }

    pub(crate) fn last_epoch(&self) -> Option<LeaderEpoch> {
        self.records.last().map(|record| record.epoch)
    }

    pub(crate) fn append(&mut self, records: impl IntoIterator<Item = DataRecord>) {
        self.records.extend(records);
    }

    /// The latest epoch of the log that is not after this one, and where its records end.
    pub(crate) fn end_of(&self, epoch: LeaderEpoch) -> Option<(LeaderEpoch, usize)> {
        let end = self.records.partition_point(|record| record.epoch <= epoch);
        let last = self.records[..end].last()?;
        Some((last.epoch, end))
    }

    pub(crate) fn truncate(&mut self, end: usize) {
        self.records.truncate(end);
        self.flushed = self.flushed.min(end);
    }

    pub(crate) fn flush(&mut self) {
        self.flushed = self.records.len();
    }

    /// The machine loses its power. Says whether records are lost.
    pub(crate) fn lose(&mut self, rng: &mut Rng) -> bool {
        let kept = rng.usize(self.flushed..=self.records.len());
        let loses = kept < self.records.len();
        self.truncate(kept);
        self.flush();
        loses
    }
}
