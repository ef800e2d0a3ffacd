//! Of what leaders say of the ends of logs: they do not go back.

use std::collections::BTreeMap;

use super::{Fault, History};
use crate::witness::{End, Seen};

pub(super) fn check(history: &History, faults: &mut Vec<Fault>) {
    let mut by_log: BTreeMap<(usize, End), Vec<Seen>> = BTreeMap::new();
    for seen in &history.seen {
        by_log
            .entry((seen.partition, seen.end))
            .or_default()
            .push(*seen);
    }
    for ((partition, end), seen) in &mut by_log {
        seen.sort_by_key(|seen| seen.answered);
        for (at, now) in seen.iter().enumerate() {
            // An answer that came before the question was asked.
            let earlier = seen[..at]
                .iter()
                .filter(|before| before.answered <= now.asked);
            let earlier = earlier.filter(|before| match end {
                // What is committed stays so: whoever leads later knows it. A leader of an earlier
                // epoch that is not aware of a later one knows less.
                End::HighWatermark => before.epoch <= now.epoch,
                // A leader never cuts its own log.
                End::Log => before.epoch == now.epoch,
            });
            let most = earlier.max_by_key(|before| before.offset);
            if let Some(before) = most.filter(|before| before.offset > now.offset) {
                faults.push(Fault::Back {
                    end: *end,
                    before: *before,
                    now: *now,
                });
            }
        }
        let last = history.there.records.get(*partition);
        let last = last.and_then(|records| records.last());
        let log_end = last.map_or(0, |placed| placed.offset + 1);
        if let Some(beyond) = seen.iter().find(|seen| seen.offset > log_end)
            && *end == End::HighWatermark
        {
            faults.push(Fault::Beyond(*beyond, log_end));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{faults, sound};
    use super::*;

    fn found(doctor: impl FnOnce(&mut Vec<Seen>)) -> Vec<Fault> {
        let mut history = sound();
        doctor(&mut history.seen);
        faults(&history)
    }

    fn back(end: End, before: Seen, now: Seen) -> Fault {
        Fault::Back { end, before, now }
    }

    #[test]
    fn a_high_watermark_that_goes_back_is_found() {
        let seen = sound().seen;
        let mut now = seen[0];
        (now.offset, now.asked, now.answered) =
            (0, Duration::from_millis(50), Duration::from_millis(55));
        // In its own epoch, and in a later one.
        let in_epoch = found(|seen| seen.push(now));
        assert_eq!(in_epoch, [back(End::HighWatermark, seen[4], now)]);
        (now.broker, now.epoch, now.offset) = (2, 1, 3);
        let in_later = found(|seen| seen.push(now));
        assert_eq!(in_later, [back(End::HighWatermark, seen[5], now)]);
    }

    #[test]
    fn answers_on_their_way_at_the_same_time_may_cross() {
        let crossed = found(|seen| {
            let mut now = seen[5];
            now.offset = 3;
            now.answered += Duration::from_millis(1);
            seen.push(now);
        });
        assert_eq!(crossed, []);
    }

    #[test]
    fn a_log_that_is_cut_by_its_leader_is_found() {
        let seen = sound().seen;
        let mut now = seen[1];
        (now.offset, now.asked, now.answered) =
            (2, Duration::from_millis(50), Duration::from_millis(55));
        let cut = found(|seen| seen.push(now));
        assert_eq!(cut, [back(End::Log, seen[1], now)]);
    }

    #[test]
    fn a_high_watermark_beyond_the_log_is_found() {
        let mut beyond = sound().seen[5];
        beyond.offset = 5;
        let beyond_end = found(|seen| seen[5] = beyond);
        assert_eq!(beyond_end, [Fault::Beyond(beyond, 4)]);
    }
}
