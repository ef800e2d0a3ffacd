use alloc::vec::Vec;

use crate::{LeaderEpoch, Offset};

/// A leader epoch, and the first offset that was written in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochEntry {
    /// The leader epoch.
    pub epoch: LeaderEpoch,
    /// Its first offset.
    pub start: Offset,
}

/// Which leader epochs a log has, and where each begins (KIP-101, KIP-279).
///
/// Both numbers grow from entry to entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaderEpochs {
    entries: Vec<EpochEntry>,
}

impl LeaderEpochs {
    /// Takes over entries as they were read from a file; such that do not fit are dropped.
    pub fn from_entries(entries: impl IntoIterator<Item = EpochEntry>) -> Self {
        let mut epochs = Self::default();
        for entry in entries {
            epochs.assign(entry.epoch, entry.start);
        }
        epochs
    }

    /// All of them, oldest first.
    pub fn entries(&self) -> &[EpochEntry] {
        &self.entries
    }

    /// The newest one.
    pub fn last(&self) -> Option<EpochEntry> {
        self.entries.last().copied()
    }

    /// The epoch that an offset was written in.
    pub fn of(&self, offset: Offset) -> Option<LeaderEpoch> {
        let after = self.entries.partition_point(|entry| entry.start <= offset);
        Some(self.entries[after.checked_sub(1)?].epoch)
    }

    /// The largest epoch of the log up to `epoch`, and the offset after its last record: what
    /// OffsetsForLeaderEpoch answers, and what a follower truncates to. An epoch before the log's
    /// first ends where that begins. `None` for an epoch that is yet to come, and for -1, which is none.
    pub fn end_of(&self, epoch: LeaderEpoch, log_end: Offset) -> Option<EpochEnd> {
        let is_there = |last: &EpochEntry| 0 <= epoch.0 && epoch <= last.epoch;
        let last = self.last().filter(is_there)?;
        if epoch == last.epoch {
            let end = log_end;
            return Some(EpochEnd { epoch, end });
        }
        let after = self.entries.partition_point(|entry| entry.epoch <= epoch);
        let floor = after.checked_sub(1).map(|floor| self.entries[floor].epoch);
        Some(EpochEnd {
            epoch: floor.unwrap_or(epoch),
            end: self.entries[after].start,
        })
    }

    /// Takes note that an epoch begins at an offset, and says whether that was new. Entries that
    /// contradict it are dropped: they come from records that are not there any more.
    pub fn assign(&mut self, epoch: LeaderEpoch, start: Offset) -> bool {
        if epoch.0 < 0 || start.0 < 0 {
            return false;
        }
        let is_known = self
            .last()
            .is_some_and(|last| last.epoch == epoch && last.start <= start);
        if is_known {
            return false;
        }
        while self
            .last()
            .is_some_and(|last| last.epoch >= epoch || last.start >= start)
        {
            self.entries.pop();
        }
        self.entries.push(EpochEntry { epoch, start });
        true
    }

    /// Forgets the epochs of offsets from `end` on, and says whether there were any.
    pub fn truncate(&mut self, end: Offset) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.start < end);
        self.entries.len() != before
    }

    /// Forgets the epochs of offsets before `start`, and says whether anything changed.
    pub fn delete_before(&mut self, start: Offset) -> bool {
        let after = self.entries.partition_point(|entry| entry.start <= start);
        let Some(first) = after.checked_sub(1) else {
            return false;
        };
        let changed = first > 0 || self.entries[0].start != start;
        self.entries.drain(..first);
        self.entries[0].start = start;
        changed
    }
}

/// Where an epoch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochEnd {
    /// The epoch.
    pub epoch: LeaderEpoch,
    /// The offset after its last record.
    pub end: Offset,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epochs(entries: &[(i32, i64)]) -> LeaderEpochs {
        LeaderEpochs::from_entries(entries.iter().map(|&(epoch, start)| EpochEntry {
            epoch: LeaderEpoch(epoch),
            start: Offset(start),
        }))
    }

    fn end(epochs: &LeaderEpochs, epoch: i32) -> Option<(i32, i64)> {
        let end = epochs.end_of(LeaderEpoch(epoch), Offset(100))?;
        Some((end.epoch.0, end.end.0))
    }

    #[test]
    fn the_end_of_an_epoch_is_where_the_next_one_begins() {
        let epochs = epochs(&[(2, 10), (4, 20), (7, 30)]);
        assert_eq!(end(&epochs, -1), None);
        assert_eq!(end(&epochs, 0), Some((0, 10)));
        assert_eq!(end(&epochs, 2), Some((2, 20)));
        assert_eq!(end(&epochs, 3), Some((2, 20)));
        assert_eq!(end(&epochs, 6), Some((4, 30)));
        assert_eq!(end(&epochs, 7), Some((7, 100)));
        assert_eq!(end(&epochs, 8), None);
        assert_eq!(end(&LeaderEpochs::default(), 0), None);
    }

    #[test]
    fn a_new_entry_drops_what_contradicts_it() {
        let mut all = epochs(&[(2, 10), (4, 20), (7, 30)]);
        assert!(!all.assign(LeaderEpoch(7), Offset(35)));
        assert!(all.assign(LeaderEpoch(5), Offset(15)));
        assert_eq!(all, epochs(&[(2, 10), (5, 15)]));
        assert!(all.assign(LeaderEpoch(5), Offset(12)));
        assert_eq!(all, epochs(&[(2, 10), (5, 12)]));
        assert!(!all.assign(LeaderEpoch(-1), Offset(12)));
    }

    #[test]
    fn offsets_that_go_take_their_epochs_with_them() {
        let mut all = epochs(&[(2, 10), (4, 20), (7, 30)]);
        assert_eq!(all.of(Offset(9)), None);
        assert_eq!(all.of(Offset(29)), Some(LeaderEpoch(4)));
        assert!(!all.truncate(Offset(31)));
        assert!(all.truncate(Offset(30)));
        assert!(!all.delete_before(Offset(5)));
        assert!(!all.delete_before(Offset(10)));
        assert!(all.delete_before(Offset(25)));
        assert_eq!(all, epochs(&[(4, 25)]));
    }
}
