use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The lock on a directory of logs, held as long as this value lives, and by one process at a time:
/// Apache Kafka's brokers take it as well.
#[derive(Debug)]
pub struct DirLock {
    _file: fs::File,
}

/// Why a directory could not be locked.
#[derive(Debug, Error)]
pub enum LockError {
    /// Somebody else holds it.
    #[error(
        "{} is in use: another process, or another node in this one, holds {}; stop it first, or \
         give this node a directory of its own (log.dirs)",
        .0.display(), DirLock::FILE_NAME
    )]
    Held(PathBuf),
    /// The file cannot be made or locked.
    #[error("cannot lock {}: {source}", dir.display())]
    Io {
        /// The directory.
        dir: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
}

impl DirLock {
    /// The file's name.
    pub const FILE_NAME: &'static str = ".lock";

    /// Takes the lock.
    pub fn acquire(dir: &Path) -> Result<Self, LockError> {
        let error = |source| LockError::Io {
            dir: dir.to_owned(),
            source,
        };
        let file = fs::File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(dir.join(Self::FILE_NAME))
            .map_err(error)?;
        // The first kind tells nodes in one process apart; the second is the one that Java takes.
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(LockError::Held(dir.to_owned())),
            Err(fs::TryLockError::Error(e)) => return Err(error(e)),
        }
        let exclusive = rustix::fs::FlockOperation::NonBlockingLockExclusive;
        match rustix::fs::fcntl_lock(&file, exclusive) {
            Ok(()) => Ok(Self { _file: file }),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::ACCESS) => {
                Err(LockError::Held(dir.to_owned()))
            }
            Err(e) => Err(error(e.into())),
        }
    }
}
