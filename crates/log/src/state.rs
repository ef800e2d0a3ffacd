//! The small files beside a log, and in the directory that logs are in.

mod checkpoints;
mod clean_shutdown;
mod lock;
mod meta_properties;
mod partition_metadata;
mod quorum_state;

pub use checkpoints::{OffsetCheckpoint, PartitionOffset};
pub use clean_shutdown::CleanShutdown;
pub use lock::{DirLock, LockError};
pub use meta_properties::MetaProperties;
pub use partition_metadata::PartitionMetadata;
pub use quorum_state::{QuorumState, Vote};

use crate::error::LogError;
use crate::storage::Dir;

/// The most bytes that a small file may have.
const MAX_LEN: usize = 1024 * 1024;

/// The text of a small file, or `None` if it is not there.
fn read(dir: &dyn Dir, name: &str) -> Result<Option<String>, LogError> {
    let bytes = dir.read_small(name, MAX_LEN);
    let bytes = bytes.map_err(LogError::io("read", dir.file(name)))?;
    let Some(bytes) = bytes else {
        return Ok(None);
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(unreadable(dir, name, "it is not UTF-8 text".into())),
    }
}

fn write(dir: &dyn Dir, name: &str, text: &str) -> Result<(), LogError> {
    let written = dir.replace(name, text.as_bytes());
    written.map_err(LogError::io("write", dir.file(name)))
}

fn unreadable(dir: &dyn Dir, name: &str, problem: String) -> LogError {
    let file = dir.file(name);
    LogError::Unreadable { file, problem }
}
