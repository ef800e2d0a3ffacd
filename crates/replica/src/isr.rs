use klamm_metadata::{BrokerEpoch, LeaderRecoveryState, Replicas};
use klamm_protocol::{BrokerId, LeaderEpoch, PartitionEpoch};

/// The machine's name for a proposal; a later one is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProposalId(pub u64);

/// An ISR that a leader wants: what it sends in AlterPartition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedIsr {
    /// The proposal's name. One sent again has the same.
    pub id: ProposalId,
    /// How often it was sent already: the caller waits before it sends a second time.
    pub attempt: u32,
    /// The leader's epoch.
    pub leader_epoch: LeaderEpoch,
    /// The state that the proposal changes.
    pub partition_epoch: PartitionEpoch,
    /// Who is to be in sync. A leader has recovered when it asks for an ISR.
    pub isr: Vec<IsrMember>,
}

/// A broker in a proposed ISR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsrMember {
    /// Which.
    pub broker: BrokerId,
    /// The epoch it fetched with. `None` (-1 on the wire) where it has not fetched, and for this
    /// broker, whose epoch the caller knows.
    pub epoch: Option<BrokerEpoch>,
}

/// What the controller answers to a proposal that it has carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedIsr {
    /// The leader epoch.
    pub leader_epoch: LeaderEpoch,
    /// The partition's new epoch; the old one if nothing changed.
    pub partition_epoch: PartitionEpoch,
    /// Who is in sync.
    pub isr: Replicas,
    /// Whether the leader counts as recovered.
    pub recovery: LeaderRecoveryState,
}

/// A leader's ISR: what the controller has committed, and what was asked of it since.
#[derive(Clone, Debug)]
pub(crate) struct Isr {
    committed: Replicas,
    pending: Option<Pending>,
}

#[derive(Clone, Debug)]
struct Pending {
    proposal: ProposedIsr,
    joins: Option<BrokerId>,
}

impl Isr {
    pub(crate) fn new(committed: Replicas) -> Self {
        Self {
            committed,
            pending: None,
        }
    }

    pub(crate) fn committed(&self) -> &Replicas {
        &self.committed
    }

    /// Whether a replica counts for the high watermark. One that is to join counts before the
    /// controller has agreed, and one that is to leave until it has: that is the safe side.
    pub(crate) fn is_maximal_member(&self, broker: BrokerId) -> bool {
        self.committed.contains(&broker) || self.joining() == Some(broker)
    }

    pub(crate) fn maximal_len(&self) -> usize {
        self.committed.len() + usize::from(self.joining().is_some())
    }

    fn joining(&self) -> Option<BrokerId> {
        self.pending.as_ref().and_then(|pending| pending.joins)
    }

    /// Whether a proposal waits for its answer, so that no other may be made.
    pub(crate) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    pub(crate) fn propose(&mut self, proposal: ProposedIsr, joins: Option<BrokerId>) {
        self.pending = Some(Pending { proposal, joins });
    }

    /// The proposal with this name, if it is the one that waits.
    pub(crate) fn pending(&mut self, id: ProposalId) -> Option<&mut ProposedIsr> {
        let pending = self.pending.as_mut();
        pending
            .map(|pending| &mut pending.proposal)
            .filter(|proposal| proposal.id == id)
    }

    /// Takes back the proposal, which the controller has not carried out for certain.
    pub(crate) fn withdraw(&mut self) {
        self.pending = None;
    }
}
