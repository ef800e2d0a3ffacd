use std::path::Path;

use klamm_log::{Log, LogOptions, OpenFiles, OsDir, Recover, Snapshots};
use klamm_protocol::Offset;

use crate::reads::{batches, open};
use crate::{Context, copy_of, files, partitions};

/// Copies a data directory through klamm: logs batch by batch, other files by value.
pub(crate) fn copy(data: &Path, to: &Path) {
    files::rewrite(data, to);
    for from in partitions(data) {
        let to = to.join(from.file_name().unwrap());
        files::rewrite_of_partition(&from, &to);
        copy_log(&from, &to);
        copy_snapshots(&from, &to);
    }
}

fn copy_log(from: &Path, to: &Path) {
    // Opening may repair files; the originals are for comparing.
    let original = copy_of(from);
    let source = original.path();
    let (log, _) = match from.ends_with("__cluster_metadata-0") {
        true => Log::open(
            OsDir::open(source).unwrap(),
            OpenFiles::new(8),
            LogOptions::METADATA,
            Recover::All,
            Offset(0),
        )
        .unwrap(),
        false => open(source, Recover::All),
    };
    let dir = OsDir::create(to).unwrap();
    let files = OpenFiles::new(4);
    let options = LogOptions::TOPIC;
    let opened = Log::open(dir, files, options, Recover::All, log.start());
    let (mut copy, _) = opened.unwrap();
    for batch in batches(&log) {
        copy.append(batch.into_bytes(), 0).unwrap();
    }
    assert_eq!(copy.flush().unwrap(), log.end());
    copy.close().unwrap();
}

fn copy_snapshots(from: &Path, to: &Path) {
    let snapshots = Snapshots::open(OsDir::open(from).unwrap()).unwrap();
    let copies = Snapshots::open(OsDir::open(to).unwrap()).unwrap();
    for id in snapshots.list().unwrap() {
        let snapshot = snapshots.read(id).unwrap().unwrap();
        let mut copy = copies.create(id).unwrap();
        while copy.len() < snapshot.len() {
            let bytes = snapshot.bytes(copy.len(), 333).unwrap();
            copy.append(&bytes).unwrap();
        }
        copy.finish().unwrap();
        files::same(from, to, &id.file_name());
    }
}

/// A log that klamm copied batch by batch has the same bytes in its segments. Indexes may differ:
/// Apache Kafka counts the bytes between two entries from its start on.
pub(crate) fn are_the_same(context: &mut Context) {
    let data = context.stopped.path();
    let copies = tempfile::tempdir().unwrap();
    copy(data, copies.path());
    for from in partitions(data) {
        let to = copies.path().join(from.file_name().unwrap());
        for entry in std::fs::read_dir(&from).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".log") {
                files::same(&from, &to, &name);
            }
        }
    }
}
