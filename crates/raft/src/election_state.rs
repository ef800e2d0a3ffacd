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
        let mut data = QuorumStateData {
            leader_id: self.leader.unwrap_or(BrokerId::NONE).0,
            leader_epoch: self.epoch.0,
            voted_id: self.voted.map_or(BrokerId::NONE, |key| key.id).0,
            voted_directory_id: directory.filter(|_| dynamic).unwrap_or(Uuid::ZERO),
            ..QuorumStateData::default()
        };
        if !dynamic {
            let ids = voters.iter().map(|voter| voter.key.id.0);
            let voter = |voter_id| Voter {
                voter_id,
                ..Voter::default()
            };
            data.current_voters = Some(ids.map(voter).collect());
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Endpoints, Voter};
    use klamm_protocol::VersionRange;

    #[test]
    fn each_version_keeps_what_it_has_room_for() {
        let directory = Uuid::from_bytes([7; 16]);
        let voter = |id| Voter {
            key: ReplicaKey::new(BrokerId(id), directory),
            endpoints: Endpoints::default(),
            kraft_versions: VersionRange::new(0, 1),
        };
        let voters: VoterSet = [1, 2, 3].map(voter).into_iter().collect();
        let state = ElectionState {
            epoch: LeaderEpoch(4),
            leader: Some(BrokerId(2)),
            voted: Some(ReplicaKey::new(BrokerId(2), directory)),
        };
        let data = state.to_data(KRaftVersion::DYNAMIC, &voters);
        klamm_protocol::encode(&data, 1).expect("it fits version 1");
        assert_eq!(ElectionState::from_data(&data), state);
        let data = state.to_data(KRaftVersion::STATIC, &voters);
        klamm_protocol::encode(&data, 0).expect("it fits version 0");
        let ids: Vec<i32> = data
            .current_voters
            .iter()
            .flatten()
            .map(|v| v.voter_id)
            .collect();
        assert_eq!(ids, [1, 2, 3]);
        let without_directory = ElectionState {
            voted: Some(ReplicaKey::new(BrokerId(2), Uuid::ZERO)),
            ..state
        };
        assert_eq!(ElectionState::from_data(&data), without_directory);
        let nobody = ElectionState::default();
        let data = nobody.to_data(KRaftVersion::DYNAMIC, &voters);
        assert_eq!((data.leader_id, data.voted_id), (-1, -1));
        assert_eq!(ElectionState::from_data(&data), nobody);
    }
}
