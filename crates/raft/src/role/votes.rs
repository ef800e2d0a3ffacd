use std::collections::BTreeMap;

use klamm_protocol::BrokerId;

use crate::{ReplicaKey, VoterSet};

/// The votes of one election, as they come in.
#[derive(Debug)]
pub(crate) struct Votes {
    by_voter: BTreeMap<BrokerId, (ReplicaKey, Option<bool>)>,
}

impl Votes {
    /// An election among these voters, with the vote of `local` for itself.
    pub(crate) fn new(voters: &VoterSet, local: ReplicaKey) -> Self {
        let by_voter = voters.iter().map(|voter| {
            let is_local = voter.key.stands_for(local);
            (voter.key.id, (voter.key, is_local.then_some(true)))
        });
        Self {
            by_voter: by_voter.collect(),
        }
    }

    /// Notes a vote. A vote that was given stays, and strangers have none.
    pub(crate) fn record(&mut self, voter: BrokerId, granted: bool) {
        if let Some((_, vote)) = self.by_voter.get_mut(&voter) {
            vote.get_or_insert(granted);
        }
    }

    fn count(&self, kind: Option<bool>) -> usize {
        let votes = self.by_voter.values();
        votes.filter(|(_, vote)| *vote == kind).count()
    }

    fn majority(&self) -> usize {
        self.by_voter.len() / 2 + 1
    }

    /// Whether a majority is in favour.
    pub(crate) fn is_won(&self) -> bool {
        self.count(Some(true)) >= self.majority()
    }

    /// Whether a majority cannot come together any more.
    pub(crate) fn is_lost(&self) -> bool {
        self.count(Some(true)) + self.count(None) < self.majority()
    }

    /// Who has not voted.
    pub(crate) fn open(&self) -> Vec<ReplicaKey> {
        let votes = self.by_voter.values();
        votes
            .filter(|(_, vote)| vote.is_none())
            .map(|(key, _)| *key)
            .collect()
    }

    /// Who is in favour.
    pub(crate) fn granting(&self) -> Vec<ReplicaKey> {
        let votes = self.by_voter.values();
        votes
            .filter(|(_, vote)| *vote == Some(true))
            .map(|(key, _)| *key)
            .collect()
    }
}
