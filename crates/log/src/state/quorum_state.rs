use klamm_protocol::{BrokerId, LeaderEpoch, Uuid};
use serde::{Deserialize, Serialize};

use super::unreadable;
use crate::error::LogError;
use crate::storage::Dir;

/// `quorum-state`: what a node must not forget about the elections of the metadata quorum (KIP-595,
/// KIP-853).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuorumState {
    /// The leader of the epoch, if it is known.
    pub leader_id: Option<BrokerId>,
    /// The newest epoch that the node knows.
    pub leader_epoch: LeaderEpoch,
    /// Whom it voted for in that epoch.
    pub voted: Option<Vote>,
    /// The voters, in files of version 0 (kraft.version 0) only: which version is written goes by it.
    pub static_voters: Option<Vec<BrokerId>>,
}

/// A vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vote {
    /// The candidate.
    pub id: BrokerId,
    /// Its metadata directory; unknown to version 0.
    pub directory_id: Option<Uuid>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Json {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cluster_id: Option<String>,
    leader_id: i32,
    leader_epoch: i32,
    voted_id: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    applied_offset: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    voted_directory_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    current_voters: Option<Vec<VoterJson>>,
    #[serde(rename = "data_version")]
    data_version: i16,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct VoterJson {
    voter_id: i32,
}

const NONE: i32 = -1;

impl QuorumState {
    /// The file's name.
    pub const FILE_NAME: &'static str = "quorum-state";

    /// Reads the file, if it is there.
    pub fn read(dir: &dyn Dir) -> Result<Option<Self>, LogError> {
        let Some(text) = super::read(dir, Self::FILE_NAME)? else {
            return Ok(None);
        };
        let wrong = |problem| unreadable(dir, Self::FILE_NAME, problem);
        let json: Json = serde_json::from_str(&text).map_err(|e| {
            wrong(format!(
                "{e}. Without it the node could vote twice in an epoch; restore it"
            ))
        })?;
        if !(0..=1).contains(&json.data_version) {
            let version = json.data_version;
            return Err(wrong(format!(
                "its data_version is {version}, klamm reads 0 and 1"
            )));
        }
        if json.leader_epoch < 0 {
            return Err(wrong(format!("leaderEpoch is {}", json.leader_epoch)));
        }
        let directory_id = match json.voted_directory_id.as_deref().map(str::parse::<Uuid>) {
            Some(Ok(id)) => Some(id).filter(|&id| id != Uuid::ZERO),
            Some(Err(e)) => return Err(wrong(format!("votedDirectoryId: {e}"))),
            None => None,
        };
        let voters = json.current_voters.filter(|_| json.data_version == 0);
        Ok(Some(Self {
            leader_id: BrokerId(json.leader_id).known(),
            leader_epoch: LeaderEpoch(json.leader_epoch),
            voted: BrokerId(json.voted_id)
                .known()
                .map(|id| Vote { id, directory_id }),
            static_voters: (json.data_version == 0).then(|| {
                let voters = voters.unwrap_or_default();
                voters
                    .iter()
                    .map(|voter| BrokerId(voter.voter_id))
                    .collect()
            }),
        }))
    }

    /// Writes the file. What depends on it may be sent when this returns.
    pub fn write(&self, dir: &dyn Dir) -> Result<(), LogError> {
        let is_static = self.static_voters.is_some();
        let vote = self.voted;
        let directory_id = vote
            .and_then(|vote| vote.directory_id)
            .unwrap_or(Uuid::ZERO);
        let voters = self.static_voters.as_deref().map(|voters| {
            let voters = voters.iter().map(|voter| VoterJson { voter_id: voter.0 });
            voters.collect()
        });
        let json = Json {
            cluster_id: is_static.then(String::new),
            leader_id: self.leader_id.map_or(NONE, |id| id.0),
            leader_epoch: self.leader_epoch.0,
            voted_id: vote.map_or(NONE, |vote| vote.id.0),
            applied_offset: is_static.then_some(0),
            voted_directory_id: (!is_static).then(|| directory_id.to_string()),
            current_voters: voters,
            data_version: if is_static { 0 } else { 1 },
        };
        let text = serde_json::to_string(&json).expect("numbers and texts are JSON");
        super::write(dir, Self::FILE_NAME, &text)
    }
}
