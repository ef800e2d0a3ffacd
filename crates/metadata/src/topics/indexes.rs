use std::collections::BTreeMap;

use klamm_protocol::BrokerId;

use super::places::Places;
use crate::{Partition, Place};

/// Which partitions are in a state that somebody asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Indexes {
    /// Where a broker is a replica, in the ISR, in the ELR or the leader. Each of these is asked for
    /// with this one index: nearly every entry is a replica in sync.
    pub(super) by_broker: BTreeMap<BrokerId, Places>,
    /// How many partitions there are.
    pub(super) partitions: usize,
    pub(super) leaderless: Places,
    pub(super) off_preferred: Places,
    pub(super) reassigning: Places,
}

impl Indexes {
    /// Where the broker is a member.
    pub(super) fn of_broker(&self, broker: BrokerId) -> Option<&Places> {
        self.by_broker.get(&broker)
    }

    /// A partition has changed from `old` to `new`.
    pub(super) fn replace(
        &mut self,
        place: Place,
        old: Option<&Partition>,
        new: Option<&Partition>,
    ) {
        self.partitions = self.partitions + usize::from(new.is_some()) - usize::from(old.is_some());
        // Most changes keep the members; their entries stay untouched.
        let lost = |a: Option<&Partition>, b: Option<&Partition>| -> Vec<BrokerId> {
            let is_in_b = |broker| b.is_some_and(|b| b.members().any(|member| member == broker));
            let members = a.into_iter().flat_map(Partition::members);
            members.filter(|broker| !is_in_b(*broker)).collect()
        };
        for broker in lost(old, new) {
            if let Some(places) = self.by_broker.get_mut(&broker) {
                places.remove(place);
                if places.is_empty() {
                    self.by_broker.remove(&broker);
                }
            }
        }
        for broker in lost(new, old) {
            self.by_broker.entry(broker).or_default().insert(place);
        }
        let keep = |set: &mut Places, is_in: fn(&Partition) -> bool| match (
            old.is_some_and(is_in),
            new.is_some_and(is_in),
        ) {
            (false, true) => set.insert(place),
            (true, false) => set.remove(place),
            _ => {}
        };
        keep(&mut self.leaderless, |p| p.leader().known().is_none());
        keep(&mut self.off_preferred, |p| {
            p.preferred_leader().is_some_and(|b| b != p.leader())
        });
        keep(&mut self.reassigning, Partition::is_reassigning);
    }
}
