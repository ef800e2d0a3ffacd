use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use klamm_protocol::{EpochEntry, LeaderEpoch, LeaderEpochs, Offset};

use super::files_there::find_segments;
use super::{EPOCHS_FILE, Log};
use crate::checkpoint;
use crate::error::{After, Damage, LogError};
use crate::files::{LogFiles, OpenFiles};
use crate::names::{Kind, number};
use crate::options::LogOptions;
use crate::scan::{Rules, Step};
use crate::segment::{Active, SCAN_WINDOW, Segment};
use crate::storage::Dir;
use crate::tail;

/// How much of a log is read when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recover {
    /// All of it: nothing is known.
    All,
    /// The segments that go on after this offset, which was flushed (the recovery point).
    From(Offset),
    /// Only its end: it was closed cleanly.
    Nothing,
}

/// What was found out, and done, when a log was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// What was cut off at the end.
    pub cut: Option<Cut>,
    /// Bytes of batches that were read and compared with their checksums.
    pub verified_bytes: u64,
    /// Whether `leader-epoch-checkpoint` was missing or unreadable, and was made again.
    pub epochs_rebuilt: bool,
}

/// What was cut off at the end of a log, since the last one who wrote did not flush it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cut {bytes} bytes off the end of {} at byte {position}, offset {offset}: {damage}. They were \
     written shortly before a crash and not flushed",
    file.display()
)]
pub struct Cut {
    /// The segment's file.
    pub file: PathBuf,
    /// Its new length.
    pub position: u64,
    /// How many bytes were after that.
    pub bytes: u64,
    /// The offset that the next record gets.
    pub offset: Offset,
    /// What is wrong with the first batch that was cut off.
    pub damage: Damage,
}

impl Log {
    /// Opens the log in a directory, or begins one at offset `start` where there is none.
    ///
    /// `start` is the first offset that may be read, as far as the caller knows it from
    /// `log-start-offset-checkpoint`; records before the first segment are gone in any case.
    ///
    /// After a crash it cuts off a torn end, which [`Recovery::cut`] tells. Damage before the end is
    /// [`LogError::Corrupt`], and nothing is changed.
    pub fn open(
        dir: Arc<dyn Dir>,
        open_files: Arc<OpenFiles>,
        options: LogOptions,
        recover: Recover,
        start: Offset,
    ) -> Result<(Self, Recovery), LogError> {
        let files = LogFiles::new(dir, open_files);
        let mut recovery = Recovery::default();
        let mut segments = find_segments(&files)?;
        let known_to = match recover {
            Recover::From(point) => Some(point),
            Recover::All | Recover::Nothing => None,
        };
        let (epochs, recover) = match read_epochs(&*files.dir) {
            Ok(Some(epochs)) => (epochs, recover),
            missing => {
                let is_empty = segments.iter().all(|segment| segment.len == 0);
                recovery.epochs_rebuilt = !(is_empty && matches!(missing, Ok(None)));
                if let Err(e @ LogError::Io { .. }) = missing {
                    return Err(e);
                }
                (LeaderEpochs::default(), Recover::All)
            }
        };
        let interval = options.index_interval_bytes.into();
        let (last, made) = match segments.pop() {
            Some(last) => (last, None),
            None => {
                let made = Active::create(&files, start, interval)?;
                (made.segment, Some(made))
            }
        };
        let mut opening = Opening {
            next: segments.first().unwrap_or(&last).base,
            epoch: LeaderEpoch(-1),
            known: epochs.clone(),
            epochs,
            files,
            options,
            recover,
            known_to,
            has_closed: !segments.is_empty(),
            recovery,
        };
        for (segment, next) in segments
            .iter()
            .zip(segments[1.min(segments.len())..].iter().chain([&last]))
        {
            opening.closed(*segment, next.base)?;
        }
        let active = match made {
            // There is nothing to recover, which would be flushed.
            Some(made) => made,
            None => opening.last(last)?,
        };
        let Opening {
            next: end,
            mut epochs,
            known,
            files,
            recovery,
            ..
        } = opening;
        let start = start.clamp(segments.first().unwrap_or(&active.segment).base, end);
        epochs.truncate(end);
        epochs.delete_before(start);
        let log = Self {
            files,
            options,
            closed: segments,
            active,
            start,
            end,
            flushed: end,
            failed: false,
            repairs: Mutex::new(()),
            epochs,
        };
        if log.epochs != known || recovery.epochs_rebuilt {
            log.write_epochs()?;
        }
        // A crash, or a torn end, may have left some that tell of records that are gone.
        log.retain_producer_snapshots(|at| at <= end)?;
        Ok((log, recovery))
    }
}

fn read_epochs(dir: &dyn Dir) -> Result<Option<LeaderEpochs>, LogError> {
    let entry = |line: &str| {
        let (epoch, start) = line.split_once(' ')?;
        Some(EpochEntry {
            epoch: LeaderEpoch(number(epoch)?),
            start: Offset(number(start)?),
        })
    };
    let entries = checkpoint::read(dir, EPOCHS_FILE, entry)?;
    Ok((!entries.is_empty()).then(|| LeaderEpochs::from_entries(entries)))
}

struct Opening {
    files: LogFiles,
    options: LogOptions,
    recover: Recover,
    /// The recovery point, if there is one: the log was begun before it was written.
    known_to: Option<Offset>,
    /// Whether there are segments before the last.
    has_closed: bool,
    recovery: Recovery,
    /// As in the file.
    known: LeaderEpochs,
    epochs: LeaderEpochs,
    /// The offset that comes next, and the newest epoch so far.
    next: Offset,
    epoch: LeaderEpoch,
}

/// Where the good batches of a segment end, and why.
struct End {
    position: u64,
    damage: Option<Damage>,
}

impl Opening {
    fn rules(&self, segment: Segment) -> Rules {
        Rules {
            base: segment.base,
            contiguous: self.options.contiguous,
        }
    }

    /// A segment that is not the last: every byte of it has to be good.
    fn closed(&mut self, segment: Segment, next: Offset) -> Result<(), LogError> {
        let is_flushed = match self.recover {
            Recover::All => false,
            Recover::From(point) => next <= point,
            Recover::Nothing => true,
        };
        if is_flushed {
            self.next = next;
            return Ok(());
        }
        let (mut scanned, end) = self.scan(segment, None)?;
        let gap = self.next > next || self.options.contiguous && self.next < next;
        let damage = end.damage.or(gap.then_some(Damage::BaseOffset {
            said: next,
            expected: self.next,
        }));
        if let Some(damage) = damage {
            return Err(self.corrupt(segment, end.position, damage, After::Segment(next)));
        }
        self.next = next;
        // Who wrote it was killed, perhaps, and had not flushed it.
        scanned.sync(&self.files)?;
        scanned.replace_indexes(&self.files)
    }

    /// The segment that is written next.
    fn last(&mut self, segment: Segment) -> Result<Active, LogError> {
        if self.recover == Recover::Nothing
            && let Some(active) = self.clean_end(segment)?
        {
            return Ok(active);
        }
        let (mut scanned, end) = self.scan(segment, None)?;
        if let Some(damage) = end.damage {
            self.cut(segment, end.position, damage)?;
        }
        // A broker has thousands of logs, most of them idle: what is durable is not flushed again.
        let is_flushed = |to: Offset| self.known_to.is_some_and(|point| to <= point);
        if scanned.end() > 0 && !is_flushed(self.next) {
            scanned.sync(&self.files)?;
        }
        let is_begun = match self.has_closed {
            false => self.known_to.is_some(),
            true => self.known_to.is_some_and(|point| segment.base < point),
        };
        if !is_begun {
            let dir = &self.files.dir;
            dir.sync()
                .map_err(LogError::io("flush", dir.path().to_owned()))?;
        }
        // Where all of them are read again anyway, old files are of no use; neither are durable ones,
        // before the segment is closed.
        for index in [&mut scanned.offsets, &mut scanned.times] {
            let rewritten = index.rewrite(&self.files);
            rewritten.map_err(LogError::io("write", self.files.dir.path().to_owned()))?;
        }
        Ok(scanned)
    }

    /// The end of a segment that was closed cleanly, by its indexes; `None` if that does not work out.
    fn clean_end(&mut self, segment: Segment) -> Result<Option<Active>, LogError> {
        let interval = self.options.index_interval_bytes.into();
        let loaded = Active::load(&self.files, segment, interval);
        let loaded = loaded.map_err(LogError::io("read", segment.path(&self.files)))?;
        let Some(mut active) = loaded else {
            return Ok(None);
        };
        let mut first = segment.scanner(&self.files, 0, 4096)?;
        let first = first.step();
        match first.map_err(LogError::io("read", segment.path(&self.files)))? {
            Step::Batch(found) => active.first_timestamp = Some(found.header.max_timestamp),
            Step::End => {}
            Step::Bad(_) => return Ok(None),
        }
        let (next, epochs) = (self.next, self.epochs.clone());
        let (active, end) = self.scan(segment, Some(active))?;
        if end.damage.is_some() {
            (self.next, self.epochs) = (next, epochs);
            self.epoch = LeaderEpoch(-1);
            return Ok(None);
        }
        Ok(Some(active))
    }

    /// Reads and checks the batches of a segment: all of them, or those after what is known.
    fn scan(&mut self, segment: Segment, known: Option<Active>) -> Result<(Active, End), LogError> {
        let interval = self.options.index_interval_bytes.into();
        let mut rules = self.rules(segment);
        // What comes before the known position was not read, so that the first offset is open.
        let mut is_first = known.is_some();
        let mut active = known.unwrap_or_else(|| Active::empty(segment.base, interval));
        self.next = segment.base;
        let from = active.end();
        let mut scanner = segment.scanner(&self.files, from, SCAN_WINDOW)?;
        let damage = loop {
            let step = scanner.step_verified();
            match step.map_err(LogError::io("read", segment.path(&self.files)))? {
                Step::End => break None,
                Step::Bad(damage) => break Some(damage),
                Step::Batch(found) => {
                    rules.contiguous = self.options.contiguous && !is_first;
                    is_first = false;
                    if let Err(damage) = rules.check(&found.header, self.next, self.epoch) {
                        break Some(damage);
                    }
                    self.next = Offset(found.header.last_offset().0 + 1);
                    self.epoch = found.header.partition_leader_epoch;
                    self.learn_epoch(found.header.base_offset);
                    active.add(&found.header, found.len);
                }
            }
        };
        self.recovery.verified_bytes += active.end() - from;
        let position = active.end();
        Ok((active, End { position, damage }))
    }

    /// Takes note of the epoch of a batch. What the file says is kept where the batch agrees with it:
    /// it also knows epochs whose records were compacted away.
    fn learn_epoch(&mut self, base_offset: Offset) {
        if self.epoch.0 >= 0 && self.epochs.of(base_offset) != Some(self.epoch) {
            self.epochs.truncate(base_offset);
            self.epochs.assign(self.epoch, base_offset);
        }
    }

    /// Cuts off the end of the last segment, unless that would lose what was flushed.
    fn cut(&mut self, segment: Segment, position: u64, damage: Damage) -> Result<(), LogError> {
        if let Recover::From(point) = self.recover
            && self.next < point
        {
            return Err(self.corrupt(segment, position, damage, After::Flushed(point)));
        }
        let path = segment.path(&self.files);
        let file = self.files.file(segment.base, Kind::Log);
        let file = file.map_err(LogError::io("open", path.clone()))?;
        let rules = self.rules(segment);
        let after = tail::not_torn(&file, position, segment.len, damage, rules, self.next);
        if let Some(after) = after.map_err(LogError::io("read", path.clone()))? {
            return Err(self.corrupt(segment, position, damage, after));
        }
        let cut = file.set_size(position).and_then(|()| file.sync());
        cut.map_err(LogError::io("cut", path.clone()))?;
        self.recovery.cut = Some(Cut {
            file: path,
            position,
            bytes: segment.len - position,
            offset: self.next,
            damage,
        });
        Ok(())
    }

    fn corrupt(&self, segment: Segment, position: u64, damage: Damage, after: After) -> LogError {
        LogError::Corrupt {
            file: segment.path(&self.files),
            position,
            offset: self.next,
            damage,
            after,
        }
    }
}
