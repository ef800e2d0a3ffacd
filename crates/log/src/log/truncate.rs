use klamm_protocol::Offset;

use super::Log;
use crate::error::LogError;
use crate::names::Kind;
use crate::segment::{Active, Segment};

impl Log {
    /// Removes all batches with offsets from `offset` on: the new end. It is less than `offset` where
    /// that is within a batch, or in a gap between two. Leader epochs that begin there or later go,
    /// too, also where no batch does.
    ///
    /// It is durable when this returns: what was removed must not come back after a crash.
    pub fn truncate_to(&mut self, offset: Offset) -> Result<Offset, LogError> {
        self.check()?;
        if offset >= self.end {
            // A leader that has written nothing has begun an epoch at the end all the same.
            let cut = self.truncate_epochs();
            self.or_failed(cut)?;
            return Ok(self.end);
        }
        if offset <= self.start {
            self.reset_to(offset)?;
            return Ok(offset);
        }
        let truncated = self.truncate(offset);
        self.or_failed(truncated)?;
        Ok(self.end)
    }

    fn truncate(&mut self, offset: Offset) -> Result<(), LogError> {
        // What is known of producers must not outlive the records that it was learnt from.
        self.retain_producer_snapshots(|at| at <= offset)?;
        // Later segments first: whatever a crash leaves has no gap.
        while self.active.segment.base >= offset
            && let Some(before) = self.closed.pop()
        {
            self.remove(self.active.segment)?;
            self.active = self.reopen(before)?;
        }
        let segment = self.active.segment;
        // Without such a batch the offset is in the gap before the segment that was removed.
        if let Some(found) = self.find(segment, offset)? {
            let cut = self.files.file(segment.base, Kind::Log).and_then(|file| {
                file.set_size(found.position)?;
                file.sync()
            });
            cut.map_err(LogError::io("cut", segment.path(&self.files)))?;
            let cut = self.active.truncate(&self.files, found.position);
            cut.map_err(LogError::io("cut", self.files.dir.path().to_owned()))?;
        }
        let end = self.active.next_offset();
        if end < self.start {
            // The start was within the only batch.
            return self.reset(self.start);
        }
        self.end = end;
        self.flushed = self.flushed.min(end);
        self.synced_dir()?;
        self.truncate_epochs()
    }

    /// Forgets epochs that begin at the end or later: others may come there.
    fn truncate_epochs(&mut self) -> Result<(), LogError> {
        match self.epochs.truncate(self.end) {
            true => self.write_epochs(),
            false => Ok(()),
        }
    }

    /// Removes everything, and goes on at an offset: what a follower does when it got a snapshot that
    /// is ahead of its log, and where the leader's log begins after its end.
    pub fn reset_to(&mut self, offset: Offset) -> Result<(), LogError> {
        self.check()?;
        let reset = self.reset(offset);
        self.or_failed(reset)
    }

    fn reset(&mut self, offset: Offset) -> Result<(), LogError> {
        self.retain_producer_snapshots(|_| false)?;
        self.remove(self.active.segment)?;
        while let Some(segment) = self.closed.pop() {
            self.remove(segment)?;
        }
        self.synced_dir()?;
        self.active = Active::create(&self.files, offset, self.active.interval())?;
        self.start = offset;
        self.end = offset;
        self.flushed = offset;
        self.epochs.truncate(Offset(i64::MIN));
        self.write_epochs()
    }

    /// Moves the start of the log to an offset, and removes the segments before it: how many.
    ///
    /// The caller keeps the start (`log-start-offset-checkpoint`, or the snapshot that has what was
    /// before); when the log is opened without it, it begins where its first segment does.
    pub fn delete_before(&mut self, offset: Offset) -> Result<usize, LogError> {
        self.check()?;
        if offset > self.end {
            return Err(LogError::OffsetOutOfRange {
                offset,
                start: self.start,
                end: self.end,
            });
        }
        if offset <= self.start {
            return Ok(0);
        }
        self.start = offset;
        if offset == self.end {
            self.roll()?;
        }
        let mut removed = 0;
        while !self.closed.is_empty() && self.second_base() <= offset {
            let first = self.closed[0];
            let outcome = self.remove(first);
            self.or_failed(outcome)?;
            self.closed.remove(0);
            removed += 1;
        }
        if removed > 0 {
            // Those at the ends of segments are gone with them, and those in between are not.
            self.retain_producer_snapshots(|at| at >= offset)?;
            let synced = self.synced_dir();
            self.or_failed(synced)?;
        }
        if self.epochs.delete_before(offset) {
            let written = self.write_epochs();
            self.or_failed(written)?;
        }
        Ok(removed)
    }

    /// Where the second segment begins.
    fn second_base(&self) -> Offset {
        self.closed.get(1).unwrap_or(&self.active.segment).base
    }

    fn remove(&self, segment: Segment) -> Result<(), LogError> {
        for kind in Kind::ALL {
            let removed = self.files.remove(segment.base, kind);
            removed.map_err(LogError::io("remove", segment.path(&self.files)))?;
        }
        Ok(())
    }

    fn synced_dir(&self) -> Result<(), LogError> {
        let dir = &self.files.dir;
        dir.sync()
            .map_err(LogError::io("flush", dir.path().to_owned()))
    }

    /// Makes a closed segment the one that is written.
    fn reopen(&self, segment: Segment) -> Result<Active, LogError> {
        let interval = self.active.interval();
        for _ in 0..2 {
            let loaded = Active::load(&self.files, segment, interval);
            let loaded = loaded.map_err(LogError::io("read", segment.path(&self.files)))?;
            if let Some(mut active) = loaded {
                active.read_rest(&self.files, segment)?;
                return Ok(active);
            }
            self.repair(segment)?;
        }
        Err(LogError::Unreadable {
            file: segment.path(&self.files),
            problem: "its indexes change while they are read; is another process at work here?"
                .into(),
        })
    }
}
