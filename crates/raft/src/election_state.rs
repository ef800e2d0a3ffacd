use klamm_protocol::data::raft::QuorumStateData;
use klamm_protocol::data::raft::quorum_state_data::Voter;
use klamm_protocol::{BrokerId, LeaderEpoch, Uuid};

use crate::{KRaftVersion, ReplicaKey, VoterSet};

/// What a node must remember across a restart: the file `quorum-state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ElectionState {
    /// The latest epoch that the node has seen.
    pub epoch: LeaderEpoch,
    /// The leader of that epoch, once it is known.
    pub leader: Option<BrokerId>,
    /// Whom the node voted for in that epoch.
    pub voted: Option<ReplicaKey>,
}

impl ElectionState {
    /// Reads the content of the file, of either version.
    pub fn from_data(data: &QuorumStateData) -> Self {
        Self {
            epoch: LeaderEpoch(data.leader_epoch.max(0)),
            leader: BrokerId(data.leader_id).known(),
            voted: BrokerId(data.voted_id)
                .known()
                .map(|id| ReplicaKey::new(id, data.voted_directory_id)),
        }
    }

    /// The content of the file in the version that goes with `version`. Version 0 also lists the
    /// voters and has no directory id.
    pub fn to_data(self, version: KRaftVersion, voters: &VoterSet) -> QuorumStateData {
        let dynamic = version.has_dynamic_voters();
        let directory = self.voted.map(ReplicaKey::directory_or_zero);
        QuorumStateData {
            leader_id: self.leader.unwrap_or(BrokerId::NONE).0,
            leader_epoch: self.epoch.0,
            voted_id: self.voted.map_or(BrokerId::NONE, |key| key.id).0,
            voted_directory_id: directory.filter(|_| dynamic).unwrap_or(Uuid::ZERO),
            current_voters: (!dynamic).then(|| {
                let ids = voters.iter().map(|voter| voter.key.id.0);
                ids.map(|voter_id| Voter {
                    voter_id,
                    ..Voter::default()
                })
                .collect()
            }),
            ..QuorumStateData::default()
        }
    }
}
