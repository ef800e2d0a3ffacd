//! What the log of a partition has besides batches: epochs that begin without one, and snapshots of
//! producers.

use std::io;

use klamm_log::testing::{Crash, Fault, MemDir, Operation};
use klamm_log::{LogError, Recover};
use klamm_protocol::{LeaderEpoch, Offset};

use crate::support::{SMALL, batch, open};

#[test]
fn an_epoch_begins_before_its_first_batch() {
    let dir = MemDir::default();
    let (mut log, _) = open(&dir, SMALL, Recover::All).unwrap();
    log.append(batch(0, 2, 3, 10, 0).into_bytes(), 0).unwrap();
    log.begin_epoch(LeaderEpoch(5)).unwrap();
    let end = |log: &klamm_log::Log, epoch| log.end_of_epoch(LeaderEpoch(epoch)).unwrap();
    assert_eq!(end(&log, 2).end, Offset(3));
    assert_eq!(
        (end(&log, 5).epoch, end(&log, 5).end),
        (LeaderEpoch(5), Offset(3))
    );
    assert!(
        String::from_utf8(dir.bytes("leader-epoch-checkpoint").unwrap())
            .unwrap()
            .ends_with("2 0\n5 3\n")
    );
    // It is the same again, and earlier ones, that change nothing.
    log.begin_epoch(LeaderEpoch(5)).unwrap();
    log.append(batch(3, 5, 1, 10, 0).into_bytes(), 0).unwrap();
    log.begin_epoch(LeaderEpoch(5)).unwrap();
    assert_eq!(log.epochs().entries().len(), 2);
}

#[test]
fn an_epoch_that_cannot_be_written_puts_the_log_out_of_use() {
    let dir = MemDir::default();
    let (mut log, _) = open(&dir, SMALL, Recover::All).unwrap();
    dir.fail(Fault {
        operation: Operation::Write,
        after: 0,
        error: io::ErrorKind::StorageFull,
    });
    let failed = log.begin_epoch(LeaderEpoch(1));
    assert!(matches!(failed, Err(LogError::Io { .. })), "{failed:?}");
    let refused = log.append(batch(0, 1, 1, 10, 0).into_bytes(), 0);
    assert!(
        matches!(refused, Err(LogError::Failed { .. })),
        "{refused:?}"
    );
}

fn log_of_ten(dir: &MemDir) -> klamm_log::Log {
    let (mut log, _) = open(dir, SMALL, Recover::All).unwrap();
    for base in 0..10 {
        let batch = batch(base, 0, 1, 400, base);
        log.append(batch.into_bytes(), 0).unwrap();
    }
    log
}

fn offsets(log: &klamm_log::Log) -> Vec<i64> {
    let offsets = log.producer_snapshots().unwrap();
    offsets.into_iter().map(|offset| offset.0).collect()
}

#[test]
fn snapshots_of_producers_go_with_the_records_that_they_are_of() {
    let dir = MemDir::default();
    let mut log = log_of_ten(&dir);
    for offset in [2, 4, 6, 8, 10] {
        let written = log.write_producer_snapshot(Offset(offset), &[offset as u8]);
        written.unwrap();
    }
    let beyond = log.write_producer_snapshot(Offset(11), b"x");
    assert!(matches!(beyond, Err(LogError::OffsetOutOfRange { .. })));
    assert_eq!(
        log.read_producer_snapshot(Offset(4)).unwrap().as_deref(),
        Some(&[4][..])
    );
    assert_eq!(log.read_producer_snapshot(Offset(3)).unwrap(), None);
    log.truncate_to(Offset(8)).unwrap();
    assert_eq!(offsets(&log).last(), Some(&8));
    log.delete_before(Offset(5)).unwrap();
    assert!(
        offsets(&log).iter().all(|offset| *offset >= 5),
        "{:?}",
        offsets(&log)
    );
    log.retain_producer_snapshots(|offset| offset == Offset(8))
        .unwrap();
    assert_eq!(offsets(&log), [8]);
    log.reset_to(Offset(20)).unwrap();
    assert_eq!(offsets(&log), [0; 0]);
}

/// After a crash the log may end before a snapshot of it: what is written next is other records.
#[test]
fn a_snapshot_of_lost_records_does_not_come_back() {
    let dir = MemDir::default();
    let mut log = log_of_ten(&dir);
    log.flush().unwrap();
    for base in 10..12 {
        log.append(batch(base, 0, 1, 30, base).into_bytes(), 0)
            .unwrap();
    }
    log.write_producer_snapshot(Offset(10), b"kept").unwrap();
    log.write_producer_snapshot(Offset(12), b"lost").unwrap();
    drop(log);
    dir.crash(Crash::Lose, |_| 0);
    let (log, _) = open(&dir, SMALL, Recover::All).unwrap();
    assert_eq!(log.end(), Offset(10));
    assert_eq!(offsets(&log), [10]);
}

#[test]
fn a_log_goes_by_new_options_from_the_next_batch_on() {
    let dir = MemDir::default();
    let (mut log, _) = open(&dir, SMALL, Recover::All).unwrap();
    log.append(batch(0, 0, 1, 400, 0).into_bytes(), 0).unwrap();
    let mut options = SMALL;
    options.segment_bytes = 600;
    log.set_options(options);
    log.append(batch(1, 0, 1, 400, 0).into_bytes(), 0).unwrap();
    let bases: Vec<_> = log.segments().collect();
    assert_eq!(bases, [Offset(0), Offset(1)]);
}
