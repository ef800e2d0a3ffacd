use std::collections::BTreeMap;
use std::time::Duration;

use klamm_protocol::BrokerId;
use klamm_raft::AppendId;

use super::network::Delivery;

/// What happens at some time. `life` counts a node's starts: what belongs to an earlier one is void.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Start(BrokerId),
    Tick {
        node: BrokerId,
        life: u64,
    },
    Flushed {
        node: BrokerId,
        life: u64,
        append: AppendId,
    },
    Deliver(Delivery),
    Propose,
    Crash,
    Partition,
    Resign,
    Snapshot,
}

/// Events in the order of their times; those of one time in the order they were put in.
#[derive(Debug, Default)]
pub(super) struct Queue {
    events: BTreeMap<(Duration, u64), Event>,
    next: u64,
}

impl Queue {
    pub(super) fn push(&mut self, at: Duration, event: Event) {
        self.events.insert((at, self.next), event);
        self.next += 1;
    }

    /// The next event, unless it is after `end`.
    pub(super) fn pop_until(&mut self, end: Duration) -> Option<(Duration, Event)> {
        let first = self.events.first_entry()?;
        if first.key().0 > end {
            return None;
        }
        let ((at, _), event) = first.remove_entry();
        Some((at, event))
    }
}
