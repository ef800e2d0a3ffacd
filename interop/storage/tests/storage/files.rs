use std::path::Path;

use klamm_log::{
    CleanShutdown, MetaProperties, OffsetCheckpoint, OsDir, PartitionMetadata, QuorumState,
};

use crate::{Context, partitions};

/// The files that have a line for each partition.
const CHECKPOINTS: [OffsetCheckpoint; 3] = [
    OffsetCheckpoint::RecoveryPoint,
    OffsetCheckpoint::HighWatermark,
    OffsetCheckpoint::LogStart,
];

/// Copies a directory with everything in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => std::fs::copy(entry.path(), to).map(|_| ()).unwrap(),
        }
    }
}

/// Reads the small files of a data directory, and writes them again elsewhere.
pub(crate) fn rewrite(from: &Path, to: &Path) {
    let (dir, new) = (OsDir::open(from).unwrap(), OsDir::create(to).unwrap());
    let properties = MetaProperties::read(&*dir).unwrap().unwrap();
    assert!(properties.directory_id.is_some(), "{properties:?}");
    properties.write(&*new).unwrap();
    assert_eq!(MetaProperties::read(&*new).unwrap().unwrap(), properties);
    for checkpoint in CHECKPOINTS {
        let entries = checkpoint.read(&*dir).unwrap();
        checkpoint.write(&*new, &entries).unwrap();
    }
    if let Some(shutdown) = CleanShutdown::read(&*dir).unwrap() {
        assert!(
            shutdown.broker_epoch.is_some_and(|epoch| epoch >= 0),
            "{shutdown:?}"
        );
        shutdown.write(&*new).unwrap();
    }
}

/// Reads the small files of a partition, and writes them again elsewhere.
pub(crate) fn rewrite_of_partition(from: &Path, to: &Path) {
    let (dir, new) = (OsDir::open(from).unwrap(), OsDir::create(to).unwrap());
    PartitionMetadata::read(&*dir)
        .unwrap()
        .unwrap()
        .write(&*new)
        .unwrap();
    if let Some(state) = QuorumState::read(&*dir).unwrap() {
        state.write(&*new).unwrap();
    }
}

/// Every byte of the small files is the same when klamm has read and written them.
pub(crate) fn come_back(context: &mut Context) {
    let data = context.stopped.path();
    let new = tempfile::tempdir().unwrap();
    rewrite(data, new.path());
    same(data, new.path(), CleanShutdown::FILE_NAME);
    for checkpoint in CHECKPOINTS {
        assert!(data.join(checkpoint.file_name()).exists(), "{checkpoint:?}");
        same(data, new.path(), checkpoint.file_name());
    }
    for partition in partitions(data) {
        let to = new.path().join(partition.file_name().unwrap());
        rewrite_of_partition(&partition, &to);
        same(&partition, &to, PartitionMetadata::FILE_NAME);
        if partition.ends_with("__cluster_metadata-0") {
            same(&partition, &to, QuorumState::FILE_NAME);
        }
    }
}

/// Compares a file in two directories.
pub(crate) fn same(one: &Path, other: &Path, name: &str) {
    let read = |dir: &Path| std::fs::read(dir.join(name)).unwrap();
    let (one_bytes, other_bytes) = (read(one), read(other));
    if one_bytes != other_bytes {
        let text = |bytes: &[u8]| match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => format!("{bytes:02x?}"),
        };
        panic!(
            "{name} of {}:\n{}\nand of {}:\n{}",
            one.display(),
            text(&one_bytes),
            other.display(),
            text(&other_bytes)
        );
    }
}
