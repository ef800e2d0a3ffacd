//! Of every record that was sent: it is there once where it was acknowledged, and in order.

use std::collections::BTreeMap;

use super::{Fault, History};
use crate::load::Outcome;
use crate::record::Id;

pub(super) fn check(history: &History, faults: &mut Vec<Fault>) {
    for (partition, records) in history.there.records.iter().enumerate() {
        let mut found: BTreeMap<Id, i64> = BTreeMap::new();
        let mut last: BTreeMap<usize, usize> = BTreeMap::new();
        for placed in records {
            let id = placed.id.filter(|id| is_sent(history, partition, *id));
            let Some(id) = id else {
                faults.push(Fault::Alien(partition, placed.offset));
                continue;
            };
            if let Some(first) = found.get(&id) {
                faults.push(Fault::Doubled(id, *first, placed.offset));
                continue;
            }
            found.insert(id, placed.offset);
            match last.get(&id.producer) {
                Some(last) if *last > id.number => {
                    faults.push(Fault::OutOfOrder(id, placed.offset, *last));
                }
                _ => {
                    last.insert(id.producer, id.number);
                }
            }
        }
        acknowledged(history, partition, &found, faults);
    }
}

fn is_sent(history: &History, partition: usize, id: Id) -> bool {
    let sent = history.sent.get(id.producer);
    let sent = sent.and_then(|sent| sent.get(partition));
    id.partition == partition && sent.is_some_and(|sent| id.number < sent.len())
}

/// What producers said of the records of a partition is so.
fn acknowledged(
    history: &History,
    partition: usize,
    found: &BTreeMap<Id, i64>,
    faults: &mut Vec<Fault>,
) {
    for (producer, sent) in history.sent.iter().enumerate() {
        for (number, sent) in sent[partition].iter().enumerate() {
            let id = Id {
                producer,
                partition,
                number,
            };
            let fault = match (&sent.outcome, found.get(&id)) {
                (Outcome::Acked(_), None) => Fault::Lost(id),
                (Outcome::Acked(Some(told)), Some(at)) if told != at => {
                    Fault::Misplaced(id, *at, *told)
                }
                (Outcome::Denied(why), Some(at)) => Fault::Denied(id, *at, why.clone()),
                _ => continue,
            };
            faults.push(fault);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{faults, sound};
    use super::*;

    fn id(producer: usize, number: usize) -> Id {
        Id {
            producer,
            partition: 0,
            number,
        }
    }

    /// The faults when something is done to what is there, also to what was read all along.
    fn found(doctor: impl FnOnce(&mut History)) -> Vec<Fault> {
        let mut history = sound();
        doctor(&mut history);
        history.along.records = history.there.records.clone();
        faults(&history)
    }

    #[test]
    fn what_is_lost_is_found() {
        let lost = found(|history| {
            history.there.records[0].remove(2);
            history.there.records[0][2].offset = 2;
            history.seen.pop();
        });
        assert_eq!(lost, [Fault::Lost(id(0, 2))]);
        // One that nobody promised may be missing.
        let unknown = found(|history| {
            history.there.records[0].pop();
            history.seen.pop();
        });
        assert_eq!(unknown, []);
    }

    #[test]
    fn what_is_there_twice_is_found() {
        let doubled = found(|history| {
            let mut again = history.there.records[0][2];
            again.offset = 4;
            history.there.records[0].push(again);
        });
        assert_eq!(doubled, [Fault::Doubled(id(0, 2), 2, 4)]);
    }

    #[test]
    fn what_is_out_of_order_is_found() {
        let swapped = found(|history| {
            let records = &mut history.there.records[0];
            (records[0].id, records[2].id) = (records[2].id, records[0].id);
        });
        let expected = [
            Fault::OutOfOrder(id(0, 0), 2, 2),
            Fault::Misplaced(id(0, 0), 2, 0),
        ];
        assert_eq!(swapped, expected);
    }

    #[test]
    fn what_was_denied_is_found() {
        let denied = found(|history| {
            let mut record = history.there.records[0][0];
            record.id.as_mut().unwrap().number = 1;
            // It is before number 2, so that its order is right.
            let records = &mut history.there.records[0];
            records.insert(1, record);
            for (offset, record) in records.iter_mut().enumerate() {
                record.offset = offset as i64;
            }
            history.sent[1][0][0].outcome = Outcome::Acked(None);
        });
        assert_eq!(denied, [Fault::Denied(id(0, 1), 1, "no".to_owned())]);
    }

    #[test]
    fn what_nobody_sent_is_found() {
        let damaged = found(|history| history.there.records[0][3].id = None);
        assert_eq!(damaged, [Fault::Alien(0, 3)]);
        let of_another = found(|history| {
            history.there.records[0][3].id.as_mut().unwrap().partition = 1;
        });
        assert_eq!(of_another, [Fault::Alien(0, 3)]);
        let beyond = found(|history| {
            history.there.records[0][3].id.as_mut().unwrap().number = 2;
        });
        assert_eq!(beyond, [Fault::Alien(0, 3)]);
    }
}
