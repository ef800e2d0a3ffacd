//! What a node is in the quorum. A node that is not a voter is an observer: it is `Unattached` or a
//! `Follower`, never has an election timeout and so never votes for itself.

mod leader;
mod votes;

use std::time::Duration;

use klamm_protocol::BrokerId;

pub(crate) use self::leader::{Fetch, Leader, Parked, Replica};
pub(crate) use self::votes::Votes;
use crate::{Endpoints, OffsetAndEpoch, ReplicaKey};

/// The states of KIP-595, with those of KIP-996.
#[derive(Debug)]
pub(crate) enum Role {
    Unattached(Unattached),
    Prospective(Prospective),
    Candidate(Candidate),
    Leader(Box<Leader>),
    Follower(Follower),
    Resigned(Resigned),
}

/// The node knows an epoch, and waits to hear from its leader or for an election. Having voted is
/// a part of this state.
#[derive(Debug)]
pub(crate) struct Unattached {
    /// The epoch's leader, where it is known but not how to reach it.
    pub(crate) leader: Option<BrokerId>,
    pub(crate) voted: Option<ReplicaKey>,
    /// When to start an election; `None` for an observer.
    pub(crate) election_at: Option<Duration>,
}

/// The node asks whether it would be elected, and leaves everybody's epoch alone (KIP-996).
#[derive(Debug)]
pub(crate) struct Prospective {
    pub(crate) leader: Option<BrokerId>,
    pub(crate) endpoints: Endpoints,
    pub(crate) voted: Option<ReplicaKey>,
    pub(crate) votes: Votes,
    pub(crate) election_at: Duration,
}

/// The node has begun an epoch and asks for votes.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) votes: Votes,
    pub(crate) election_at: Duration,
    /// How many elections it has tried in a row, this one included.
    pub(crate) retries: u32,
    /// The election is lost: when to try again.
    pub(crate) backoff_until: Option<Duration>,
}

/// The node fetches from the leader.
#[derive(Debug)]
pub(crate) struct Follower {
    pub(crate) leader: BrokerId,
    pub(crate) endpoints: Endpoints,
    pub(crate) voted: Option<ReplicaKey>,
    /// When a voter that has got no answer from the leader starts an election.
    pub(crate) fetch_until: Duration,
    /// Whether the leader has answered a Fetch in this epoch: then there is no need for another.
    pub(crate) has_fetched: bool,
    /// The snapshot that is fetched instead of records, and how many bytes of it there are.
    pub(crate) snapshot: Option<(OffsetAndEpoch, u64)>,
}

/// The node has led this epoch and does not any more.
#[derive(Debug)]
pub(crate) struct Resigned {
    /// Whom to tell so still.
    pub(crate) untold: Vec<BrokerId>,
    /// Who should be elected, best first.
    pub(crate) successors: Vec<ReplicaKey>,
    pub(crate) election_at: Duration,
}

impl Role {
    /// The epoch's leader. A leader that resigned is still that, since there is no other.
    pub(crate) fn leader(&self, local: BrokerId) -> Option<BrokerId> {
        match self {
            Self::Unattached(role) => role.leader,
            Self::Prospective(role) => role.leader,
            Self::Candidate(_) => None,
            Self::Leader(_) | Self::Resigned(_) => Some(local),
            Self::Follower(role) => Some(role.leader),
        }
    }

    /// Whom the node voted for in this epoch. A leader's own vote is no matter any more, and Apache
    /// Kafka does not write it down.
    pub(crate) fn voted(&self, local: ReplicaKey) -> Option<ReplicaKey> {
        match self {
            Self::Unattached(role) => role.voted,
            Self::Prospective(role) => role.voted,
            Self::Follower(role) => role.voted,
            Self::Candidate(_) => Some(local),
            Self::Leader(_) | Self::Resigned(_) => None,
        }
    }

    /// Whether a replica gets this node's vote, or would get it.
    pub(crate) fn grants(&self, candidate: ReplicaKey, pre_vote: bool, up_to_date: bool) -> bool {
        let (leader, voted) = match self {
            Self::Leader(_) => return false,
            Self::Follower(role) => return pre_vote && up_to_date && !role.has_fetched,
            Self::Candidate(_) | Self::Resigned(_) => return pre_vote && up_to_date,
            Self::Unattached(role) => (role.leader, role.voted),
            Self::Prospective(role) => (role.leader, role.voted),
        };
        match voted {
            _ if pre_vote => up_to_date,
            Some(voted) => voted.stands_for(candidate),
            None => leader.is_none() && up_to_date,
        }
    }
}
