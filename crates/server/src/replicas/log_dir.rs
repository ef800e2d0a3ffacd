use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use klamm_log::{
    CleanShutdown, Dir, LogError, OffsetCheckpoint, OsDir, PartitionDir, PartitionDirs,
    PartitionOffset,
};
use klamm_protocol::{Offset, Uuid};

/// A log directory of this node, locked by it.
#[derive(Debug)]
pub(crate) struct LogDir {
    path: PathBuf,
    id: Uuid,
    root: Arc<dyn Dir>,
    partitions: PartitionDirs,
    failed: AtomicBool,
    written: Mutex<Written>,
    /// How often a recovery point was lowered.
    lowered: AtomicU64,
}

/// What is in the checkpoint files, so that what has not changed is not written again.
#[derive(Debug, Default)]
struct Written {
    recovery_points: Vec<PartitionOffset>,
    high_watermarks: Vec<PartitionOffset>,
    log_starts: Vec<PartitionOffset>,
}

impl Written {
    fn of(&mut self, checkpoint: OffsetCheckpoint) -> &mut Vec<PartitionOffset> {
        match checkpoint {
            OffsetCheckpoint::RecoveryPoint => &mut self.recovery_points,
            OffsetCheckpoint::HighWatermark => &mut self.high_watermarks,
            OffsetCheckpoint::LogStart => &mut self.log_starts,
        }
    }
}

/// What the small files of a directory say about its logs.
#[derive(Debug)]
pub(super) struct Remembered {
    /// The mark of a clean shutdown, which is taken away.
    pub(super) clean: Option<CleanShutdown>,
    recovery_points: BTreeMap<PartitionDir, Offset>,
    high_watermarks: BTreeMap<PartitionDir, Offset>,
    log_starts: BTreeMap<PartitionDir, Offset>,
}

/// What they say about one log.
#[derive(Clone, Copy, Debug)]
pub(super) struct RememberedLog {
    /// Everything before this is on the disk; `None` where nothing is known.
    pub(super) recovery_point: Option<Offset>,
    pub(super) high_watermark: Offset,
    pub(super) log_start: Offset,
}

impl Remembered {
    pub(super) fn of(&self, partition: &PartitionDir) -> RememberedLog {
        let offset = |offsets: &BTreeMap<_, _>| offsets.get(partition).copied();
        RememberedLog {
            recovery_point: offset(&self.recovery_points),
            high_watermark: offset(&self.high_watermarks).unwrap_or_default(),
            log_start: offset(&self.log_starts).unwrap_or_default(),
        }
    }
}

impl LogDir {
    /// A directory that is there, formatted and locked.
    pub(crate) fn open(path: &Path, id: Uuid) -> Result<Arc<Self>, LogError> {
        let root = OsDir::open(path).map_err(|source| LogError::Io {
            action: "open",
            file: path.to_owned(),
            source,
        })?;
        Ok(Arc::new(Self {
            path: path.to_owned(),
            id,
            root,
            partitions: PartitionDirs::of(path),
            failed: AtomicBool::new(false),
            written: Mutex::default(),
            lowered: AtomicU64::new(0),
        }))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Its id.
    pub(super) fn id(&self) -> Uuid {
        self.id
    }

    /// The directories in it.
    pub(super) fn partitions(&self) -> &PartitionDirs {
        &self.partitions
    }

    /// Whether an operation in it has failed.
    pub(super) fn is_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Takes note that an operation has failed, and says whether it was the first.
    pub(super) fn set_failed(&self) -> bool {
        !self.failed.swap(true, Ordering::AcqRel)
    }

    /// Reads the small files, and takes the mark of a clean shutdown away: from now on logs change.
    pub(super) fn remember(&self) -> Result<Remembered, LogError> {
        let clean = CleanShutdown::read(&*self.root)?;
        if clean.is_some() {
            CleanShutdown::remove(&*self.root)?;
        }
        let mut written = self.written();
        let mut read = |checkpoint: OffsetCheckpoint| {
            let mut entries = match checkpoint.read(&*self.root) {
                // Without it more is read at the start, and nothing is lost.
                Err(error @ LogError::Unreadable { .. }) => {
                    tracing::warn!(%error, "a checkpoint is not used");
                    Vec::new()
                }
                read => read?,
            };
            entries.sort_unstable();
            *written.of(checkpoint) = entries.clone();
            let offsets = entries.into_iter().map(|entry| {
                let PartitionOffset {
                    topic,
                    partition,
                    offset,
                } = entry;
                (PartitionDir { topic, partition }, offset)
            });
            Ok::<_, LogError>(offsets.collect())
        };
        Ok(Remembered {
            clean,
            recovery_points: read(OffsetCheckpoint::RecoveryPoint)?,
            high_watermarks: read(OffsetCheckpoint::HighWatermark)?,
            log_starts: read(OffsetCheckpoint::LogStart)?,
        })
    }

    /// Writes a checkpoint, if it is other than what the file has. `collect` looks at every log; it
    /// looks again where a recovery point was lowered meanwhile.
    pub(super) fn checkpoint(
        &self,
        checkpoint: OffsetCheckpoint,
        collect: impl Fn() -> Vec<PartitionOffset>,
    ) -> Result<(), LogError> {
        loop {
            let before = self.lowered.load(Ordering::Acquire);
            let mut entries = collect();
            entries.sort_unstable();
            let mut written = self.written();
            if before != self.lowered.load(Ordering::Acquire) {
                continue;
            }
            let known = written.of(checkpoint);
            if *known != entries {
                checkpoint.write(&*self.root, &entries)?;
                *known = entries;
            }
            return Ok(());
        }
    }

    /// A log is about to be cut: its recovery point must not be behind its end after a crash.
    pub(super) fn lower_recovery_point(
        &self,
        partition: &PartitionDir,
        end: Offset,
    ) -> Result<(), LogError> {
        let mut written = self.written();
        self.lowered.fetch_add(1, Ordering::AcqRel);
        let entries = &mut written.recovery_points;
        let found = entries
            .iter_mut()
            .find(|entry| entry.partition == partition.partition && entry.topic == partition.topic);
        match found {
            Some(entry) if entry.offset > end => entry.offset = end,
            _ => return Ok(()),
        }
        OffsetCheckpoint::RecoveryPoint.write(&*self.root, entries)
    }

    /// Marks that all logs in it are closed, by the broker of this epoch.
    pub(super) fn mark_clean(&self, broker_epoch: Option<i64>) -> Result<(), LogError> {
        CleanShutdown { broker_epoch }.write(&*self.root)
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use klamm_protocol::PartitionIndex;

    use super::*;

    fn partition(index: i32) -> PartitionDir {
        PartitionDir {
            topic: "t".into(),
            partition: PartitionIndex(index),
        }
    }

    fn entry(index: i32, offset: i64) -> PartitionOffset {
        PartitionOffset {
            topic: "t".into(),
            partition: PartitionIndex(index),
            offset: Offset(offset),
        }
    }

    #[test]
    fn checkpoints_are_remembered() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = LogDir::open(temporary.path(), Uuid::from_bytes([1; 16])).unwrap();
        let points = || vec![entry(1, 9), entry(0, 7)];
        dir.checkpoint(OffsetCheckpoint::RecoveryPoint, points)
            .unwrap();
        dir.checkpoint(OffsetCheckpoint::HighWatermark, || vec![entry(0, 5)])
            .unwrap();
        dir.lower_recovery_point(&partition(1), Offset(3)).unwrap();
        dir.lower_recovery_point(&partition(0), Offset(8)).unwrap();
        dir.lower_recovery_point(&partition(2), Offset(8)).unwrap();
        dir.mark_clean(Some(12)).unwrap();

        let dir = LogDir::open(temporary.path(), Uuid::from_bytes([1; 16])).unwrap();
        let remembered = dir.remember().unwrap();
        assert_eq!(remembered.clean.unwrap().broker_epoch, Some(12));
        let first = remembered.of(&partition(0));
        assert_eq!(
            (first.recovery_point, first.high_watermark),
            (Some(Offset(7)), Offset(5))
        );
        assert_eq!(remembered.of(&partition(1)).recovery_point, Some(Offset(3)));
        assert_eq!(remembered.of(&partition(2)).recovery_point, None);
        assert!(dir.remember().unwrap().clean.is_none());
    }

    #[test]
    fn a_checkpoint_that_cannot_be_read_is_as_one_that_is_not_there() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = LogDir::open(temporary.path(), Uuid::from_bytes([1; 16])).unwrap();
        let points = temporary.path().join("recovery-point-offset-checkpoint");
        std::fs::write(&points, "0\n3\nt 0 5\n").unwrap();
        let remembered = dir.remember().unwrap();
        assert_eq!(remembered.of(&partition(0)).recovery_point, None);
        dir.checkpoint(OffsetCheckpoint::RecoveryPoint, || vec![entry(0, 5)])
            .unwrap();
        assert_eq!(std::fs::read_to_string(points).unwrap(), "0\n1\nt 0 5\n");
    }

    /// A cut comes between the look at the log and the write.
    #[test]
    fn a_lowered_recovery_point_is_not_raised_by_an_older_look() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = LogDir::open(temporary.path(), Uuid::from_bytes([1; 16])).unwrap();
        dir.checkpoint(OffsetCheckpoint::RecoveryPoint, || vec![entry(0, 9)])
            .unwrap();
        let looks = std::cell::Cell::new(0);
        let look = || {
            looks.set(looks.get() + 1);
            let seen = if looks.get() == 1 { 10 } else { 4 };
            if looks.get() == 1 {
                dir.lower_recovery_point(&partition(0), Offset(4)).unwrap();
            }
            vec![entry(0, seen)]
        };
        dir.checkpoint(OffsetCheckpoint::RecoveryPoint, look)
            .unwrap();
        assert_eq!(looks.get(), 2);
        let point = dir.remember().unwrap().of(&partition(0)).recovery_point;
        assert_eq!(point, Some(Offset(4)));
    }
}
