//! Of what brokers say of leaders: epochs go up, and have one leader each.

use std::collections::BTreeMap;

use super::{Fault, History};

pub(super) fn check(history: &History, faults: &mut Vec<Fault>) {
    let mut last: BTreeMap<(u32, usize), i32> = BTreeMap::new();
    let mut leaders: BTreeMap<(usize, i32), i32> = BTreeMap::new();
    for told in &history.told {
        let before = last.insert((told.broker, told.partition), told.epoch);
        if let Some(before) = before.filter(|before| *before > told.epoch) {
            faults.push(Fault::EpochBack {
                broker: told.broker,
                partition: told.partition,
                before,
                now: told.epoch,
            });
        }
    }
    let told = history
        .told
        .iter()
        .map(|told| (told.partition, told.epoch, told.leader));
    // A leader that gives an offset leads by its own account.
    let seen = history
        .seen
        .iter()
        .map(|seen| (seen.partition, seen.epoch, seen.broker as i32));
    for (partition, epoch, leader) in told.chain(seen) {
        if leader < 0 {
            continue;
        }
        let one = *leaders.entry((partition, epoch)).or_insert(leader);
        if one != leader {
            faults.push(Fault::TwoLeaders {
                partition,
                epoch,
                one,
                other: leader,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{faults, sound};
    use super::*;

    #[test]
    fn an_epoch_that_goes_back_is_found() {
        let mut history = sound();
        let first = history.told[0];
        history.told.push(first);
        let expected = Fault::EpochBack {
            broker: 1,
            partition: 0,
            before: 1,
            now: 0,
        };
        assert_eq!(faults(&history), [expected]);
    }

    #[test]
    fn two_leaders_of_an_epoch_are_found() {
        let expected = |other| Fault::TwoLeaders {
            partition: 0,
            epoch: 1,
            one: 2,
            other,
        };
        let mut history = sound();
        history.told.last_mut().unwrap().leader = 3;
        assert_eq!(faults(&history), [expected(3)]);
        let mut history = sound();
        history.seen[5].broker = 1;
        assert_eq!(faults(&history), [expected(1)]);
        // That a partition has no leader is said in any epoch.
        let mut history = sound();
        history.told.last_mut().unwrap().leader = -1;
        assert_eq!(faults(&history), []);
    }
}
