//! Of what was read: offsets go up one by one, and what was once read is there at the end.

use super::{Fault, History};
use crate::reader::Read;
use crate::record::Placed;

pub(super) fn check(history: &History, faults: &mut Vec<Fault>) {
    steady("the reader of all along", &history.along, faults);
    steady("the last reader", &history.there, faults);
    let partitions = history.along.records.iter().zip(&history.there.records);
    for (partition, (along, there)) in partitions.enumerate() {
        for Placed { offset, id } in along {
            let at = usize::try_from(*offset).ok().and_then(|at| there.get(at));
            let now = at.and_then(|placed| placed.id);
            if at.is_none() || now != *id {
                faults.push(Fault::Changed {
                    partition,
                    offset: *offset,
                    read: *id,
                    there: now,
                });
            }
        }
    }
}

/// Nothing is compacted away, and nobody has transactions: offsets have no gaps.
fn steady(reader: &'static str, read: &Read, faults: &mut Vec<Fault>) {
    let complaints = read.complaints.iter();
    faults.extend(complaints.map(|text| Fault::Complaint(reader, text.clone())));
    for (partition, records) in read.records.iter().enumerate() {
        let mut before = -1;
        for Placed { offset, .. } in records {
            if *offset != before + 1 {
                faults.push(Fault::Jump {
                    reader,
                    partition,
                    before,
                    offset: *offset,
                });
            }
            before = *offset;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{faults, sound};
    use super::*;

    fn found(doctor: impl FnOnce(&mut History)) -> Vec<Fault> {
        let mut history = sound();
        doctor(&mut history);
        faults(&history)
    }

    fn jump(before: i64, offset: i64) -> Fault {
        Fault::Jump {
            reader: "the reader of all along",
            partition: 0,
            before,
            offset,
        }
    }

    #[test]
    fn offsets_that_jump_are_found() {
        let skipped = found(|history| {
            history.along.records[0].remove(1);
        });
        assert_eq!(skipped, [jump(0, 2)]);
        let back = found(|history| {
            let again = history.along.records[0][1];
            history.along.records[0].push(again);
        });
        assert_eq!(back, [jump(2, 1)]);
    }

    #[test]
    fn what_was_read_and_is_another_is_found() {
        let changed = found(|history| history.along.records[0][1].id = None);
        let expected = |offset, there| Fault::Changed {
            partition: 0,
            offset,
            read: None,
            there,
        };
        assert_eq!(changed, [expected(1, sound().there.records[0][1].id)]);
        // What was read is beyond the end of the log.
        let gone = found(|history| {
            let mut record = history.along.records[0][2];
            for offset in 3..=4 {
                record.offset = offset;
                record.id = history.there.records[0]
                    .get(offset as usize)
                    .and_then(|it| it.id);
                history.along.records[0].push(record);
            }
        });
        assert_eq!(gone, [expected(4, None)]);
    }

    #[test]
    fn complaints_count() {
        let said = found(|history| history.there.complaints.push("truncated".to_owned()));
        assert_eq!(
            said,
            [Fault::Complaint("the last reader", "truncated".to_owned())]
        );
    }
}
