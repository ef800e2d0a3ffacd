use klamm_metadata::{Place, Record};
use klamm_protocol::{BrokerId, LeaderEpoch};

use crate::{Change, How};

/// What a handler decides: records to append, and what to answer once they are committed.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<R> {
    /// The records, in order. They take effect when they are applied to the image.
    pub records: Vec<Record>,
    /// Whether all records must take effect or none: a log that cannot take them in one batch puts
    /// them in a transaction.
    pub atomic: bool,
    /// The answer.
    pub response: R,
    /// Every change of a leader that the records bring, with its reason: for logs and metrics.
    pub leader_changes: Vec<LeaderChange>,
}

/// A change of a leader, or a new leader epoch of the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaderChange {
    /// The partition.
    pub place: Place,
    /// Who led; [`BrokerId::NONE`] for nobody.
    pub from: BrokerId,
    /// Who leads; [`BrokerId::NONE`] for nobody.
    pub to: BrokerId,
    /// The leader epoch from now on.
    pub epoch: LeaderEpoch,
    /// How the leader came to lead.
    pub how: How,
    /// Why there was an election.
    pub why: Why,
}

/// Why leaders change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// A client asked for the preferred leader.
    PreferredRequested,
    /// A client asked for an unclean election.
    UncleanRequested,
    /// A broker was not heard of for the length of a session.
    SessionTimedOut,
    /// A broker has lost its connections and did not come back.
    ConnectionLost,
    /// A broker asked to be fenced.
    FenceRequested,
    /// A broker hands over its partitions before it stops.
    ControlledShutdown,
    /// A broker has stopped.
    Stopped,
    /// A broker was unfenced: partitions without a leader may have one again.
    Unfenced,
    /// A new run of a broker that had stopped cleanly registered.
    NewIncarnation,
    /// A new run of a broker registered, and what it had not written to its disk may be lost.
    UncleanShutdown,
    /// A broker was unregistered.
    Unregistered,
    /// A log directory of a broker has failed.
    DirectoryFailed,
    /// A broker named the log directory of a replica.
    DirectoryAssigned,
    /// The controller gives the lead back to preferred leaders.
    Rebalance,
    /// The topic allows unclean elections, and the partition has no leader.
    UncleanAllowed,
    /// A leader changed the ISR: other brokers are to know at once where an old version needs it.
    IsrChanged,
    /// A reassignment was begun, has ended or was cancelled.
    Reassignment,
}

impl Why {
    /// Every reason.
    pub const ALL: [Self; 17] = [
        Self::PreferredRequested,
        Self::UncleanRequested,
        Self::SessionTimedOut,
        Self::ConnectionLost,
        Self::FenceRequested,
        Self::ControlledShutdown,
        Self::Stopped,
        Self::Unfenced,
        Self::NewIncarnation,
        Self::UncleanShutdown,
        Self::Unregistered,
        Self::DirectoryFailed,
        Self::DirectoryAssigned,
        Self::Rebalance,
        Self::UncleanAllowed,
        Self::IsrChanged,
        Self::Reassignment,
    ];

    /// A short name for logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::PreferredRequested => "preferred-requested",
            Self::UncleanRequested => "unclean-requested",
            Self::SessionTimedOut => "session-timed-out",
            Self::ConnectionLost => "connection-lost",
            Self::FenceRequested => "fence-requested",
            Self::ControlledShutdown => "controlled-shutdown",
            Self::Stopped => "stopped",
            Self::Unfenced => "unfenced",
            Self::NewIncarnation => "new-incarnation",
            Self::UncleanShutdown => "unclean-shutdown",
            Self::Unregistered => "unregistered",
            Self::DirectoryFailed => "directory-failed",
            Self::DirectoryAssigned => "directory-assigned",
            Self::Rebalance => "rebalance",
            Self::UncleanAllowed => "unclean-allowed",
            Self::IsrChanged => "isr-changed",
            Self::Reassignment => "reassignment",
        }
    }
}

impl<R> Decision<R> {
    /// A decision that changes nothing.
    pub fn answer(response: R) -> Self {
        Self {
            records: Vec::new(),
            atomic: false,
            response,
            leader_changes: Vec::new(),
        }
    }

    /// The same decision with another answer.
    pub(crate) fn map<S>(self, answer: impl FnOnce(R) -> S) -> Decision<S> {
        Decision {
            records: self.records,
            atomic: self.atomic,
            response: answer(self.response),
            leader_changes: self.leader_changes,
        }
    }

    /// Takes over what another decision has but its answer.
    pub(crate) fn absorb(&mut self, other: Decision<()>) {
        self.records.extend(other.records);
        self.leader_changes.extend(other.leader_changes);
    }

    /// Takes a partition's change into the decision.
    pub(crate) fn change(
        &mut self,
        place: Place,
        old: &klamm_metadata::Partition,
        change: Change,
        why: Why,
    ) {
        if change.record.leader != klamm_metadata::NO_LEADER_CHANGE {
            self.leader_changes.push(LeaderChange {
                place,
                from: old.leader(),
                to: change.election.leader,
                epoch: LeaderEpoch(old.leader_epoch().0.saturating_add(1)),
                how: change.election.how,
                why,
            });
        }
        self.records.push(change.record.into());
    }
}
