use std::io::IoSlice;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use klamm_protocol::{EpochEnd, EpochEntry, LeaderEpoch, LeaderEpochs, Offset};

use crate::checkpoint;
use crate::error::LogError;
use crate::files::LogFiles;
use crate::index::Index;
use crate::names::Kind;
use crate::options::LogOptions;
use crate::scan::{Found, Step};
use crate::segment::{Active, SCAN_WINDOW, Segment, Wrong};
use crate::storage::File;

mod append;
mod files_there;
mod open;
mod producer_snapshots;
mod slice;
mod times;
mod truncate;

pub use append::Appended;
pub use open::{Cut, Recover, Recovery};
pub use slice::Slice;
pub use times::{Retention, Timestamped};

/// Where a log keeps its leader epochs.
pub(crate) const EPOCHS_FILE: &str = "leader-epoch-checkpoint";

/// The log of one replica: record batches in segments, as Kafka keeps them.
///
/// ```
/// use std::sync::Arc;
///
/// use klamm_log::{Log, LogOptions, OpenFiles, OsDir, Recover};
/// use klamm_protocol::records::{BatchBuilder, BatchOptions, NewRecord};
/// use klamm_protocol::{LeaderEpoch, Offset};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let temporary = tempfile::tempdir()?;
/// # let path = temporary.path().join("orders-0");
/// let dir = OsDir::create(&path)?;
/// let files = OpenFiles::new(100);
/// let (mut log, recovery) = Log::open(dir, files, LogOptions::TOPIC, Recover::All, Offset(0))?;
/// assert_eq!(recovery.cut, None);
///
/// let mut batch = BatchBuilder::new(BatchOptions::default());
/// batch.append(&NewRecord { value: Some(b"hello"), ..NewRecord::default() })?;
/// let appended = log.append_assigning(batch.finish()?.into_bytes(), LeaderEpoch(3), None, 0)?;
/// assert_eq!(appended.first, Offset(0));
/// assert_eq!(log.flush()?, Offset(1));
///
/// let bytes = log.read(Offset(0), log.end(), 1024)?.bytes()?;
/// assert_eq!(bytes.len(), 73);
/// # Ok(())
/// # }
/// ```
///
/// Changes take `&mut self` and reads `&self`: a caller with many threads puts it into an `RwLock`.
/// What takes long needs no lock: [`Log::read`] says where the bytes are, and [`Log::unflushed`]
/// what is to be flushed.
///
/// After an I/O error that leaves unknown what is on the disk, every change is refused
/// ([`LogError::Failed`]) until the log is opened again: a second `fsync` after one that failed may
/// well succeed without having written anything.
#[derive(Debug)]
pub struct Log {
    files: LogFiles,
    options: LogOptions,
    /// Oldest first.
    closed: Vec<Segment>,
    active: Active,
    epochs: LeaderEpochs,
    start: Offset,
    end: Offset,
    flushed: Offset,
    failed: bool,
    /// Held while the indexes of a closed segment are made again.
    repairs: Mutex<()>,
}

impl Log {
    /// The first offset that can be read.
    pub fn start(&self) -> Offset {
        self.start
    }

    /// The offset that the next record gets.
    pub fn end(&self) -> Offset {
        self.end
    }

    /// Everything before this offset survives a crash.
    pub fn flushed(&self) -> Offset {
        self.flushed
    }

    /// The leader epochs of its batches.
    pub fn epochs(&self) -> &LeaderEpochs {
        &self.epochs
    }

    /// The leader epoch of the last batch; `None` in a log that has none.
    pub fn last_epoch(&self) -> Option<LeaderEpoch> {
        Some(self.epochs.last()?.epoch)
    }

    /// See [`LeaderEpochs::end_of`].
    pub fn end_of_epoch(&self, epoch: LeaderEpoch) -> Option<EpochEnd> {
        self.epochs.end_of(epoch, self.end)
    }

    /// Bytes of all batches that are on the disk.
    pub fn len(&self) -> u64 {
        self.closed.iter().map(|segment| segment.len).sum::<u64>() + self.active.end()
    }

    /// Whether there is no batch on the disk.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The base offsets of its segments, oldest first.
    pub fn segments(&self) -> impl Iterator<Item = Offset> {
        self.all_segments().map(|segment| segment.base)
    }

    fn all_segments(&self) -> impl DoubleEndedIterator<Item = Segment> {
        let active = std::iter::once(self.active.segment);
        self.closed.iter().copied().chain(active)
    }

    /// Finds batches from the one with `offset` on: at most `max_bytes`, and those before the offset
    /// `up_to` only, but at least the first one. The last of them may be cut off in the middle, as in
    /// Kafka's Fetch.
    ///
    /// Empty at the end of the log.
    pub fn read(&self, offset: Offset, up_to: Offset, max_bytes: usize) -> Result<Slice, LogError> {
        if offset < self.start || offset > self.end {
            return Err(LogError::OffsetOutOfRange {
                offset,
                start: self.start,
                end: self.end,
            });
        }
        let up_to = up_to.min(self.end);
        // After a compacted end, the next batch may be in a later segment.
        let at = self.all_segments().rposition_of(offset);
        for segment in self.all_segments().skip(at) {
            if offset >= up_to {
                break;
            }
            let Some(first) = self.find(segment, offset)? else {
                continue;
            };
            if first.header.base_offset >= up_to {
                break;
            }
            let end = match up_to == self.end {
                true => segment.len,
                false => self
                    .find(segment, up_to)?
                    .map_or(segment.len, |found| found.position),
            };
            // The batch that `up_to` is in the middle of is not given out in part.
            let available = end.max(first.position) - first.position;
            let wanted = (max_bytes as u64).max(first.len);
            let file = self.files.file(segment.base, Kind::Log);
            return Ok(Slice {
                file: Some(file.map_err(LogError::io("open", segment.path(&self.files)))?),
                path: segment.path(&self.files),
                position: first.position,
                len: available.min(wanted) as usize,
            });
        }
        Ok(Slice::empty(self.files.dir.path()))
    }

    /// The first batch in a segment that ends at an offset or later.
    fn find(&self, segment: Segment, offset: Offset) -> Result<Option<Found>, LogError> {
        let key = offset.0 - segment.base.0;
        let hint = |index: &Index| {
            let last = index.last_where(&self.files, |entry| entry.key <= key);
            let last = last.map_err(self.index_error(segment, Kind::OffsetIndex))?;
            Ok::<_, LogError>(last.map_or(0, |entry| entry.value.max(0) as u64))
        };
        let position = if segment.base == self.active.segment.base {
            hint(&self.active.offsets)?
        } else {
            match Index::load(&self.files, Kind::OffsetIndex, segment.base)
                .map_err(self.index_error(segment, Kind::OffsetIndex))?
            {
                Some(index) => hint(&index)?,
                None => {
                    self.repair(segment)?;
                    0
                }
            }
        };
        match segment.find(&self.files, position, offset)? {
            Ok(found) => Ok(found),
            Err(Wrong) => {
                if segment.base != self.active.segment.base {
                    self.repair(segment)?;
                }
                let found = segment.find(&self.files, 0, offset)?;
                Ok(found.unwrap_or_default())
            }
        }
    }

    /// Makes the indexes of a closed segment again, from its batches.
    fn repair(&self, segment: Segment) -> Result<(), LogError> {
        let _one = self.repairs.lock().unwrap_or_else(PoisonError::into_inner);
        let mut made = Active::empty(segment.base, self.options.index_interval_bytes.into());
        let mut scanner = segment.scanner(&self.files, 0, SCAN_WINDOW)?;
        let read_error = LogError::io("read", segment.path(&self.files));
        let scanned = loop {
            match scanner.step() {
                Ok(Step::Batch(found)) => made.add(&found.header, found.len),
                // Who reads there is told.
                Ok(Step::End | Step::Bad(_)) => break Ok(()),
                Err(e) => break Err(e),
            }
        };
        scanned.map_err(read_error)?;
        made.replace_indexes(&self.files)
    }

    fn index_error(&self, segment: Segment, kind: Kind) -> impl FnOnce(std::io::Error) -> LogError {
        LogError::io("read", self.files.dir.file(&kind.name(segment.base)))
    }

    /// Makes everything that was appended durable: the offset that it reaches to.
    pub fn flush(&mut self) -> Result<Offset, LogError> {
        self.check()?;
        let flushed = self.unflushed().and_then(Unflushed::flush);
        self.note_flushed(flushed)
    }

    /// What is to be flushed, for doing it without a lock on the log: hand the outcome of
    /// [`Unflushed::flush`] to [`Log::note_flushed`].
    pub fn unflushed(&self) -> Result<Unflushed, LogError> {
        let segment = self.active.segment;
        let path = segment.path(&self.files);
        // Whatever closes a segment flushes it.
        let file = match self.flushed < self.end {
            true => {
                let file = self.files.file(segment.base, Kind::Log);
                let error = LogError::io("open", segment.path(&self.files));
                Some(file.map_err(error)?)
            }
            false => None,
        };
        Ok(Unflushed {
            file,
            path,
            end: self.end,
        })
    }

    /// Takes note of what a flush came to. If it failed, the log is out of use.
    pub fn note_flushed(&mut self, flushed: Result<Offset, LogError>) -> Result<Offset, LogError> {
        match flushed {
            Ok(end) => {
                // It may have been truncated meanwhile.
                self.flushed = self.flushed.max(end.min(self.end));
                Ok(self.flushed)
            }
            Err(e) => {
                self.failed = true;
                Err(e)
            }
        }
    }

    /// Makes everything durable, and finishes the indexes: what is to be done before a log that is
    /// closed is called clean.
    pub fn close(mut self) -> Result<Offset, LogError> {
        self.finish()
    }

    /// As [`Log::close`], where others still read. Nothing may be appended any more.
    pub fn finish(&mut self) -> Result<Offset, LogError> {
        self.check()?;
        let finished = self.active.finish(&self.files, self.flushed >= self.end);
        self.or_failed(finished)?;
        self.flushed = self.end;
        Ok(self.end)
    }

    fn check(&self) -> Result<(), LogError> {
        match self.failed {
            true => Err(LogError::Failed {
                dir: self.files.dir.path().to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// Passes an outcome on; with an error, nobody knows what is on the disk.
    fn or_failed<T>(&mut self, outcome: Result<T, LogError>) -> Result<T, LogError> {
        self.failed |= outcome.is_err();
        outcome
    }

    /// Writes down that a leader epoch begins at the end of the log, before a batch of it is there:
    /// this replica leads it. An epoch that is no later than the last one changes nothing.
    pub fn begin_epoch(&mut self, epoch: LeaderEpoch) -> Result<(), LogError> {
        self.check()?;
        self.assign_epoch(epoch, self.end)
    }

    /// Goes by other options from the next batch on. Segments that are there stay as they are.
    pub fn set_options(&mut self, options: LogOptions) {
        self.options = options;
    }

    /// Takes note of the epoch that begins at an offset, before a batch of it is there.
    fn assign_epoch(&mut self, epoch: LeaderEpoch, start: Offset) -> Result<(), LogError> {
        if self.epochs.assign(epoch, start) {
            let written = self.write_epochs();
            return self.or_failed(written);
        }
        Ok(())
    }

    fn write_epochs(&self) -> Result<(), LogError> {
        let entries = self.epochs.entries().iter();
        let lines = entries.map(|EpochEntry { epoch, start }| format!("{epoch} {start}"));
        checkpoint::write(&*self.files.dir, EPOCHS_FILE, lines)
    }
}

trait Segments {
    /// The place of the segment that an offset belongs to.
    fn rposition_of(self, offset: Offset) -> usize;
}

impl<I: Iterator<Item = Segment>> Segments for I {
    fn rposition_of(self, offset: Offset) -> usize {
        let before = self.take_while(|segment| segment.base <= offset).count();
        before.saturating_sub(1)
    }
}

/// What is to be flushed.
#[derive(Debug)]
#[must_use = "nothing is durable before `flush`"]
pub struct Unflushed {
    file: Option<Arc<dyn File>>,
    path: std::path::PathBuf,
    end: Offset,
}

impl Unflushed {
    /// Makes it durable: the offset that it reaches to.
    pub fn flush(self) -> Result<Offset, LogError> {
        if let Some(file) = self.file {
            file.sync().map_err(LogError::io("flush", self.path))?;
        }
        Ok(self.end)
    }
}

fn slices(parts: &[Bytes]) -> Vec<IoSlice<'_>> {
    parts.iter().map(|part| IoSlice::new(part)).collect()
}
