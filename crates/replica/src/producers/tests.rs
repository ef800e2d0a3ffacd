use klamm_protocol::Bytes;
use klamm_protocol::records::{BatchBuilder, BatchOptions, NewRecord};

use super::*;

const ID: ProducerId = ProducerId(7);

/// A batch of `count` records at an offset.
fn batch(base: i64, epoch: i16, sequence: i32, count: usize, transactional: bool) -> RecordBatch {
    let mut builder = BatchBuilder::new(BatchOptions {
        base_offset: Offset(base),
        producer_id: ID.0,
        producer_epoch: epoch,
        base_sequence: sequence,
        transactional,
        ..BatchOptions::default()
    });
    for _ in 0..count {
        let record = NewRecord {
            timestamp: 1000 + base,
            ..NewRecord::default()
        };
        builder.append(&record).unwrap();
    }
    builder.finish().unwrap()
}

fn marker(base: i64, epoch: i16, coordinator_epoch: i32) -> RecordBatch {
    let mut builder = BatchBuilder::new(BatchOptions {
        base_offset: Offset(base),
        producer_id: ID.0,
        producer_epoch: epoch,
        transactional: true,
        control: true,
        ..BatchOptions::default()
    });
    let value = [&[0, 0][..], &coordinator_epoch.to_be_bytes()].concat();
    builder
        .append_control(ControlType::Commit, 9000, &value)
        .unwrap();
    builder.finish().unwrap()
}

fn producers(batches: &[RecordBatch]) -> Producers {
    let mut producers = Producers::default();
    for batch in batches {
        producers.replay(batch).unwrap();
    }
    producers
}

fn check(producers: &Producers, epoch: i16, sequence: i32) -> Result<Verdict, ProduceError> {
    producers.check(batch(0, epoch, sequence, 2, false).header())
}

#[test]
fn sequences_follow_each_other() {
    let known = producers(&[batch(0, 1, 0, 2, false)]);
    assert_eq!(check(&known, 1, 2), Ok(Verdict::Append));
    assert_eq!(check(&known, 2, 0), Ok(Verdict::Append));
    for (epoch, sequence) in [(1, 3), (1, 1), (2, 2)] {
        let refused = check(&known, epoch, sequence);
        assert!(
            matches!(refused, Err(ProduceError::OutOfOrderSequence { .. })),
            "{epoch} {sequence}: {refused:?}"
        );
    }
    let fenced = ProduceError::InvalidProducerEpoch {
        producer: ID,
        epoch: 0,
        current: 1,
    };
    assert_eq!(check(&known, 0, 2), Err(fenced));
    // Whoever is not known begins anywhere.
    assert_eq!(check(&Producers::default(), 4, 99), Ok(Verdict::Append));
}

#[test]
fn sequences_go_on_at_zero() {
    let known = producers(&[batch(0, 0, i32::MAX - 1, 2, false)]);
    assert_eq!(check(&known, 0, 0), Ok(Verdict::Append));
    let across = producers(&[batch(0, 0, i32::MAX, 2, false)]);
    assert_eq!(check(&across, 0, 1), Ok(Verdict::Append));
    assert!(matches!(
        check(&across, 0, i32::MAX),
        Ok(Verdict::Duplicate(found)) if found.first_offset() == Offset(0)
    ));
}

#[test]
fn the_last_five_batches_are_known_again() {
    let batches: Vec<_> = (0..6)
        .map(|n| batch(n * 2, 3, (n * 2) as i32, 2, false))
        .collect();
    let known = producers(&batches);
    for repeated in &batches[1..] {
        let Ok(Verdict::Duplicate(found)) = known.check(repeated.header()) else {
            panic!("{repeated:?} is not known");
        };
        assert_eq!(found.first_offset(), repeated.header().base_offset);
    }
    let forgotten = known.check(batches[0].header());
    assert!(matches!(
        forgotten,
        Err(ProduceError::OutOfOrderSequence { .. })
    ));
}

#[test]
fn a_transaction_holds_readers_back_until_its_end_is_committed() {
    let mut known = producers(&[batch(0, 0, 0, 1, false), batch(1, 0, 1, 2, true)]);
    assert_eq!(known.first_unstable(), Some(Offset(1)));
    assert_eq!(
        check(&known, 0, 3),
        Err(ProduceError::InvalidTransactionState(ID))
    );
    known.replay(&marker(3, 0, 5)).unwrap();
    known.high_watermark(Offset(3));
    assert_eq!(known.first_unstable(), Some(Offset(1)));
    known.high_watermark(Offset(4));
    assert_eq!(known.first_unstable(), None);
    assert_eq!(known.producer(ID).unwrap().coordinator_epoch, 5);
    assert_eq!(known.end(), Offset(4));
}

#[test]
fn idle_producers_are_forgotten_but_for_open_transactions() {
    let mut idle = producers(&[batch(0, 0, 0, 1, false)]);
    idle.expire(1099, 100);
    assert!(idle.producer(ID).is_some());
    idle.expire(1100, 100);
    assert!(idle.producer(ID).is_none());
    let mut open = producers(&[batch(0, 0, 0, 1, true)]);
    open.expire(i64::MAX, 100);
    assert!(open.producer(ID).is_some());
}

#[test]
fn a_snapshot_has_the_last_batch_of_each_producer() {
    let open = producers(&[batch(0, 2, 0, 1, false), batch(1, 2, 1, 3, true)]);
    let file = open.to_snapshot().unwrap();
    // Version 1, the checksum, one entry of 46 bytes.
    assert_eq!((&file[..2], file.len()), (&[0, 1][..], 2 + 4 + 4 + 46));
    assert_eq!(file[10..20], [0, 0, 0, 0, 0, 0, 0, 7, 0, 2]);
    let read = Producers::from_snapshot(&file, Offset(4)).unwrap();
    let producer = read.producer(ID).unwrap();
    assert_eq!(
        producer.batches(),
        &open.producer(ID).unwrap().batches()[1..]
    );
    assert_eq!(producer.transaction_start, Some(Offset(1)));
    assert_eq!(
        (read.end(), read.first_unstable()),
        (Offset(4), Some(Offset(1)))
    );
    assert_eq!(read.to_snapshot().unwrap(), file);
}

#[test]
fn a_damaged_snapshot_is_refused() {
    let file = producers(&[batch(0, 2, 0, 1, false)])
        .to_snapshot()
        .unwrap();
    for cut in 0..file.len() {
        assert!(Producers::from_snapshot(&file.slice(..cut), Offset(1)).is_err());
    }
    for at in 0..file.len() {
        let mut damaged = file.to_vec();
        damaged[at] ^= 1;
        assert!(
            Producers::from_snapshot(&Bytes::from(damaged), Offset(1)).is_err(),
            "byte {at}"
        );
    }
}
