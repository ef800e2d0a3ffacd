use std::path::{Path, PathBuf};

use klamm_log::{Log, LogOptions, OpenFiles, OsDir, Recover, Recovery, Snapshots};
use klamm_protocol::Offset;
use klamm_protocol::records::{Batch, Batches, DecompressLimit, RecordBatch};

use crate::{Context, copy_of, partitions};

/// Opens a log as a server would.
pub(crate) fn open(dir: &Path, recover: Recover) -> (Log, Recovery) {
    // Compaction leaves gaps in the logs of topics.
    let options = match dir.ends_with("__cluster_metadata-0") {
        true => LogOptions::METADATA,
        false => LogOptions::TOPIC,
    };
    let files = OpenFiles::new(8);
    Log::open(
        OsDir::open(dir).unwrap(),
        files,
        options,
        recover,
        Offset(0),
    )
    .unwrap_or_else(|e| panic!("{}: {e}", dir.display()))
}

/// All batches, by reading from offset to offset.
pub(crate) fn batches(log: &Log) -> Vec<RecordBatch> {
    let mut all = Vec::new();
    let mut next = log.start();
    while next < log.end() {
        let bytes = log.read(next, log.end(), 700).unwrap().bytes().unwrap();
        for batch in Batches::new(bytes) {
            let Ok(Batch::V2(batch)) = batch else {
                panic!("at offset {next}: {batch:?}");
            };
            batch.verify_crc().unwrap();
            for record in &batch.records(DecompressLimit::DEFAULT).unwrap() {
                record.unwrap();
            }
            next = Offset(batch.header().last_offset().0 + 1);
            all.push(batch);
        }
    }
    all
}

/// The bytes of all segments of a directory.
pub(crate) fn segments(dir: &Path) -> Vec<u8> {
    let entries = std::fs::read_dir(dir).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .collect();
    paths.sort_unstable();
    paths
        .iter()
        .flat_map(|path| std::fs::read(path).unwrap())
        .collect()
}

pub(crate) fn closed(context: &mut Context) {
    for recover in [Recover::Nothing, Recover::All] {
        let copy = copy_of(context.stopped.path());
        for dir in partitions(copy.path()) {
            let epochs = std::fs::read(dir.join("leader-epoch-checkpoint")).unwrap();
            let bytes = segments(&dir);
            let (log, recovery) = open(&dir, recover);
            assert_eq!(recovery.cut, None, "{}", dir.display());
            assert!(recover == Recover::All || recovery.verified_bytes <= 16 * 1024);
            let read: Vec<u8> = batches(&log)
                .iter()
                .flat_map(|b| b.bytes().to_vec())
                .collect();
            assert!(read == bytes, "{} reads otherwise", dir.display());
            // An epoch without a record is only known to the leader that runs.
            let with_records: Vec<String> = String::from_utf8(epochs)
                .unwrap()
                .lines()
                .skip(2)
                .filter(|line| {
                    let start = line.split(' ').nth(1).unwrap();
                    start.parse::<i64>().unwrap() < log.end().0
                })
                .map(str::to_owned)
                .collect();
            let entries = log.epochs().entries().iter();
            let known: Vec<String> = entries
                .map(|entry| format!("{} {}", entry.epoch, entry.start))
                .collect();
            assert_eq!(known, with_records, "{}", dir.display());
        }
    }
}

/// The indexes of a killed node are of no use: their room is filled with zeros.
pub(crate) fn killed(context: &mut Context) {
    let copy = copy_of(context.killed.path());
    for dir in partitions(copy.path()) {
        let bytes = segments(&dir);
        for recover in [Recover::Nothing, Recover::All] {
            let (log, recovery) = open(&dir, recover);
            assert_eq!(recovery.cut, None, "{}", dir.display());
            let read: Vec<u8> = batches(&log)
                .iter()
                .flat_map(|b| b.bytes().to_vec())
                .collect();
            assert!(read == bytes, "{} reads otherwise", dir.display());
        }
    }
}

pub(crate) fn snapshots(context: &mut Context) {
    let dir = context.stopped.path().join("__cluster_metadata-0");
    let snapshots = Snapshots::open(OsDir::open(&dir).unwrap()).unwrap();
    let ids = snapshots.list().unwrap();
    assert!(ids.len() > 1, "{ids:?}");
    for id in ids {
        let snapshot = snapshots.read(id).unwrap().unwrap();
        snapshot.verify().unwrap();
        let mut all = Vec::new();
        while (all.len() as u64) < snapshot.len() {
            all.extend_from_slice(&snapshot.batches(all.len() as u64, 500).unwrap());
        }
        assert_eq!(all, std::fs::read(dir.join(id.file_name())).unwrap());
    }
}
