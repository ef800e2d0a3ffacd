use std::io;

use klamm_protocol::Offset;
use klamm_protocol::records::{BatchHeader, NO_TIMESTAMP};

use crate::error::{Damage, LogError};
use crate::files::LogFiles;
use crate::index::{Entry, Index};
use crate::names::Kind;
use crate::scan::{Found, Scanner, Step};

/// Bytes read at a time while a batch is looked for, about the distance of index entries.
const LOOKUP_WINDOW: usize = 4096;
/// Bytes read at a time while a segment is read from end to end.
pub(crate) const SCAN_WINDOW: usize = 256 * 1024;

/// A segment that is written no more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) base: Offset,
    /// Bytes of batches.
    pub(crate) len: u64,
}

/// A timestamp, and the last offset of the first batch that has it as its largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Latest {
    pub(crate) timestamp: i64,
    pub(crate) offset: Offset,
}

/// What is known of a segment from the batches so far: what its indexes are made of.
#[derive(Debug)]
pub(crate) struct Active {
    pub(crate) segment: Segment,
    pub(crate) offsets: Index,
    pub(crate) times: Index,
    pub(crate) latest: Latest,
    /// The last offset, of the batches that were read since the segment was opened.
    last_offset: Option<Offset>,
    /// The largest timestamp of the first batch.
    pub(crate) first_timestamp: Option<i64>,
    /// When it got its first batch, as far as that is known, in milliseconds since 1970.
    pub(crate) created_ms: Option<i64>,
    /// The position of the batch of the last index entry.
    indexed: u64,
    interval: u64,
}

impl Active {
    /// A segment without batches; `interval` is `index.interval.bytes`.
    pub(crate) fn empty(base: Offset, interval: u64) -> Self {
        Self {
            segment: Segment { base, len: 0 },
            offsets: Index::empty(Kind::OffsetIndex, base),
            times: Index::empty(Kind::TimeIndex, base),
            latest: Latest {
                timestamp: NO_TIMESTAMP,
                offset: base,
            },
            last_offset: None,
            first_timestamp: None,
            created_ms: None,
            indexed: 0,
            interval,
        }
    }

    /// Makes the files of a new segment, and their names durable.
    pub(crate) fn create(files: &LogFiles, base: Offset, interval: u64) -> Result<Self, LogError> {
        for kind in [Kind::OffsetIndex, Kind::TimeIndex, Kind::Log] {
            let made = files.empty(base, kind);
            made.map_err(LogError::io("create", files.dir.file(&kind.name(base))))?;
        }
        let synced = files.dir.sync();
        synced.map_err(LogError::io("flush", files.dir.path().to_owned()))?;
        Ok(Self::empty(base, interval))
    }

    /// A segment with the indexes that are on the disk, `None` where they cannot be right. What is
    /// after the batch of the last entry is for the caller to [`Active::add`].
    pub(crate) fn load(
        files: &LogFiles,
        segment: Segment,
        interval: u64,
    ) -> io::Result<Option<Self>> {
        let base = segment.base;
        let Some(offsets) = Index::load(files, Kind::OffsetIndex, base)? else {
            return Ok(None);
        };
        let Some(times) = Index::load(files, Kind::TimeIndex, base)? else {
            return Ok(None);
        };
        let mut active = Self::empty(base, interval);
        active.indexed = offsets.last().map_or(0, |last| last.value as u64);
        if active.indexed >= segment.len.max(1) {
            return Ok(None);
        }
        active.segment.len = active.indexed;
        if let Some(last) = times.last() {
            active.latest = Latest {
                timestamp: last.key,
                offset: Offset(base.0 + i64::from(last.value)),
            };
        }
        active.offsets = offsets;
        active.times = times;
        Ok(Some(active))
    }

    /// Adds what is after the batch of the last index entry, and the first batch's timestamp.
    pub(crate) fn read_rest(&mut self, files: &LogFiles, segment: Segment) -> Result<(), LogError> {
        let read = || LogError::io("read", segment.path(files));
        if let Step::Batch(first) = segment
            .scanner(files, 0, LOOKUP_WINDOW)?
            .step()
            .map_err(read())?
        {
            self.first_timestamp = Some(first.header.max_timestamp);
        }
        let mut rest = segment.scanner(files, self.end(), SCAN_WINDOW)?;
        loop {
            match rest.step().map_err(read())? {
                Step::Batch(found) => self.add(&found.header, found.len),
                Step::End => return Ok(()),
                Step::Bad(damage) => {
                    return Err(segment.bad(files, rest.position(), segment.base, damage));
                }
            }
        }
    }

    /// Forgets the batches from a position on, where one begins.
    pub(crate) fn truncate(&mut self, files: &LogFiles, position: u64) -> io::Result<()> {
        let before = |entry: Entry| entry.value >= 0 && (entry.value as u64) < position;
        self.offsets.retain_while(files, before)?;
        self.indexed = self.offsets.last().map_or(0, |last| last.value as u64);
        // The last entry's batch ends at its key: later ones are not known to be there.
        let known = self.offsets.last().map_or(-1, |last| last.key);
        self.times
            .retain_while(files, |entry| i64::from(entry.value) <= known)?;
        let base = self.segment.base;
        self.latest = match self.times.last() {
            Some(last) => Latest {
                timestamp: last.key,
                offset: Offset(base.0 + i64::from(last.value)),
            },
            None => Latest {
                timestamp: NO_TIMESTAMP,
                offset: base,
            },
        };
        let segment = Segment {
            base,
            len: position,
        };
        self.segment.len = self.indexed;
        self.last_offset = None;
        if position == 0 {
            self.first_timestamp = None;
            self.created_ms = None;
        }
        let mut rest = segment
            .scanner(files, self.indexed, SCAN_WINDOW)
            .map_err(io::Error::other)?;
        while let Step::Batch(found) = rest.step()? {
            self.add(&found.header, found.len);
        }
        Ok(())
    }

    /// `index.interval.bytes`.
    pub(crate) fn interval(&self) -> u64 {
        self.interval
    }

    /// Where the next batch goes, in bytes.
    pub(crate) fn end(&self) -> u64 {
        self.segment.len
    }

    /// The offset after the last batch.
    pub(crate) fn next_offset(&self) -> Offset {
        let after = |last: Offset| Offset(last.0 + 1);
        self.last_offset.map_or(self.segment.base, after)
    }

    /// Takes note of a batch at the end.
    pub(crate) fn add(&mut self, header: &BatchHeader, len: u64) {
        let position = self.segment.len;
        let last_offset = header.last_offset();
        if position == 0 {
            self.first_timestamp = Some(header.max_timestamp);
        }
        if header.max_timestamp > self.latest.timestamp {
            self.latest = Latest {
                timestamp: header.max_timestamp,
                offset: last_offset,
            };
        }
        if position - self.indexed > self.interval {
            self.offsets.push(Entry {
                key: self.relative(last_offset).into(),
                // A segment has at most 2^31 - 1 bytes.
                value: position as i32,
            });
            self.add_time();
            self.indexed = position;
        }
        self.segment.len += len;
        self.last_offset = Some(last_offset);
    }

    fn relative(&self, offset: Offset) -> i32 {
        // The rules for batches have checked this for every offset of the segment.
        (offset.0 - self.segment.base.0) as i32
    }

    /// Adds the largest timestamp to its index, if that does not have it.
    fn add_time(&mut self) {
        let last = self.times.last().map_or(NO_TIMESTAMP, |last| last.key);
        if self.latest.timestamp > last {
            self.times.push(Entry {
                key: self.latest.timestamp,
                value: self.relative(self.latest.offset),
            });
        }
    }

    /// Whether an index has as many entries as `max_bytes` hold, but for the one that closes it.
    pub(crate) fn indexes_are_full(&self, max_bytes: u64) -> bool {
        let is_full = |index: &Index, spare| {
            index.count() + spare >= (max_bytes / index.entry_len()).max(spare + 1)
        };
        is_full(&self.offsets, 0) || is_full(&self.times, 1)
    }

    /// Writes index entries that wait in memory, if they are many.
    pub(crate) fn store_many(&mut self, files: &LogFiles) -> Result<(), LogError> {
        self.offsets
            .store_many(files)
            .map_err(self.index_error(files, Kind::OffsetIndex))?;
        self.times
            .store_many(files)
            .map_err(self.index_error(files, Kind::TimeIndex))
    }

    /// Replaces the files of both indexes, complete as for a closed segment, by what is in memory.
    pub(crate) fn replace_indexes(&mut self, files: &LogFiles) -> Result<(), LogError> {
        self.add_time();
        self.offsets
            .replace(files)
            .map_err(self.index_error(files, Kind::OffsetIndex))?;
        self.times
            .replace(files)
            .map_err(self.index_error(files, Kind::TimeIndex))
    }

    /// Makes everything durable, with the index entries that belong at the end; of its batches what
    /// is not durable yet.
    pub(crate) fn finish(&mut self, files: &LogFiles, is_flushed: bool) -> Result<(), LogError> {
        if !is_flushed {
            self.sync(files)?;
        }
        self.add_time();
        self.offsets
            .sync(files)
            .map_err(self.index_error(files, Kind::OffsetIndex))?;
        self.times
            .sync(files)
            .map_err(self.index_error(files, Kind::TimeIndex))
    }

    fn index_error(&self, files: &LogFiles, kind: Kind) -> impl FnOnce(io::Error) -> LogError {
        LogError::io("write", files.dir.file(&kind.name(self.segment.base)))
    }

    /// Makes the batches durable.
    pub(crate) fn sync(&self, files: &LogFiles) -> Result<(), LogError> {
        let base = self.segment.base;
        let synced = files.file(base, Kind::Log).and_then(|file| file.sync());
        synced.map_err(LogError::io("flush", files.dir.file(&Kind::Log.name(base))))
    }
}

impl Segment {
    pub(crate) fn scanner(
        &self,
        files: &LogFiles,
        position: u64,
        window: usize,
    ) -> Result<Scanner, LogError> {
        let file = files.file(self.base, Kind::Log);
        let file = file.map_err(LogError::io("open", self.path(files)))?;
        Ok(Scanner::new(file, position, self.len, window))
    }

    pub(crate) fn path(&self, files: &LogFiles) -> std::path::PathBuf {
        files.dir.file(&Kind::Log.name(self.base))
    }

    /// The first batch that ends at an offset or later. `hint` is a position that a batch begins at,
    /// if the index is right; `Err(Wrong)` shows that it is not.
    pub(crate) fn find(
        &self,
        files: &LogFiles,
        hint: u64,
        offset: Offset,
    ) -> Result<Result<Option<Found>, Wrong>, LogError> {
        if hint >= self.len && hint > 0 {
            return Ok(Err(Wrong));
        }
        let mut scanner = self.scanner(files, hint, LOOKUP_WINDOW)?;
        let mut is_hint = hint > 0;
        loop {
            let position = scanner.position();
            match scanner
                .step()
                .map_err(LogError::io("read", self.path(files)))?
            {
                Step::Bad(_) if is_hint => return Ok(Err(Wrong)),
                Step::Batch(found) if is_hint && found.header.base_offset > offset => {
                    return Ok(Err(Wrong));
                }
                Step::Batch(found) if found.header.last_offset() >= offset => {
                    return Ok(Ok(Some(found)));
                }
                Step::Batch(_) => is_hint = false,
                Step::End => return Ok(Ok(None)),
                Step::Bad(damage) => return Err(self.bad(files, position, offset, damage)),
            }
        }
    }

    /// Bytes that were good when they were written or recovered, and are not any more.
    fn bad(&self, files: &LogFiles, position: u64, offset: Offset, damage: Damage) -> LogError {
        LogError::Corrupt {
            file: self.path(files),
            position,
            offset,
            damage,
            after: crate::error::After::Flushed(offset),
        }
    }
}

/// An index points to where no batch begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrong;
