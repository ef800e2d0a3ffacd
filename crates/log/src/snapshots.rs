use std::io::{self, IoSlice};
use std::sync::Arc;

use bytes::Bytes;
use klamm_protocol::{LeaderEpoch, Offset};

use crate::error::{After, LogError};
use crate::names::{OFFSET_DIGITS, number};
use crate::scan::{Scanner, Step};
use crate::segment::SCAN_WINDOW;
use crate::storage::{Dir, File, OpenMode};

const EPOCH_DIGITS: usize = 10;
const SUFFIX: &str = ".checkpoint";
/// What a snapshot is called before it is whole.
const PART: &str = ".part";
/// What Apache Kafka calls one that it is about to remove.
const DELETED: &str = ".deleted";

/// A snapshot of the metadata log: everything before `end`, the offset after the last record that is
/// in it, which was written in `epoch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnapshotId {
    /// The offset after the last record.
    pub end: Offset,
    /// The leader epoch of the last record.
    pub epoch: LeaderEpoch,
}

impl SnapshotId {
    /// What a directory is formatted with: the records that a cluster begins with.
    pub const BOOTSTRAP: Self = Self {
        end: Offset(0),
        epoch: LeaderEpoch(0),
    };

    /// The file's name, such as `00000000000000000042-0000000003.checkpoint`.
    pub fn file_name(self) -> String {
        let Self { end, epoch } = self;
        format!(
            "{:0OFFSET_DIGITS$}-{:0EPOCH_DIGITS$}{SUFFIX}",
            end.0, epoch.0
        )
    }

    /// What a file's name says, if it is a whole snapshot's.
    pub fn parse(name: &str) -> Option<Self> {
        let (end, epoch) = name.strip_suffix(SUFFIX)?.split_once('-')?;
        if end.len() != OFFSET_DIGITS || epoch.len() != EPOCH_DIGITS {
            return None;
        }
        Some(Self {
            end: Offset(number(end)?),
            epoch: LeaderEpoch(number(epoch)?),
        })
    }
}

/// The snapshots in the directory of the metadata log (KIP-630).
#[derive(Clone, Debug)]
pub struct Snapshots {
    dir: Arc<dyn Dir>,
}

impl Snapshots {
    /// The snapshots in a directory. What is left of unfinished and removed ones goes.
    pub fn open(dir: Arc<dyn Dir>) -> Result<Self, LogError> {
        let snapshots = Self { dir };
        for name in snapshots.names()? {
            let is_leftover = [PART, DELETED].iter().any(|suffix| {
                name.strip_suffix(suffix)
                    .is_some_and(|name| name.ends_with(SUFFIX))
            });
            if is_leftover {
                let removed = snapshots.dir.remove_if_there(&name);
                removed.map_err(LogError::io("remove", snapshots.dir.file(&name)))?;
            }
        }
        Ok(snapshots)
    }

    fn names(&self) -> Result<Vec<String>, LogError> {
        let names = self.dir.names();
        names.map_err(LogError::io("list", self.dir.path().to_owned()))
    }

    /// Which there are, oldest first.
    pub fn list(&self) -> Result<Vec<SnapshotId>, LogError> {
        let names = self.names()?;
        let mut ids: Vec<SnapshotId> = names
            .iter()
            .filter_map(|name| SnapshotId::parse(name))
            .collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Begins a snapshot, which is there when it is finished, and not before.
    pub fn create(&self, id: SnapshotId) -> Result<SnapshotWriter, LogError> {
        let name = id.file_name() + PART;
        let file = self.dir.open(&name, OpenMode::Empty);
        Ok(SnapshotWriter {
            file: file.map_err(LogError::io("create", self.dir.file(&name)))?,
            dir: Arc::clone(&self.dir),
            id,
            len: 0,
        })
    }

    /// Opens a snapshot; `None` if it is not there.
    pub fn read(&self, id: SnapshotId) -> Result<Option<Snapshot>, LogError> {
        let name = id.file_name();
        let open = || {
            let file = self.dir.open(&name, OpenMode::Existing)?;
            let len = file.size()?;
            Ok((file, len))
        };
        match open() {
            Ok((file, len)) => Ok(Some(Snapshot {
                path: self.dir.file(&name),
                id,
                file,
                len,
            })),
            Err(e) if io::Error::kind(&e) == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(LogError::io("open", self.dir.file(&name))(e)),
        }
    }

    /// Removes a snapshot, if it is there. Who has it open can go on reading.
    pub fn remove(&self, id: SnapshotId) -> Result<(), LogError> {
        let name = id.file_name();
        let removed = self.dir.remove_if_there(&name);
        removed.map_err(LogError::io("remove", self.dir.file(&name)))
    }
}

/// A snapshot that is being written. One that is dropped before it is finished is removed.
#[derive(Debug)]
pub struct SnapshotWriter {
    dir: Arc<dyn Dir>,
    file: Arc<dyn File>,
    id: SnapshotId,
    len: u64,
}

impl SnapshotWriter {
    /// Bytes so far: where FetchSnapshot goes on.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends bytes of batches; they may end within one.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        let written = self.file.write_all(&mut [IoSlice::new(bytes)], self.len);
        written.map_err(LogError::io("write", self.dir.file(&self.part())))?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Makes it durable, and gives it its name. Every batch in it is checked first.
    pub fn finish(mut self) -> Result<Snapshot, LogError> {
        let snapshot = Snapshot {
            path: self.dir.file(&self.part()),
            id: self.id,
            file: Arc::clone(&self.file),
            len: self.len,
        };
        snapshot.verify()?;
        let name = self.id.file_name();
        let done = self.file.sync().and_then(|()| {
            self.dir.rename(&self.part(), &name)?;
            self.dir.sync()
        });
        done.map_err(LogError::io("finish", self.dir.file(&name)))?;
        self.len = u64::MAX;
        let path = self.dir.file(&name);
        Ok(Snapshot { path, ..snapshot })
    }

    fn part(&self) -> String {
        self.id.file_name() + PART
    }
}

impl Drop for SnapshotWriter {
    fn drop(&mut self) {
        if self.len != u64::MAX {
            // What stays goes when the directory is opened next.
            let _ = self.dir.remove(&self.part());
        }
    }
}

/// A whole snapshot.
#[derive(Clone, Debug)]
pub struct Snapshot {
    path: std::path::PathBuf,
    id: SnapshotId,
    file: Arc<dyn File>,
    len: u64,
}

impl Snapshot {
    /// Which it is.
    pub fn id(&self) -> SnapshotId {
        self.id
    }

    /// Its length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has no bytes, as none should.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// At most `max_bytes` from a position on, as FetchSnapshot asks for them: they may begin and end
    /// within a batch. None at the end and after it.
    pub fn bytes(&self, position: u64, max_bytes: usize) -> Result<Bytes, LogError> {
        let mut bytes = Vec::new();
        let left = self.len.saturating_sub(position);
        let len = max_bytes.min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = self.file.read_full(&mut bytes, len, position);
        read.map_err(LogError::io("read", self.path.clone()))?;
        Ok(bytes.into())
    }

    /// Whole batches from a position on, at which one begins: at least one, and more as long as they
    /// stay within `max_bytes`. None at the end. The checksums are compared.
    pub fn batches(&self, position: u64, max_bytes: usize) -> Result<Bytes, LogError> {
        let mut scanner = self.scanner(position);
        loop {
            let so_far = scanner.position() - position;
            match self.step(&mut scanner)? {
                Some(end) if so_far > 0 && end - position > max_bytes as u64 => {
                    return self.bytes(position, so_far as usize);
                }
                Some(_) => {}
                None => return self.bytes(position, so_far as usize),
            }
        }
    }

    /// Checks every batch.
    pub fn verify(&self) -> Result<(), LogError> {
        let mut scanner = self.scanner(0);
        while self.step(&mut scanner)?.is_some() {}
        Ok(())
    }

    fn scanner(&self, position: u64) -> Scanner {
        Scanner::new(
            Arc::clone(&self.file),
            position,
            self.len.max(position),
            SCAN_WINDOW,
        )
    }

    /// Where the next batch ends, if there is one.
    fn step(&self, scanner: &mut Scanner) -> Result<Option<u64>, LogError> {
        let position = scanner.position();
        let step = scanner.step_verified();
        match step.map_err(LogError::io("read", self.path.clone()))? {
            Step::Batch(found) => Ok(Some(found.end())),
            Step::End => Ok(None),
            Step::Bad(damage) => Err(LogError::Corrupt {
                file: self.path.clone(),
                position,
                offset: self.id.end,
                damage,
                after: After::Snapshot,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kafkas() {
        let id = SnapshotId {
            end: Offset(42),
            epoch: LeaderEpoch(3),
        };
        assert_eq!(id.file_name(), "00000000000000000042-0000000003.checkpoint");
        assert_eq!(SnapshotId::parse(&id.file_name()), Some(id));
        for name in [
            "42-3.checkpoint",
            "bootstrap.checkpoint",
            "00000000000000000042-0000000003.checkpoint.part",
            "00000000000000000042-0000000003.checkpoint.deleted",
        ] {
            assert_eq!(SnapshotId::parse(name), None, "{name}");
        }
    }
}
