use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use klamm_protocol::{PartitionIndex, Uuid};

use crate::error::LogError;
use crate::names::number;
use crate::storage::{Dir, OsDir};

/// The longest name of a file.
const MAX_NAME_LEN: usize = 255;

/// The directory of a partition's log: `<topic>-<partition>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartitionDir {
    /// The topic's name.
    pub topic: String,
    /// The partition.
    pub partition: PartitionIndex,
}

impl PartitionDir {
    /// Its name.
    pub fn name(&self) -> String {
        format!("{}-{}", self.topic, self.partition)
    }

    /// What a directory's name says, if it is a partition's.
    pub fn parse(name: &str) -> Option<Self> {
        let (topic, partition) = name.rsplit_once('-')?;
        // A directory that was set aside has a point in its last part, which is no number.
        (!topic.is_empty()).then_some(Self {
            topic: topic.to_owned(),
            partition: PartitionIndex(number(partition)?),
        })
    }
}

/// Why a partition's directory is renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetAside {
    /// It is to be removed.
    Delete,
    /// The metadata does not know of it; a person may want it back.
    Stray,
}

impl SetAside {
    const fn suffix(self) -> &'static str {
        match self {
            Self::Delete => "-delete",
            Self::Stray => "-stray",
        }
    }
}

/// The bytes of the file system that a directory is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// All of them.
    pub total: u64,
    /// Those that are free for users.
    pub usable: u64,
}

/// The directories in a log directory.
#[derive(Clone, Debug)]
pub struct PartitionDirs {
    root: PathBuf,
}

impl PartitionDirs {
    /// Those in a log directory, which is there.
    pub fn of(root: &Path) -> Self {
        let root = root.to_owned();
        Self { root }
    }

    /// The partitions that have one. What was to be removed when the last process ended is removed.
    pub fn list(&self) -> Result<Vec<PartitionDir>, LogError> {
        let entries = fs::read_dir(&self.root).map_err(self.error("list", &self.root))?;
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(self.error("list", &self.root))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(self.error("list", &path))?;
            // A name that is no text is none of Kafka's.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if !kind.is_dir() {
                continue;
            }
            if name.ends_with(SetAside::Delete.suffix()) {
                self.remove(&name)?;
            } else if let Some(partition) = PartitionDir::parse(&name) {
                found.push(partition);
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// A partition's directory, made if it is not there.
    pub fn create(&self, partition: &PartitionDir) -> Result<Arc<dyn Dir>, LogError> {
        let path = self.root.join(partition.name());
        let created = OsDir::create(&path).map_err(self.error("create", &path))?;
        Ok(created)
    }

    /// Renames a partition's directory, durably: its new name. `unique` is unlike that of any other.
    pub fn set_aside(
        &self,
        partition: &PartitionDir,
        why: SetAside,
        unique: Uuid,
    ) -> Result<String, LogError> {
        let hex: String = unique
            .as_bytes()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let suffix = format!("-{}.{hex}{}", partition.partition, why.suffix());
        // Topics' names are ASCII.
        let topic = partition.topic.get(..MAX_NAME_LEN - suffix.len());
        let name = format!("{}{suffix}", topic.unwrap_or(&partition.topic));
        let (from, to) = (self.root.join(partition.name()), self.root.join(&name));
        fs::rename(&from, &to).map_err(self.error("rename", &from))?;
        self.sync()?;
        Ok(name)
    }

    /// Removes a directory that was set aside, with all that is in it.
    pub fn remove(&self, name: &str) -> Result<(), LogError> {
        let path = self.root.join(name);
        match fs::remove_dir_all(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(self.error("remove", &path)(e)),
            _ => self.sync(),
        }
    }

    /// How much room there is.
    pub fn space(&self) -> Result<Space, LogError> {
        let found = rustix::fs::statvfs(&self.root);
        let found = found.map_err(|e| self.error("measure", &self.root)(e.into()))?;
        Ok(Space {
            total: found.f_blocks.saturating_mul(found.f_frsize),
            usable: found.f_bavail.saturating_mul(found.f_frsize),
        })
    }

    fn sync(&self) -> Result<(), LogError> {
        let synced = OsDir::open(&self.root).and_then(|root| root.sync());
        synced.map_err(self.error("flush", &self.root))
    }

    fn error(&self, action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LogError {
        LogError::io(action, path.to_owned())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "it is a test")]

    use super::*;

    fn dir(topic: &str, partition: i32) -> PartitionDir {
        let partition = PartitionIndex(partition);
        PartitionDir {
            topic: topic.to_owned(),
            partition,
        }
    }

    #[test]
    fn names_are_kafkas() {
        for known in [dir("a", 0), dir("a-b.c_d-7", 12)] {
            assert_eq!(PartitionDir::parse(&known.name()), Some(known));
        }
        for other in [
            "a",
            "-1",
            "a-",
            "a-x",
            "a-1.00ff-delete",
            "a-1.00ff-stray",
            "a-+1",
        ] {
            assert_eq!(PartitionDir::parse(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_set_aside_is_no_partition_and_is_removed_if_it_was_to_be() {
        let root = tempfile::tempdir().unwrap();
        let dirs = PartitionDirs::of(root.path());
        let long = dir(&"t".repeat(249), 3);
        for partition in [dir("a", 0), dir("b", 1), long.clone()] {
            dirs.create(&partition).unwrap();
        }
        fs::write(root.path().join("c-1"), b"a file").unwrap();
        assert_eq!(
            dirs.list().unwrap(),
            [dir("a", 0), dir("b", 1), long.clone()]
        );
        let unique = Uuid::from_bytes([7; 16]);
        let stray = dirs
            .set_aside(&dir("a", 0), SetAside::Stray, unique)
            .unwrap();
        assert_eq!(stray, format!("a-0.{}-stray", "07".repeat(16)));
        let gone = dirs.set_aside(&long, SetAside::Delete, unique).unwrap();
        assert_eq!(gone.len(), MAX_NAME_LEN);
        assert_eq!(dirs.list().unwrap(), [dir("b", 1)]);
        assert!(root.path().join(stray).exists());
        assert!(!root.path().join(gone).exists());
        assert!(dirs.space().unwrap().total > 0);
    }
}
