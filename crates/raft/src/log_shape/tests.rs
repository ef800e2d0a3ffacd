use super::*;

fn at(epoch: i32, offset: i64) -> OffsetAndEpoch {
    OffsetAndEpoch {
        epoch: LeaderEpoch(epoch),
        offset: Offset(offset),
    }
}

/// A log from the epochs of its records.
fn log(epochs: &[i32]) -> LogShape {
    let mut log = LogShape::new(Offset(0));
    for (offset, epoch) in (1..).zip(epochs) {
        log.append(LeaderEpoch(*epoch), Offset(offset));
    }
    log
}

#[test]
fn an_epoch_ends_where_the_next_one_begins() {
    let log = log(&[1, 1, 3, 3, 3, 6]);
    for (epoch, end) in [
        (0, at(0, 0)),
        (1, at(1, 2)),
        (2, at(1, 2)),
        (3, at(3, 5)),
        (5, at(3, 5)),
        (6, at(6, 6)),
        (9, at(6, 6)),
    ] {
        assert_eq!(log.end_of(LeaderEpoch(epoch)), end, "epoch {epoch}");
    }
}

#[test]
fn an_empty_log_that_continues_a_snapshot_has_its_epoch() {
    let mut log = LogShape::new(Offset(10));
    log.add_snapshot(at(4, 10), 7);
    assert_eq!(log.tip(), at(4, 10));
    log.append(LeaderEpoch(5), Offset(12));
    assert_eq!(log.end_of(LeaderEpoch(4)), at(4, 10));
    assert_eq!(log.locate(at(4, 10)), Position::Valid);
    assert_eq!(log.locate(at(3, 10)), Position::Snapshot(at(4, 10)));
    assert_eq!(log.locate(at(4, 9)), Position::Snapshot(at(4, 10)));
    assert_eq!(log.locate(at(5, 13)), Position::Diverging(at(5, 12)));
}

/// Two logs that were written by Raft: they agree up to a point and never have the same epoch with
/// different records after it. However long it takes, a follower must find that point.
#[test]
fn repeated_cuts_come_to_the_point_where_logs_part() {
    let logs: &[&[i32]] = &[
        &[],
        &[1],
        &[1, 1, 1],
        &[1, 2, 2],
        &[1, 1, 3],
        &[1, 2, 4, 4],
        &[1, 1, 3, 5],
        &[2, 2, 2, 6, 6, 6],
        &[1, 2, 2, 7],
    ];
    for leader in logs {
        for follower in logs {
            let common = leader.iter().zip(*follower).take_while(|(a, b)| a == b);
            let common = Offset(common.count() as i64);
            let (leader, mut cut) = (log(leader), log(follower));
            let mut rounds = 0;
            while let Position::Diverging(point) = leader.locate(cut.tip()) {
                let to = cut.cut_for(point);
                assert!(to < cut.end(), "{leader:?} {cut:?} {point}");
                cut.truncate(to);
                rounds += 1;
                assert!(rounds <= follower.len());
            }
            assert!(cut.end() >= common, "cut too much: {leader:?} {follower:?}");
            assert!(cut.end() <= leader.end());
        }
    }
}

#[test]
fn truncation_takes_durability_with_it() {
    let mut log = log(&[1, 1, 2]);
    log.all_flushed();
    assert_eq!(log.flushed(), Offset(3));
    log.append(LeaderEpoch(2), Offset(9));
    let cut = log.name_append();
    log.truncate(Offset(2));
    assert_eq!((log.flushed(), log.tip()), (Offset(2), at(1, 2)));
    log.append(LeaderEpoch(3), Offset(4));
    let kept = log.name_append();
    // News of the append that is gone, which must not count for the records in its place.
    log.flushed_append(cut);
    assert_eq!(log.flushed(), Offset(2));
    log.flushed_append(kept);
    assert!(log.is_flushed());
}

#[test]
fn a_trimmed_log_answers_as_before_from_its_snapshot_on() {
    let whole = log(&[1, 1, 3, 3, 3, 6]);
    for (epoch, offset) in [(1, 1), (1, 2), (3, 4), (3, 5), (6, 6)] {
        let id = at(epoch, offset);
        assert!(whole.is_place(id), "{id}");
        let mut trimmed = whole.clone();
        trimmed.add_snapshot(id, 7);
        trimmed.trim(id);
        assert_eq!(trimmed.tip(), whole.tip(), "{id}");
        assert_eq!(trimmed.start(), id.offset);
        for place in [(1, 1), (1, 2), (3, 3), (3, 4), (3, 5), (6, 6)].map(|(e, o)| at(e, o)) {
            let expected = match place < id {
                true => Position::Snapshot(id),
                false => Position::Valid,
            };
            assert_eq!(trimmed.locate(place), expected, "{place} after {id}");
        }
    }
    assert!(!whole.is_place(at(3, 2)));
    assert!(!whole.is_place(at(6, 7)));
}

#[test]
fn a_snapshot_takes_the_place_of_the_log() {
    let mut log = log(&[1, 1, 2]);
    log.append(LeaderEpoch(2), Offset(9));
    let before = log.name_append();
    log.restart(at(4, 20), 7);
    assert_eq!((log.start(), log.tip()), (Offset(20), at(4, 20)));
    log.append(LeaderEpoch(4), Offset(21));
    // News of what is gone says nothing of what came later.
    log.flushed_append(before);
    assert!(!log.is_flushed());
}
