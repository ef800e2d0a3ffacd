//! Who led what, and who was there, from the drill's beginning to its end.

use std::collections::BTreeMap;
use std::time::Duration;

use klamm_client::BrokerId;

use super::seen::Seen;

/// The most changes that are kept; a drill that sees more keeps the first.
const MOST_CHANGES: usize = 20_000;

/// Something that is not as it was at the look before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A broker came into service, or left it.
    Broker { id: BrokerId, is_there: bool },
    /// A partition has another leader, or none.
    Leader {
        partition: usize,
        before: Option<BrokerId>,
        leader: Option<BrokerId>,
    },
    /// Of so many partitions replicas are out of sync.
    OutOfSync { before: usize, now: usize },
}

/// What is not as it was, brokers first.
pub(super) fn changes(before: &Seen, now: &Seen) -> Vec<Change> {
    let broker = |id: &BrokerId, is_there| Change::Broker { id: *id, is_there };
    let gone = before.brokers.difference(&now.brokers);
    let come = now.brokers.difference(&before.brokers);
    let mut changes: Vec<Change> = gone.map(|id| broker(id, false)).collect();
    changes.extend(come.map(|id| broker(id, true)));
    for (partition, led) in now.led.iter().enumerate() {
        let before = before.led.get(partition).and_then(|led| led.leader);
        if before != led.leader {
            changes.push(Change::Leader {
                partition,
                before,
                leader: led.leader,
            });
        }
    }
    let out_of_sync = |seen: &Seen| seen.led.iter().filter(|led| !led.is_in_sync()).count();
    let (before, now) = (out_of_sync(before), out_of_sync(now));
    if before != now {
        changes.push(Change::OutOfSync { before, now });
    }
    changes
}

/// All changes of brokers and leaders, by whom they are about, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct History {
    /// When a broker came, and when it left.
    pub(super) brokers: BTreeMap<BrokerId, Vec<(Duration, bool)>>,
    /// Who led a partition from when on. A new topic's partitions begin with their first leaders.
    pub(super) partitions: Vec<Vec<(Duration, Option<BrokerId>)>>,
    count: usize,
}

impl History {
    pub(super) fn note(&mut self, at: Duration, change: &Change) {
        if self.count == MOST_CHANGES {
            return;
        }
        match *change {
            Change::Broker { id, is_there } => {
                self.brokers.entry(id).or_default().push((at, is_there));
            }
            Change::Leader {
                partition, leader, ..
            } => {
                if self.partitions.len() <= partition {
                    self.partitions.resize(partition + 1, Vec::new());
                }
                let leaders = &mut self.partitions[partition];
                if leader.is_none() && leaders.is_empty() {
                    return;
                }
                leaders.push((at, leader));
            }
            Change::OutOfSync { .. } => return,
        }
        self.count += 1;
    }

    /// Whether more happened than is kept.
    pub(super) fn is_cut(&self) -> bool {
        self.count == MOST_CHANGES
    }

    /// Whether a partition had another leader, or none, after a time.
    pub(super) fn is_disturbed(&self, partition: usize, after: Duration) -> bool {
        let leaders = self.partitions.get(partition);
        leaders.is_some_and(|leaders| leaders.iter().any(|(at, _)| *at > after))
    }

    /// When a partition had no leader, as spans of time; the last may go on until the end.
    pub(super) fn gaps(
        &self,
        partition: usize,
        end: Duration,
    ) -> impl Iterator<Item = (Duration, Duration)> {
        let leaders = self
            .partitions
            .get(partition)
            .map_or(&[][..], Vec::as_slice);
        spans(leaders, end)
            .filter_map(|(from, until, leader)| leader.is_none().then_some((from, until)))
    }
}

/// What was so from when until when.
pub(super) fn spans<T: Copy>(
    changes: &[(Duration, T)],
    end: Duration,
) -> impl Iterator<Item = (Duration, Duration, T)> {
    let next = changes.iter().skip(1).map(|(at, _)| *at).chain([end]);
    changes
        .iter()
        .zip(next)
        .map(|(&(from, what), until)| (from, until, what))
}

#[cfg(test)]
mod tests {
    use super::super::seen::testing::seen;
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn brokers_and_leaders_that_change() {
        let looks = [
            seen(0, &[1, 2, 3], &[(-1, 0, 3), (2, 0, 3)]),
            seen(10, &[1, 2, 3], &[(1, 1, 3), (2, 0, 3)]),
            seen(20, &[2, 3], &[(-1, 2, 2), (2, 0, 2)]),
            seen(50, &[2, 3], &[(3, 3, 2), (2, 0, 2)]),
            seen(90, &[1, 2, 3], &[(1, 4, 3), (2, 0, 3)]),
        ];
        let mut history = History::default();
        let mut before = Seen::default();
        let mut all = Vec::new();
        for look in looks {
            let changed = changes(&before, &look);
            for change in &changed {
                history.note(look.at, change);
            }
            all.push(changed);
            before = look;
        }
        let one = BrokerId(1);
        let left = [
            Change::Broker {
                id: one,
                is_there: false,
            },
            Change::Leader {
                partition: 0,
                before: Some(one),
                leader: None,
            },
            Change::OutOfSync { before: 0, now: 2 },
        ];
        assert_eq!(all[2], left);
        assert_eq!(
            history.brokers[&one],
            [(ms(0), true), (ms(20), false), (ms(90), true)]
        );
        assert_eq!(
            history.gaps(0, ms(99)).collect::<Vec<_>>(),
            [(ms(20), ms(50))]
        );
        assert_eq!(history.gaps(1, ms(99)).count(), 0);
        assert!(history.is_disturbed(0, ms(15)) && !history.is_disturbed(1, ms(15)));
        // A gap that nothing ends is one until the end.
        history.note(
            ms(95),
            &Change::Leader {
                partition: 1,
                before: None,
                leader: None,
            },
        );
        assert_eq!(
            history.gaps(1, ms(99)).collect::<Vec<_>>(),
            [(ms(95), ms(99))]
        );
    }

    #[test]
    fn a_history_ends_somewhere() {
        let mut history = History::default();
        for n in 0..MOST_CHANGES as u64 + 5 {
            let is_there = n % 2 == 0;
            history.note(
                ms(n),
                &Change::Broker {
                    id: BrokerId(1),
                    is_there,
                },
            );
        }
        assert!(history.is_cut());
        assert_eq!(history.brokers[&BrokerId(1)].len(), MOST_CHANGES);
    }
}
