//! What must be true of a run, whatever was done to the cluster.

mod leaders;
mod offsets;
mod reads;
mod records;

use thiserror::Error;

use crate::load::Sent;
use crate::reader::Read;
use crate::record::Id;
use crate::witness::{End, Seen, Told};

/// All that was seen of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// By producer and partition, in the order of their numbers.
    pub(crate) sent: Vec<Vec<Vec<Sent>>>,
    /// What a consumer read all along.
    pub(crate) along: Read,
    /// What is there at the end.
    pub(crate) there: Read,
    /// What brokers said of leaders, each in the order in which it said so.
    pub(crate) told: Vec<Told>,
    /// What leaders said of the ends of logs.
    pub(crate) seen: Vec<Seen>,
}

/// What is not as it must be.
#[derive(Clone, Debug, PartialEq, Error)]
pub(crate) enum Fault {
    #[error("{0} was acknowledged, and is lost")]
    Lost(Id),
    #[error("{0} is there twice, at the offsets {1} and {2}")]
    Doubled(Id, i64, i64),
    #[error("{0} is at offset {1}, after number {2}")]
    OutOfOrder(Id, i64, usize),
    #[error("{0} is at offset {1}, and was acknowledged at {2}")]
    Misplaced(Id, i64, i64),
    #[error("{0} is at offset {1}, and its producer says that it is not there: {2}")]
    Denied(Id, i64, String),
    #[error("what is at offset {1} of partition {0} is no record that was sent to it")]
    Alien(usize, i64),
    #[error("{reader}: after offset {before} of partition {partition} comes {offset}")]
    Jump {
        reader: &'static str,
        partition: usize,
        before: i64,
        offset: i64,
    },
    #[error("{0}: {1}")]
    Complaint(&'static str, String),
    #[error(
        "at offset {offset} of partition {partition} {} was read, and {} is there at the end",
        named(.read), named(.there)
    )]
    Changed {
        partition: usize,
        offset: i64,
        read: Option<Id>,
        there: Option<Id>,
    },
    #[error("the {} of {now} after {before}", back_text(*.end))]
    Back { end: End, before: Seen, now: Seen },
    #[error("{0}, and the log ends at {1}")]
    Beyond(Seen, i64),
    #[error("broker {broker} said that partition {partition} is in epoch {now} after {before}")]
    EpochBack {
        broker: u32,
        partition: usize,
        before: i32,
        now: i32,
    },
    #[error("in epoch {epoch} partition {partition} is led by {one} and by {other}")]
    TwoLeaders {
        partition: usize,
        epoch: i32,
        one: i32,
        other: i32,
    },
    #[error("the replicas of partition {partition} are unlike at byte {at}, with {lens:?} bytes")]
    Unlike {
        partition: usize,
        at: usize,
        lens: Vec<usize>,
    },
    #[error("{0}")]
    Other(String),
}

fn back_text(end: End) -> &'static str {
    match end {
        End::HighWatermark => "high watermark went back:",
        End::Log => "end of the log went back:",
    }
}

fn named(id: &Option<Id>) -> String {
    id.map_or_else(|| "no record".to_owned(), |id| id.to_string())
}

/// All faults of a history.
pub(crate) fn faults(history: &History) -> Vec<Fault> {
    let mut faults = Vec::new();
    records::check(history, &mut faults);
    reads::check(history, &mut faults);
    offsets::check(history, &mut faults);
    leaders::check(history, &mut faults);
    faults
}

/// A history without faults, to be doctored.
#[cfg(test)]
fn sound() -> History {
    use std::time::Duration;

    use crate::load::Outcome;
    use crate::record::Placed;

    let ms = Duration::from_millis;
    let sent = |outcome| Sent {
        took: ms(1),
        outcome,
    };
    let placed = |offset, producer, number| Placed {
        offset,
        id: Some(Id {
            producer,
            partition: 0,
            number,
        }),
    };
    let there = Read {
        records: vec![vec![
            placed(0, 0, 0),
            placed(1, 1, 0),
            placed(2, 0, 2),
            placed(3, 1, 1),
        ]],
        complaints: Vec::new(),
    };
    let seen = |broker, epoch, end, offset, at| Seen {
        broker,
        partition: 0,
        epoch,
        end,
        offset,
        asked: ms(at),
        answered: ms(at + 5),
    };
    let told = |broker, epoch, leader| Told {
        broker,
        partition: 0,
        epoch,
        leader,
    };
    let history = History {
        sent: vec![
            vec![vec![
                sent(Outcome::Acked(Some(0))),
                sent(Outcome::Denied("no".to_owned())),
                sent(Outcome::Acked(None)),
                sent(Outcome::Unknown),
            ]],
            vec![vec![sent(Outcome::Acked(Some(1))), sent(Outcome::Unknown)]],
        ],
        along: Read {
            records: vec![there.records[0][..3].to_vec()],
            complaints: Vec::new(),
        },
        there,
        told: vec![
            told(1, 0, 1),
            told(2, 0, 1),
            told(2, 1, 2),
            told(1, 1, 2),
            told(3, 1, 2),
        ],
        seen: vec![
            seen(1, 0, End::HighWatermark, 1, 10),
            seen(1, 0, End::Log, 3, 10),
            seen(2, 1, End::HighWatermark, 2, 20),
            // The log of a new leader may be shorter.
            seen(2, 1, End::Log, 2, 20),
            // The leader before it does not know yet.
            seen(1, 0, End::HighWatermark, 1, 30),
            seen(2, 1, End::HighWatermark, 4, 40),
        ],
    };
    assert_eq!(faults(&history), []);
    history
}
