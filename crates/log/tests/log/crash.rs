//! Every way in which the end of a log can be torn, and every bit that can flip.

use klamm_log::testing::{Crash, MemDir};
use klamm_log::{Log, LogError, Recover};
use klamm_protocol::Offset;
use klamm_protocol::records::RecordBatch;

use crate::support::{SMALL, all, batch, open};

const FILE: &str = "00000000000000000000.log";

/// A log of one segment with batches of different sizes, and its bytes.
fn written(count: i64) -> (Vec<RecordBatch>, Vec<u8>) {
    let dir = MemDir::default();
    let (mut log, _) = open(&dir, SMALL, Recover::All).unwrap();
    let batches: Vec<RecordBatch> = (0..count)
        .map(|base| batch(base, base as i32 / 2, 1, 20 + base as usize * 9, base))
        .collect();
    for batch in &batches {
        log.append(batch.bytes().clone(), 0).unwrap();
    }
    assert_eq!(log.segments().count(), 1);
    (batches, dir.bytes(FILE).unwrap())
}

fn reopened(bytes: &[u8]) -> Result<(Log, klamm_log::Recovery), LogError> {
    let dir = MemDir::default();
    dir.put(FILE, bytes);
    open(&dir, SMALL, Recover::All)
}

#[test]
fn a_log_cut_at_any_byte_keeps_its_whole_batches() {
    let (batches, bytes) = written(8);
    for len in 0..=bytes.len() {
        let (log, recovery) = reopened(&bytes[..len]).unwrap();
        let mut end = 0;
        let whole = batches.iter().take_while(|batch| {
            end += batch.bytes().len();
            end <= len
        });
        let whole: Vec<RecordBatch> = whole.cloned().collect();
        assert_eq!(all(&log), whole, "cut at {len}");
        let kept: usize = whole.iter().map(|batch| batch.bytes().len()).sum();
        let cut = recovery.cut.map_or(0, |cut| cut.bytes as usize);
        assert_eq!(cut, len - kept, "cut at {len}");
    }
}

#[test]
fn zeros_after_the_end_are_cut_off() {
    let (batches, bytes) = written(4);
    for zeros in [1, 11, 12, 61, 700, 5000] {
        let mut longer = bytes.clone();
        longer.resize(bytes.len() + zeros, 0);
        let (log, recovery) = reopened(&longer).unwrap();
        assert_eq!(all(&log), batches);
        assert_eq!(recovery.cut.unwrap().bytes, zeros as u64);
    }
}

/// A flipped bit is found, wherever it is, and never costs a good batch: it stops the start, or, in
/// the last batch, it looks like a torn end.
#[test]
fn a_flipped_bit_before_the_last_batch_stops_the_start() {
    let (batches, bytes) = written(8);
    let last = bytes.len() - batches.last().unwrap().bytes().len();
    let starts: Vec<usize> = batches
        .iter()
        .scan(0, |at, batch| {
            Some(std::mem::replace(at, *at + batch.bytes().len()))
        })
        .collect();
    for bit in 0..last * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        match reopened(&flipped) {
            Err(LogError::Corrupt { position, .. }) => {
                assert!(position <= last as u64, "bit {bit}: {position}");
            }
            // A leader epoch between those of the batches around it is one that may be.
            Ok((_, recovery)) => {
                let in_epoch = |at: usize| (at + 12..at + 16).contains(&(bit / 8));
                assert!(
                    starts.iter().any(|&at| in_epoch(at)),
                    "bit {bit} of {last} bytes"
                );
                assert_eq!(recovery.cut, None, "bit {bit}");
            }
            Err(e) => panic!("bit {bit}: {e}"),
        }
    }
}

#[test]
fn a_flipped_bit_in_the_last_batch_is_found() {
    let (batches, bytes) = written(8);
    let (last, good) = batches.split_last().unwrap();
    let start = bytes.len() - last.bytes().len();
    for bit in start * 8..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        match reopened(&flipped) {
            Ok((log, recovery)) if recovery.cut.is_some() => assert_eq!(all(&log), good),
            // What the CRC does not cover, of a batch that is whole: its offset and its epoch.
            Err(LogError::Corrupt { .. }) => assert!(bit / 8 - start < 16, "bit {bit}"),
            Ok((log, _)) => {
                // A larger epoch is one that may be.
                let epoch = log.last_epoch().unwrap();
                assert!((12..16).contains(&(bit / 8 - start)), "bit {bit}: {epoch}");
                assert!(
                    epoch > last.header().partition_leader_epoch,
                    "bit {bit}: {epoch}"
                );
            }
            Err(e) => panic!("bit {bit}: {e}"),
        }
    }
}

#[test]
fn what_was_flushed_is_never_cut() {
    let (_, bytes) = written(8);
    let dir = MemDir::default();
    dir.put(FILE, &bytes[..bytes.len() - 1]);
    dir.put("leader-epoch-checkpoint", b"0\n1\n0 0\n");
    match open(&dir, SMALL, Recover::From(Offset(8))) {
        Err(LogError::Corrupt { offset, .. }) => assert_eq!(offset, Offset(7)),
        other => panic!("{other:?}"),
    }
    assert_eq!(
        dir.bytes(FILE).unwrap().len(),
        bytes.len() - 1,
        "nothing is changed"
    );
    let (log, _) = open(&dir, SMALL, Recover::From(Offset(7))).unwrap();
    assert_eq!(log.end(), Offset(7));
}

/// Sectors that were not written read as zeros; later ones were.
#[test]
fn a_hole_in_what_was_not_flushed_is_cut_off() {
    for flushed in 0..12 {
        for seed in 0..200 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let dir = MemDir::default();
            let (mut log, _) = open(&dir, SMALL, Recover::All).unwrap();
            let mut batches = Vec::new();
            for base in 0..12 {
                let batch = batch(base, 0, 1, rng.usize(0..200), base);
                log.append(batch.bytes().clone(), 0).unwrap();
                batches.push(batch);
                if base + 1 == flushed {
                    log.flush().unwrap();
                }
            }
            drop(log);
            dir.crash(Crash::Random, |below| rng.usize(0..below));
            let (log, _) = open(&dir, SMALL, Recover::All)
                .unwrap_or_else(|e| panic!("flushed {flushed}, seed {seed}: {e}"));
            let end = log.end().0;
            assert!(end >= flushed, "flushed {flushed}, seed {seed}");
            assert_eq!(all(&log), batches[..end as usize]);
        }
    }
}

#[test]
fn damage_in_an_earlier_segment_stops_the_start() {
    let dir = MemDir::default();
    let (mut log, _) = open(&dir, SMALL, Recover::All).unwrap();
    for base in 0..20 {
        log.append(batch(base, 0, 1, 200, base).into_bytes(), 0)
            .unwrap();
    }
    log.flush().unwrap();
    assert!(log.segments().count() > 2);
    drop(log);
    let bytes = dir.bytes(FILE).unwrap();
    for len in [bytes.len() - 1, 1, 0] {
        let copy = MemDir::default();
        for name in klamm_log::Dir::names(&dir).unwrap() {
            copy.put(&name, &dir.bytes(&name).unwrap());
        }
        copy.put(FILE, &bytes[..len]);
        match open(&copy, SMALL, Recover::All) {
            Err(LogError::Corrupt { file, .. }) => assert!(file.ends_with(FILE)),
            other => panic!("{len}: {other:?}"),
        }
        // Unless it is known to be good, or not looked at.
        if len > 0 {
            open(&copy, SMALL, Recover::Nothing).unwrap();
        }
    }
}
