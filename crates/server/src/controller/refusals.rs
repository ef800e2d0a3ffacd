use std::collections::BTreeMap;
use std::time::Duration;

use klamm_protocol::{BrokerId, ErrorCode, Uuid};

/// Between two lines about the same refusal.
const PAUSE: Duration = Duration::from_secs(10);
/// Ids are the callers' to choose. Beyond so many, some refusals are told once more than they need be.
const MAX_BROKERS: usize = 1_000;

/// Refused registrations that were told of: a broker asks again several times a second, for as long as
/// it is refused.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    brokers: BTreeMap<BrokerId, Told>,
}

#[derive(Debug)]
struct Told {
    incarnation: Uuid,
    error: ErrorCode,
    at: Duration,
    /// How many like it have come since.
    untold: u64,
}

impl Refusals {
    /// A run of a broker is refused. Says whether that is to be told, and then how many refusals like
    /// it were not told since the last that was.
    pub(crate) fn refused(
        &mut self,
        broker: BrokerId,
        incarnation: Uuid,
        error: ErrorCode,
        now: Duration,
    ) -> Option<u64> {
        if self.brokers.len() >= MAX_BROKERS && !self.brokers.contains_key(&broker) {
            self.brokers.clear();
        }
        let known = self.brokers.get_mut(&broker);
        let same = known.filter(|told| (told.incarnation, told.error) == (incarnation, error));
        let untold = match same {
            Some(told) if now.saturating_sub(told.at) < PAUSE => {
                told.untold += 1;
                return None;
            }
            Some(told) => told.untold,
            None => 0,
        };
        let told = Told {
            incarnation,
            error,
            at: now,
            untold: 0,
        };
        self.brokers.insert(broker, told);
        Some(untold)
    }

    /// A broker is registered: its next refusal is news.
    pub(crate) fn registered(&mut self, broker: BrokerId) {
        self.brokers.remove(&broker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BROKER: BrokerId = BrokerId(1);
    const RUN: Uuid = Uuid::from_bytes([1; 16]);
    const DUPLICATE: ErrorCode = ErrorCode::DUPLICATE_BROKER_REGISTRATION;

    fn tenths(tenths: u64) -> Duration {
        Duration::from_millis(100 * tenths)
    }

    #[test]
    fn a_refusal_is_told_once_and_then_now_and_then() {
        let mut refusals = Refusals::default();
        let asked = (0..=200).map(|at| refusals.refused(BROKER, RUN, DUPLICATE, tenths(at)));
        let told: Vec<(usize, u64)> = asked
            .enumerate()
            .filter_map(|(at, told)| told.map(|untold| (at, untold)))
            .collect();
        assert_eq!(told, [(0, 0), (100, 99), (200, 99)]);
    }

    #[test]
    fn what_is_new_is_told_at_once() {
        let mut refusals = Refusals::default();
        let other_run = Uuid::from_bytes([2; 16]);
        let unsupported = ErrorCode::UNSUPPORTED_VERSION;
        let mut refused = |broker, run, error| refusals.refused(broker, run, error, tenths(0));
        assert_eq!(refused(BROKER, RUN, DUPLICATE), Some(0));
        assert_eq!(refused(BROKER, RUN, DUPLICATE), None);
        assert_eq!(refused(BrokerId(2), RUN, DUPLICATE), Some(0));
        assert_eq!(refused(BROKER, other_run, DUPLICATE), Some(0));
        assert_eq!(refused(BROKER, other_run, unsupported), Some(0));
        refusals.registered(BROKER);
        let again = refusals.refused(BROKER, other_run, unsupported, tenths(1));
        assert_eq!(again, Some(0));
    }

    #[test]
    fn callers_that_make_up_ids_fill_no_memory() {
        let mut refusals = Refusals::default();
        for id in 0..10_000 {
            let told = refusals.refused(BrokerId(id), RUN, DUPLICATE, tenths(0));
            assert_eq!(told, Some(0));
            assert!(refusals.brokers.len() <= MAX_BROKERS);
        }
    }
}
