use std::collections::BTreeMap;
use std::time::Duration;

use klamm_protocol::BrokerId;
use klamm_raft::AppendId;

use super::mail::Mail;
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
    Mail(Mail),
    Alarm(Alarm),
    Propose,
    Crash,
    Partition,
    Resign,
    Snapshot,
    /// The client asks for something.
    Client,
    /// The producer writes a record.
    Produce,
    /// A broker's connections are reset.
    Reset,
    /// A broker is asked to stop.
    Stop,
    /// A log directory fails.
    DirectoryFails,
}

/// Somebody looks at the clock.
#[derive(Clone, Copy, Debug)]
pub(super) enum Alarm {
    Controller { node: BrokerId, life: u64 },
    Broker { node: BrokerId, life: u64 },
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
