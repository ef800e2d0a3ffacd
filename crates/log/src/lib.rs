//! Kafka's files: the log of a replica in segments with their indexes, metadata snapshots, and the
//! small files beside them.
//!
//! Apache Kafka reads what this crate writes, and the other way round. It is the only crate of klamm
//! that touches data files; it blocks, so servers call it from threads that may.
//!
//! - [`Log`]: append, flush, read, truncate, delete; recovery after a crash.
//! - [`Snapshots`]: snapshots of the metadata log.
//! - [`PartitionDirs`]: the directories of logs in a log directory.
//! - [`MetaProperties`], [`QuorumState`], [`PartitionMetadata`], [`OffsetCheckpoint`],
//!   [`CleanShutdown`], [`DirLock`]: the small files.
//! - [`OpenFiles`]: how many files all logs of a process have open.
//! - [`Dir`] and [`File`]: what it needs of a disk; [`OsDir`] is the real one.
//!
//! Sources of the formats: Apache Kafka's documentation of the message format, KIP-32 and KIP-33
//! (timestamps, time index), KIP-101 and KIP-279 (leader epochs), KIP-595 and KIP-630 (quorum state,
//! snapshots), KIP-858 (directory ids), and the files of Apache Kafka 4.4.0 themselves.

mod checkpoint;
mod error;
mod files;
mod index;
mod log;
mod names;
mod options;
mod partition_dirs;
mod scan;
mod segment;
mod snapshots;
mod state;
mod storage;
mod tail;
#[cfg(feature = "testing")]
pub mod testing;

pub use error::{After, Damage, LogError};
pub use files::OpenFiles;
pub use log::{Appended, Cut, Log, Recover, Recovery, Retention, Slice, Timestamped, Unflushed};
pub use options::LogOptions;
pub use partition_dirs::{PartitionDir, PartitionDirs, SetAside, Space};
pub use snapshots::{Snapshot, SnapshotId, SnapshotWriter, Snapshots};
pub use state::{
    CleanShutdown, DirLock, LockError, MetaProperties, OffsetCheckpoint, PartitionMetadata,
    PartitionOffset, QuorumState, Vote,
};
pub use storage::{Dir, File, OpenMode, OsDir};
