//! Operations that fail: nothing is said to be there that is not, and nothing that was flushed goes.

use std::io;

use klamm_log::testing::{Crash, Fault, MemDir, Operation};
use klamm_log::{LogError, Recover};
use klamm_protocol::Offset;

use crate::support::{SMALL, all, batch, open};

const OPERATIONS: [Operation; 6] = [
    Operation::Write,
    Operation::SetSize,
    Operation::Sync,
    Operation::SyncDir,
    Operation::Read,
    Operation::Name,
];

/// Appends, flushes, rolls and truncates while one operation fails, crashes, and looks.
#[test]
fn whatever_fails_what_was_flushed_stays() {
    let mut failed = [0; OPERATIONS.len()];
    for (operation, count) in OPERATIONS.into_iter().zip(&mut failed) {
        for after in 0..40 {
            for error in [io::ErrorKind::StorageFull, io::ErrorKind::Other] {
                let case = format!("{operation:?} fails with {error:?} after {after}");
                *count += usize::from(fails(operation, after, error, &case));
            }
        }
    }
    for (operation, count) in OPERATIONS.into_iter().zip(failed) {
        assert!(count > 1, "{operation:?} failed {count} times only");
    }
}

/// Whether the operation failed at all.
fn fails(operation: Operation, after: usize, error: io::ErrorKind, case: &str) -> bool {
    let dir = MemDir::default();
    let (mut log, _) = open(&dir, SMALL, Recover::All).unwrap();
    dir.fail(Fault {
        operation,
        after,
        error,
    });
    let mut batches = Vec::new();
    let mut flushed = 0;
    let mut truncated_to = i64::MAX;
    for base in 0..14 {
        let batch = batch(base, base as i32 / 3, 1, 180, base);
        if log.append(batch.bytes().clone(), 0).is_err() {
            break;
        }
        batches.push(batch);
        if base == 9 {
            // Gone only if this succeeds, or if the disk is in an unknown state.
            truncated_to = 7;
            if log.truncate_to(Offset(7)).is_err() {
                break;
            }
            batches.truncate(7);
            flushed = flushed.min(7);
            break;
        }
        if base % 2 == 0 {
            match log.flush() {
                Ok(end) => flushed = end.0,
                Err(_) => break,
            }
        }
    }
    let happened = !dir.fault_is_pending();
    // Either the log is as it says, or it refuses to go on.
    let end = log.end();
    match log.append(batch(end.0, 9, 1, 10, 0).into_bytes(), 0) {
        Ok(_) => batches.truncate(end.0 as usize),
        Err(LogError::Failed { .. }) => {}
        Err(e) if happened => panic!("{case}: {e}"),
        Err(_) => {}
    }
    drop(log);
    let mut rng = fastrand::Rng::with_seed(after as u64);
    dir.crash(Crash::Random, |below| rng.usize(0..below));
    let (log, _) = open(&dir, SMALL, Recover::All).unwrap_or_else(|e| panic!("{case}: {e}"));
    assert!(
        log.end().0 >= flushed.min(truncated_to),
        "{case}: {}",
        log.end()
    );
    let there = all(&log);
    let known = there.len().min(batches.len());
    assert_eq!(there[..known], batches[..known], "{case}");
    happened
}

#[test]
fn a_flush_that_failed_is_not_tried_again() {
    let dir = MemDir::default();
    let (mut log, _) = open(&dir, SMALL, Recover::All).unwrap();
    log.append(batch(0, 0, 1, 10, 0).into_bytes(), 0).unwrap();
    dir.fail(Fault {
        operation: Operation::Sync,
        after: 0,
        error: io::ErrorKind::Other,
    });
    assert!(matches!(log.flush(), Err(LogError::Io { .. })));
    assert!(matches!(log.flush(), Err(LogError::Failed { .. })));
    assert!(matches!(
        log.append(batch(1, 0, 1, 10, 0).into_bytes(), 0),
        Err(LogError::Failed { .. })
    ));
    assert_eq!(log.flushed(), Offset(0));
}

#[test]
fn a_full_disk_costs_what_did_not_fit_and_no_more() {
    let dir = MemDir::default();
    let (mut log, _) = open(&dir, SMALL, Recover::All).unwrap();
    let first = batch(0, 0, 1, 10, 0);
    log.append(first.bytes().clone(), 0).unwrap();
    dir.fail(Fault {
        operation: Operation::Write,
        after: 0,
        error: io::ErrorKind::StorageFull,
    });
    let second = batch(1, 0, 1, 300, 0);
    let error = log.append(second.bytes().clone(), 0).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot write /memory/00000000000000000000.log")
    );
    assert_eq!(log.end(), Offset(1));
    assert_eq!(all(&log), std::slice::from_ref(&first));
    log.append(second.bytes().clone(), 0).unwrap();
    assert_eq!(all(&log), [first, second]);
}

/// A broker that comes back has thousands of logs that nobody wrote to: each flush of one counts.
#[test]
fn a_log_of_which_everything_was_flushed_is_opened_without_a_flush() {
    for (count, operation) in
        (0..12).flat_map(|count| [Operation::Sync, Operation::SyncDir].map(|op| (count, op)))
    {
        let dir = MemDir::default();
        let (mut log, _) = open(&dir, SMALL, Recover::All).unwrap();
        for base in 0..count {
            let batch = batch(base, 1, 1, 180, base);
            log.append(batch.into_bytes(), 0).unwrap();
        }
        let point = log.flush().unwrap();
        drop(log);
        dir.fail(Fault {
            operation,
            after: 0,
            error: io::ErrorKind::Other,
        });
        let (log, _) = open(&dir, SMALL, Recover::From(point)).unwrap();
        assert_eq!((log.end(), log.flushed()), (Offset(count), Offset(count)));
        if count == 0 {
            log.close().unwrap();
        }
        assert!(dir.fault_is_pending(), "{operation:?}, {count} batches");
    }
}
