//! What depends on timestamps: rolling, looking for one, and retention.

use klamm_log::testing::MemDir;
use klamm_log::{Log, LogOptions, Recover, Retention};
use klamm_protocol::Offset;

use crate::support::{SMALL, batch, open};

/// Records with the timestamps of their offsets times ten; some come late.
fn written(dir: &MemDir, options: LogOptions) -> (Log, Vec<i64>) {
    let (mut log, _) = open(dir, options, Recover::All).unwrap();
    let timestamps: Vec<i64> = (0..80)
        .map(|base| {
            if base % 7 == 3 {
                base * 10 - 35
            } else {
                base * 10
            }
        })
        .collect();
    for (base, &timestamp) in (0..).zip(&timestamps) {
        log.append(batch(base, 0, 1, 60, timestamp).into_bytes(), 0)
            .unwrap();
    }
    (log, timestamps)
}

#[test]
fn the_first_record_that_is_not_earlier() {
    let dir = MemDir::default();
    let (log, timestamps) = written(&dir, SMALL);
    let check = |log: &Log| {
        for wanted in -40..820 {
            let expected = timestamps.iter().position(|&timestamp| timestamp >= wanted);
            let found = log.find_timestamp(wanted).unwrap();
            assert_eq!(
                found.map(|found| found.offset.0 as usize),
                expected,
                "{wanted}"
            );
        }
    };
    check(&log);
    log.close().unwrap();
    for recover in [Recover::Nothing, Recover::All] {
        check(&open(&dir, SMALL, recover).unwrap().0);
    }
}

#[test]
fn a_segment_ends_when_its_time_is_over() {
    let dir = MemDir::default();
    let options = LogOptions {
        segment_ms: Some(100),
        segment_bytes: 1 << 20,
        ..SMALL
    };
    let (log, _) = written(&dir, options);
    let segments: Vec<i64> = log.segments().map(|base| base.0).collect();
    // The record at 66 is one that comes late.
    assert_eq!(segments, [0, 11, 22, 33, 44, 55, 67, 78]);
    // Records without a timestamp go by the clock.
    let dir = MemDir::default();
    let (mut log, _) = open(&dir, options, Recover::All).unwrap();
    for base in 0..10 {
        log.append(batch(base, 0, 1, 10, -1).into_bytes(), base * 40)
            .unwrap();
    }
    let segments: Vec<i64> = log.segments().map(|base| base.0).collect();
    assert_eq!(segments, [0, 3, 6, 9]);
}

#[test]
fn old_segments_go() {
    let dir = MemDir::default();
    let (mut log, _) = written(&dir, SMALL);
    let segments: Vec<Offset> = log.segments().collect();
    let ms = Retention {
        ms: Some(300),
        bytes: None,
    };
    // 10 milliseconds a record: those before offset 20 are too old.
    let removed = log.retain(&ms, 500, Offset(80)).unwrap();
    assert!(removed > 0);
    assert_eq!(log.start(), segments[removed]);
    assert!(log.start() <= Offset(20) && segments[removed + 1] > Offset(20));
    // Nothing goes from the high watermark on.
    assert_eq!(log.retain(&ms, 10_000, log.start()).unwrap(), 0);
    let end = log.end();
    assert_eq!(
        log.retain(&ms, 10_000, end).unwrap(),
        segments.len() - removed
    );
    assert_eq!((log.start(), log.end(), log.len()), (end, end, 0));
}

#[test]
fn what_is_too_much_goes() {
    let dir = MemDir::default();
    let (mut log, _) = written(&dir, SMALL);
    let all = log.len();
    let bytes = |bytes| Retention {
        ms: None,
        bytes: Some(bytes),
    };
    assert_eq!(log.retain(&bytes(all), 0, Offset(80)).unwrap(), 0);
    assert_eq!(log.retain(&bytes(all - 1), 0, Offset(80)).unwrap(), 0);
    assert!(log.retain(&bytes(all / 2), 0, Offset(80)).unwrap() > 0);
    // At least so much stays, and less than a segment more.
    let max = all / 2 + u64::from(SMALL.segment_bytes);
    assert!(
        (all / 2..max).contains(&log.len()),
        "{} of {all}",
        log.len()
    );
}

#[test]
fn the_latest_timestamp_is_that_of_its_first_record() {
    let dir = MemDir::default();
    let (mut log, _) = open(&dir, SMALL, Recover::All).unwrap();
    assert_eq!(log.find_latest_timestamp().unwrap(), None);
    // Whichever segment it is in.
    for (base, timestamp) in (0..).zip([5, 40, 10, 40, -1, 20]) {
        log.append(batch(base, 0, 1, 700, timestamp).into_bytes(), 0)
            .unwrap();
    }
    assert!(log.segments().count() > 2);
    let found = log.find_latest_timestamp().unwrap().unwrap();
    assert_eq!((found.offset, found.timestamp), (Offset(1), 40));
}
