use klamm_protocol::{EpochEnd, LeaderEpoch, LeaderEpochs, Offset};

/// What replication has to know of a log: where it begins and ends, how far it is committed, and
/// which leader epoch each part is of.
///
/// The machine keeps it up to date by itself; the caller only makes it once, of what is on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogState {
    start: Offset,
    end: Offset,
    high_watermark: Offset,
    epochs: LeaderEpochs,
}

impl LogState {
    /// A log with records from `start` to before `end`. A high watermark from a checkpoint may lie
    /// outside of them after a crash; the nearest offset counts then.
    pub fn new(start: Offset, end: Offset, high_watermark: Offset, epochs: LeaderEpochs) -> Self {
        Self {
            start,
            end,
            high_watermark: high_watermark.clamp(start, end.max(start)),
            epochs,
        }
    }

    /// The first offset.
    pub fn start(&self) -> Offset {
        self.start
    }

    /// The offset after the last record.
    pub fn end(&self) -> Offset {
        self.end
    }

    /// Records before this offset are committed, as far as this replica knows.
    pub fn high_watermark(&self) -> Offset {
        self.high_watermark
    }

    /// Which leader epochs the log has.
    pub fn epochs(&self) -> &LeaderEpochs {
        &self.epochs
    }

    /// The newest leader epoch.
    pub fn last_epoch(&self) -> Option<LeaderEpoch> {
        self.epochs.last().map(|entry| entry.epoch)
    }

    /// See [`LeaderEpochs::end_of`].
    pub fn end_of(&self, epoch: LeaderEpoch) -> Option<EpochEnd> {
        self.epochs.end_of(epoch, self.end)
    }

    /// Where to cut this log, which parts from the leader's at `diverging` at the latest.
    pub(crate) fn cut_for(&self, diverging: EpochEnd) -> Offset {
        let own = self.end_of(diverging.epoch);
        let cut = match own {
            // The epoch is not in this log: all up to it may be the same, what follows is not.
            Some(own) if own.epoch != diverging.epoch => own.end,
            Some(own) => own.end.min(diverging.end),
            None => diverging.end,
        };
        cut.min(self.end)
    }

    pub(crate) fn begin_epoch(&mut self, epoch: LeaderEpoch) -> bool {
        self.epochs.assign(epoch, self.end)
    }

    pub(crate) fn append(&mut self, epoch: LeaderEpoch, base: Offset, end: Offset) {
        self.epochs.assign(epoch, base);
        self.end = end;
    }

    /// Raises the high watermark, no further than the log's end, and says whether it rose.
    pub(crate) fn raise_high_watermark(&mut self, to: Offset) -> bool {
        let to = to.min(self.end);
        let rises = to > self.high_watermark;
        if rises {
            self.high_watermark = to;
        }
        rises
    }

    /// Removes what is before an offset, and says whether there was anything.
    pub(crate) fn delete_before(&mut self, offset: Offset) -> bool {
        let rises = offset > self.start;
        if rises {
            self.start = offset;
            self.end = self.end.max(offset);
            self.high_watermark = self.high_watermark.max(offset);
            self.epochs.delete_before(offset);
        }
        rises
    }

    pub(crate) fn truncate(&mut self, end: Offset) {
        self.end = self.end.min(end).max(self.start);
        self.high_watermark = self.high_watermark.min(self.end);
        self.epochs.truncate(self.end);
    }

    /// Forgets all records; the next one has this offset.
    pub(crate) fn restart(&mut self, at: Offset) {
        *self = Self::new(at, at, at, LeaderEpochs::default());
    }
}
