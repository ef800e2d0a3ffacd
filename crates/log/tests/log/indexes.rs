//! Indexes that are missing, wrong or full of zeros cost time and nothing else.

use klamm_log::testing::MemDir;
use klamm_log::{Dir, Log, Recover};
use klamm_protocol::Offset;
use klamm_protocol::records::RecordBatch;

use crate::support::{SMALL, all, batch, open, read, whole};

fn written() -> (MemDir, Vec<RecordBatch>) {
    let dir = MemDir::default();
    let (mut log, _) = open(&dir, SMALL, Recover::All).unwrap();
    let batches: Vec<RecordBatch> = (0..60)
        .map(|base| batch(base, 0, 1, 60, base * 10))
        .collect();
    for batch in &batches {
        log.append(batch.bytes().clone(), 0).unwrap();
    }
    assert!(log.segments().count() > 3);
    log.close().unwrap();
    (dir, batches)
}

fn check(log: &Log, batches: &[RecordBatch]) {
    assert_eq!(all(log), batches);
    for (base, batch) in (0..).zip(batches) {
        assert_eq!(whole(read(log, Offset(base)))[0], *batch);
    }
}

/// Changes every index file, opens the log as one that was closed, and reads all of it.
fn changed(change: impl Fn(&MemDir, &str, &[u8])) {
    let (dir, batches) = written();
    let good = index_files(&dir);
    for (name, bytes) in &good {
        change(&dir, name, bytes);
    }
    let (log, recovery) = open(&dir, SMALL, Recover::Nothing).unwrap();
    assert_eq!(recovery.cut, None);
    check(&log, &batches);
}

fn index_files(dir: &MemDir) -> Vec<(String, Vec<u8>)> {
    let names = dir.names().unwrap().into_iter();
    let indexes = names.filter(|name| name.ends_with("index"));
    indexes
        .map(|name| {
            let bytes = dir.bytes(&name).unwrap();
            (name, bytes)
        })
        .collect()
}

#[test]
fn good_indexes_are_used() {
    let (dir, batches) = written();
    let before = index_files(&dir);
    assert!(
        before.iter().all(|(_, bytes)| bytes.len() > 16),
        "{before:?}"
    );
    let (log, recovery) = open(&dir, SMALL, Recover::Nothing).unwrap();
    assert!(recovery.verified_bytes < 500, "{recovery:?}");
    check(&log, &batches);
    log.close().unwrap();
    assert_eq!(index_files(&dir), before);
}

#[test]
fn indexes_are_the_same_when_they_are_made_again() {
    let (dir, batches) = written();
    let before = index_files(&dir);
    for (name, _) in &before {
        dir.remove(name).unwrap();
    }
    let (log, _) = open(&dir, SMALL, Recover::All).unwrap();
    check(&log, &batches);
    log.close().unwrap();
    assert_eq!(index_files(&dir), before);
}

#[test]
fn missing_indexes() {
    changed(|dir, name, _| dir.remove(name).unwrap());
}

#[test]
fn empty_indexes() {
    changed(|dir, name, _| dir.put(name, b""));
}

#[test]
fn indexes_with_room_for_more() {
    changed(|dir, name, bytes| dir.put(name, &[bytes, &[0; 2400]].concat()));
}

#[test]
fn torn_indexes() {
    changed(|dir, name, bytes| dir.put(name, &bytes[..bytes.len() - 3]));
}

#[test]
fn indexes_with_wrong_numbers() {
    for seed in 0..200 {
        changed(|dir, name, bytes| {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut wrong = bytes.to_vec();
            for _ in 0..3 {
                let at = rng.usize(0..wrong.len());
                wrong[at] = rng.u8(..);
            }
            dir.put(name, &wrong);
        });
    }
}

#[test]
fn indexes_of_another_log() {
    changed(|dir, name, bytes| {
        let other: Vec<u8> = bytes.iter().map(|byte| byte.wrapping_add(1)).collect();
        dir.put(name, &other);
    });
}
