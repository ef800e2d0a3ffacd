use core::time::Duration;

use klamm_metadata::{Cluster, Partition};
use klamm_protocol::LeaderEpochs;
use klamm_protocol::data::metadata::PartitionRecord;
use klamm_protocol::records::{BatchBuilder, BatchOptions, NewRecord};

use super::*;
use crate::{LogState, Producers, Settings};

/// A follower of broker 1 in epoch 7 with ten records, the last five of epoch 4.
fn follower() -> Replica {
    let mut epochs = LeaderEpochs::default();
    epochs.assign(LeaderEpoch(2), Offset(0));
    epochs.assign(LeaderEpoch(4), Offset(5));
    let log = LogState::new(Offset(0), Offset(10), Offset(6), epochs);
    let producers = Producers::new(Offset(10));
    let mut replica = Replica::new(BrokerId(0), log, producers, Settings::default());
    let record = PartitionRecord {
        replicas: [0, 1][..].into(),
        isr: [1][..].into(),
        leader: 1,
        leader_epoch: 7,
        ..Default::default()
    };
    let partition = Partition::from_record(&record).unwrap();
    replica.update(&partition, Duration::ZERO, &Cluster::default());
    replica
}

fn answer(batches: &[(i64, i32)]) -> FetchAnswer {
    let bytes = batches.iter().map(|(base, epoch)| {
        let mut builder = BatchBuilder::new(BatchOptions {
            base_offset: Offset(*base),
            partition_leader_epoch: LeaderEpoch(*epoch),
            ..BatchOptions::default()
        });
        builder.append(&NewRecord::default()).unwrap();
        builder.finish().unwrap().into_bytes().to_vec()
    });
    FetchAnswer {
        error: ErrorCode::NONE,
        diverging: None,
        high_watermark: Offset(11),
        log_start: Offset(1),
        records: bytes.collect::<Vec<_>>().concat().into(),
    }
}

fn outputs(replica: &mut Replica) -> Vec<Output> {
    std::iter::from_fn(|| replica.poll_output()).collect()
}

fn give(replica: &mut Replica, answer: FetchAnswer) -> Result<Fetched, FetchedError> {
    let asked = replica.next_fetch().unwrap();
    replica.fetched(&asked, answer)
}

#[test]
fn records_of_the_epoch_asked_in_are_appended() {
    let mut replica = follower();
    let fetched = give(&mut replica, answer(&[(10, 4), (11, 7), (12, 8)]));
    let Ok(Fetched::Append(replication)) = fetched else {
        panic!("{fetched:?}");
    };
    replica.replicated(replication).unwrap();
    let (high, start) = (
        Output::HighWatermark(Offset(11)),
        Output::DeleteBefore(Offset(1)),
    );
    assert_eq!(outputs(&mut replica), [high, start]);
    let next = replica.next_fetch().unwrap();
    assert_eq!(next.offset, Offset(12));
    assert_eq!(next.last_fetched_epoch, Some(LeaderEpoch(7)));
}

#[test]
fn what_does_not_continue_the_log_is_refused() {
    for batches in [
        &[(9, 4)][..],
        &[(10, 3)],
        &[(10, 5), (11, 4)],
        &[(10, 4), (10, 4)],
    ] {
        let mut replica = follower();
        assert!(give(&mut replica, answer(batches)).is_err(), "{batches:?}");
        assert_eq!(outputs(&mut replica), []);
    }
    let mut damaged = answer(&[(10, 4)]);
    let mut bytes = damaged.records.to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    damaged.records = bytes.into();
    assert!(give(&mut follower(), damaged).is_err());
}

#[test]
fn a_log_that_parts_is_cut() {
    for (epoch, end, cut) in [(4, 8, 8), (4, 12, 10), (3, 7, 5), (2, 3, 3), (1, 2, 0)] {
        let mut replica = follower();
        let mut diverging = answer(&[]);
        diverging.diverging = Some(EpochEnd {
            epoch: LeaderEpoch(epoch),
            end: Offset(end),
        });
        let fetched = give(&mut replica, diverging).unwrap();
        assert_eq!(replica.log().end(), Offset(cut), "{epoch} {end}");
        match fetched {
            Fetched::Retry(_) => assert_eq!(cut, 10),
            Fetched::Cut {
                below_high_watermark: below,
            } => assert_eq!(below, cut < 6),
            other => panic!("{other:?}"),
        }
        assert_eq!(outputs(&mut replica)[0], Output::Truncate(Offset(cut)));
    }
}

#[test]
fn out_of_range_asks_the_leader_where_its_log_is() {
    let cases = [
        (0, 8, 8, Some(Output::Truncate(Offset(8)))),
        (20, 30, 20, Some(Output::Restart(Offset(20)))),
        (0, 30, 10, None),
    ];
    for (start, end, next, output) in cases {
        let mut replica = follower();
        let asked = replica.next_fetch().unwrap();
        let mut out_of_range = answer(&[]);
        out_of_range.error = ErrorCode::OFFSET_OUT_OF_RANGE;
        let fetched = replica.fetched(&asked, out_of_range).unwrap();
        assert!(matches!(fetched, Fetched::AskOffsets));
        assert_eq!(replica.next_fetch(), None);
        let (start, end) = (Offset(start), Offset(end));
        replica.leader_offsets(&asked, Ok(LeaderOffsets { start, end }));
        assert_eq!(outputs(&mut replica).into_iter().next(), output);
        assert_eq!(replica.next_fetch().unwrap().offset, Offset(next));
    }
}

#[test]
fn a_fenced_follower_waits_for_the_metadata() {
    let mut replica = follower();
    let mut fenced = answer(&[]);
    fenced.error = ErrorCode::FENCED_LEADER_EPOCH;
    assert!(matches!(
        give(&mut replica, fenced),
        Ok(Fetched::AwaitMetadata)
    ));
    assert_eq!(replica.next_fetch(), None);
}

/// The cut is within a batch, which goes as a whole.
#[test]
fn a_log_may_end_before_the_cut() {
    let mut replica = follower();
    let diverging = FetchAnswer {
        diverging: Some(EpochEnd {
            epoch: LeaderEpoch(4),
            end: Offset(8),
        }),
        ..answer(&[])
    };
    give(&mut replica, diverging).unwrap();
    let cut = [Output::Truncate(Offset(8)), Output::RebuildProducers];
    assert_eq!(outputs(&mut replica), cut);
    replica.set_producers(Producers::new(Offset(7)));
    replica.truncated(Offset(7));
    assert_eq!(outputs(&mut replica), [Output::Truncate(Offset(7))]);
    replica.truncated(Offset(7));
    assert_eq!(outputs(&mut replica), []);
    assert_eq!(replica.next_fetch().unwrap().offset, Offset(7));
}
