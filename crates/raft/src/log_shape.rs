use std::collections::{BTreeMap, VecDeque};

use klamm_protocol::{LeaderEpoch, Offset};

use crate::{AppendId, OffsetAndEpoch};

/// What KRaft has to know of the log: where it begins and ends, and which epoch each part is of.
///
/// The machine keeps it up to date by itself, since it orders every append and truncation; the
/// caller only makes it once, of what it finds on the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogShape {
    start: Offset,
    end: Offset,
    flushed: Offset,
    /// Appends that are not durable yet, and where they end.
    unflushed: VecDeque<(AppendId, Offset)>,
    last_append: u64,
    /// The first offset of each epoch that has records, ascending.
    epochs: Vec<(LeaderEpoch, Offset)>,
    /// The snapshots and how many bytes they have.
    snapshots: BTreeMap<OffsetAndEpoch, u64>,
}

/// How a replica's position relates to the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// The replica has a prefix of the log.
    Valid,
    /// Its log has to be cut: here, at the latest, the logs part.
    Diverging(OffsetAndEpoch),
    /// What it needs is only in this snapshot.
    Snapshot(OffsetAndEpoch),
}

impl LogShape {
    /// A log whose epochs and snapshots are told in order with [`LogShape::append`] and
    /// [`LogShape::add_snapshot`]. All that is told so is taken for durable.
    pub fn new(start: Offset) -> Self {
        Self {
            start,
            end: start,
            flushed: start,
            ..Self::default()
        }
    }

    /// Adds records of one epoch up to an end offset. What a log on a disk has is added before the
    /// machine starts; every epoch once is enough.
    pub fn append(&mut self, epoch: LeaderEpoch, end: Offset) {
        if self.epochs.last().is_none_or(|(last, _)| *last < epoch) {
            self.epochs.push((epoch, self.end));
        }
        self.end = end;
    }

    /// Adds a snapshot that is complete on the disk, of that many bytes.
    pub fn add_snapshot(&mut self, id: OffsetAndEpoch, len: u64) {
        self.snapshots.insert(id, len);
    }

    /// The first offset.
    pub fn start(&self) -> Offset {
        self.start
    }

    /// The offset after the last record.
    pub fn end(&self) -> Offset {
        self.end
    }

    /// The epoch of the last record, or of the snapshot that the log continues; 0 without either.
    pub fn last_epoch(&self) -> LeaderEpoch {
        let of_snapshot = || {
            self.latest_snapshot()
                .filter(|id| id.offset == self.end)
                .map_or(LeaderEpoch(0), |id| id.epoch)
        };
        self.epochs
            .last()
            .map_or_else(of_snapshot, |(epoch, _)| *epoch)
    }

    /// The latest snapshot.
    pub fn latest_snapshot(&self) -> Option<OffsetAndEpoch> {
        self.snapshots.last_key_value().map(|(id, _)| *id)
    }

    /// The end, for comparing logs.
    pub(crate) fn tip(&self) -> OffsetAndEpoch {
        OffsetAndEpoch {
            epoch: self.last_epoch(),
            offset: self.end,
        }
    }

    /// The offset up to which the log is durable.
    pub(crate) fn flushed(&self) -> Offset {
        self.flushed
    }

    pub(crate) fn is_flushed(&self) -> bool {
        self.flushed >= self.end
    }

    /// Names the append that has led to the present end.
    pub(crate) fn name_append(&mut self) -> AppendId {
        self.last_append += 1;
        let id = AppendId(self.last_append);
        self.unflushed.push_back((id, self.end));
        id
    }

    /// Notes that an append is durable, and all before it.
    pub(crate) fn flushed_append(&mut self, id: AppendId) {
        while let Some((first, end)) = self.unflushed.front() {
            if *first > id {
                break;
            }
            self.flushed = self.flushed.max(*end);
            self.unflushed.pop_front();
        }
    }

    pub(crate) fn all_flushed(&mut self) {
        self.flushed = self.end;
    }

    /// The last epoch up to `epoch` that the log has, and where it ends.
    pub(crate) fn end_of(&self, epoch: LeaderEpoch) -> OffsetAndEpoch {
        let after = self.epochs.partition_point(|(of, _)| *of <= epoch);
        let Some((_, next_start)) = self.epochs.get(after) else {
            return self.tip();
        };
        let epoch_before = match after.checked_sub(1) {
            Some(index) => self.epochs[index].0,
            // Below the first epoch of the log there is the one of the snapshot that it continues.
            None => self
                .snapshots
                .keys()
                .rfind(|id| id.offset == *next_start)
                .map_or(epoch, |id| id.epoch),
        };
        OffsetAndEpoch {
            epoch: epoch_before,
            offset: *next_start,
        }
    }

    /// Where a replica stands whose log ends with `tip`.
    pub(crate) fn locate(&self, tip: OffsetAndEpoch) -> Position {
        if self.start == Offset(0) && tip.offset == Offset(0) {
            return Position::Valid;
        }
        if let (Some(earliest), Some(latest)) =
            (self.snapshots.keys().next(), self.latest_snapshot())
        {
            let is_before = tip.offset < self.start
                || tip.offset == self.start && tip.epoch != earliest.epoch
                || tip.epoch < earliest.epoch;
            if is_before {
                return Position::Snapshot(latest);
            }
        }
        let end = self.end_of(tip.epoch);
        if end.epoch != tip.epoch || end.offset < tip.offset {
            return Position::Diverging(end);
        }
        Position::Valid
    }

    /// Where to cut this log, which parts from the leader's at `diverging` at the latest.
    pub(crate) fn cut_for(&self, diverging: OffsetAndEpoch) -> Offset {
        if diverging.epoch == LeaderEpoch(0) {
            return diverging.offset.min(self.end);
        }
        let own = self.end_of(diverging.epoch);
        if own.epoch == diverging.epoch {
            own.offset.min(diverging.offset)
        } else {
            own.offset
        }
    }

    /// How many bytes a snapshot has; `None` if there is no such snapshot.
    pub(crate) fn snapshot_len(&self, id: OffsetAndEpoch) -> Option<u64> {
        self.snapshots.get(&id).copied()
    }

    /// Whether `id` is the id of a snapshot of all records before its offset.
    pub(crate) fn is_place(&self, id: OffsetAndEpoch) -> bool {
        let of_record = self.epochs.iter().rfind(|(_, start)| *start < id.offset);
        match of_record {
            Some((epoch, _)) => id.offset <= self.end && *epoch == id.epoch,
            None => self.snapshots.contains_key(&id),
        }
    }

    /// Forgets the log before a snapshot, and the snapshots before it.
    pub(crate) fn trim(&mut self, id: OffsetAndEpoch) {
        self.start = id.offset;
        self.snapshots = self.snapshots.split_off(&id);
        let kept = self
            .epochs
            .partition_point(|(_, start)| *start <= id.offset);
        // The epoch that goes on across the start begins there now.
        if let Some((epoch, _)) = kept.checked_sub(1).map(|index| self.epochs[index]) {
            self.epochs.drain(..kept);
            if self.end > id.offset {
                self.epochs.insert(0, (epoch, id.offset));
            }
        }
    }

    /// Forgets all for a snapshot that the log is to go on from.
    pub(crate) fn restart(&mut self, id: OffsetAndEpoch, len: u64) {
        let last_append = self.last_append;
        *self = Self::new(id.offset);
        self.last_append = last_append;
        self.snapshots.insert(id, len);
    }

    /// Forgets everything from an offset on.
    pub(crate) fn truncate(&mut self, end: Offset) {
        self.epochs.retain(|(_, start)| *start < end);
        self.end = self.end.min(end);
        self.flushed = self.flushed.min(self.end);
        for (_, append_end) in &mut self.unflushed {
            *append_end = (*append_end).min(self.end);
        }
    }
}

#[cfg(test)]
mod tests;
