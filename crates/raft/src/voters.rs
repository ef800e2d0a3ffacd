use std::collections::BTreeMap;

use klamm_protocol::data::clients::VotersRecord;
use klamm_protocol::data::clients::voters_record as wire;
use klamm_protocol::{BrokerId, VersionRange};

use crate::{Endpoint, Endpoints, ReplicaKey};

/// A member of the quorum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voter {
    /// The node and, with dynamic voters, its directory.
    pub key: ReplicaKey,
    /// Where it listens for other controllers.
    pub endpoints: Endpoints,
    /// The levels of `kraft.version` that it supports.
    pub kraft_versions: VersionRange,
}

/// The members of the quorum, by node id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VoterSet {
    by_id: BTreeMap<BrokerId, Voter>,
}

impl VoterSet {
    /// The set that a record in the log describes.
    pub fn from_record(record: &VotersRecord) -> Self {
        let voter = |voter: &wire::Voter| Voter {
            key: ReplicaKey::new(BrokerId(voter.voter_id), voter.voter_directory_id),
            endpoints: voter
                .endpoints
                .iter()
                .map(|endpoint| {
                    let host = endpoint.host.to_string();
                    let port = endpoint.port;
                    (endpoint.name.to_string(), Endpoint { host, port })
                })
                .collect(),
            kraft_versions: VersionRange::new(
                voter.k_raft_version_feature.min_supported_version,
                voter.k_raft_version_feature.max_supported_version,
            ),
        };
        record.voters.iter().map(voter).collect()
    }

    /// The record that describes the set.
    pub fn to_record(&self) -> VotersRecord {
        let endpoint = |(name, endpoint): (&str, &Endpoint)| wire::Endpoint {
            name: name.into(),
            host: endpoint.host.as_str().into(),
            port: endpoint.port,
            ..wire::Endpoint::default()
        };
        let voter = |voter: &Voter| wire::Voter {
            voter_id: voter.key.id.0,
            voter_directory_id: voter.key.directory_or_zero(),
            endpoints: voter.endpoints.iter().map(endpoint).collect(),
            k_raft_version_feature: wire::KRaftVersionFeature {
                min_supported_version: voter.kraft_versions.min,
                max_supported_version: voter.kraft_versions.max,
                ..wire::KRaftVersionFeature::default()
            },
            ..wire::Voter::default()
        };
        VotersRecord {
            version: 0,
            voters: self.iter().map(voter).collect(),
            ..VotersRecord::default()
        }
    }

    /// The voter with a node id.
    pub fn voter(&self, id: BrokerId) -> Option<&Voter> {
        self.by_id.get(&id)
    }

    /// Whether a replica is a voter: same node and, where the set knows it, same directory.
    pub fn contains(&self, replica: ReplicaKey) -> bool {
        self.voter(replica.id)
            .is_some_and(|voter| voter.key.stands_for(replica))
    }

    /// Whether a replica is the only voter.
    pub fn is_only(&self, replica: ReplicaKey) -> bool {
        self.len() == 1 && self.contains(replica)
    }

    /// The voters in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Voter> {
        self.by_id.values()
    }

    /// How many voters there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there is no voter.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Where a voter listens; nothing for another node.
    pub(crate) fn endpoints(&self, id: BrokerId) -> Endpoints {
        self.voter(id)
            .map(|voter| voter.endpoints.clone())
            .unwrap_or_default()
    }

    /// The set with a voter put in, or put in the place of the one with its id.
    pub(crate) fn with(&self, voter: Voter) -> Self {
        let mut voters = self.clone();
        voters.by_id.insert(voter.key.id, voter);
        voters
    }
}

impl FromIterator<Voter> for VoterSet {
    fn from_iter<I: IntoIterator<Item = Voter>>(iter: I) -> Self {
        let by_id = iter.into_iter().map(|voter| (voter.key.id, voter));
        Self {
            by_id: by_id.collect(),
        }
    }
}
