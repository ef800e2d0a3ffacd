use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use klamm_metadata::{Partition, Place, Topic};
use klamm_protocol::messages::elect_leaders::{
    ElectLeadersRequest, ElectLeadersResponse, PartitionResult, ReplicaElectionResult,
};
use klamm_protocol::{ErrorCode, PartitionIndex};

use crate::{ChangeRules, Decision, ElectionKind, Now, View, WantedChange, Why};

#[cfg(test)]
mod tests;

/// A request to elect leaders (KIP-183, KIP-460).
#[derive(Clone, Copy, Debug)]
pub struct ElectLeaders<'a> {
    /// The request.
    pub request: &'a ElectLeadersRequest,
    /// Its version.
    pub version: i16,
    /// Whether the client may alter the cluster.
    pub authorized: bool,
    /// When it arrived.
    pub arrived: Now,
}

/// What a client may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Preferred,
    Unclean,
}

impl ElectLeaders<'_> {
    /// Decides every partition on its own: what cannot be elected does not hold up the others.
    pub fn decide(&self, view: &View<'_>, now: Now) -> Decision<ElectLeadersResponse> {
        if !self.authorized {
            let text = "the client may not ALTER the cluster";
            return self.refuse(ErrorCode::CLUSTER_AUTHORIZATION_FAILED, Some(text));
        }
        let timeout_ms = u64::try_from(self.request.timeout_ms).unwrap_or(0);
        if self.arrived.after(Duration::from_millis(timeout_ms)) <= now {
            return self.refuse(ErrorCode::REQUEST_TIMED_OUT, None);
        }
        let Some(wanted) = self.wanted() else {
            let text = format!("there is no election type {}", self.request.election_type);
            return self.refuse(ErrorCode::INVALID_REQUEST, Some(&text));
        };
        let mut decision = Decision::answer(ElectLeadersResponse::default());
        let results = match self.request.topic_partitions {
            Some(_) => self.elect_listed(view, wanted, &mut decision),
            None => elect_all(view, wanted, &mut decision),
        };
        decision.response.replica_election_results = results;
        decision
    }

    /// The election type; version 0 has none and means preferred.
    fn wanted(&self) -> Option<Wanted> {
        match (self.version, self.request.election_type) {
            (0, _) | (_, 0) => Some(Wanted::Preferred),
            (_, 1) => Some(Wanted::Unclean),
            _ => None,
        }
    }

    fn refuse(&self, code: ErrorCode, text: Option<&str>) -> Decision<ElectLeadersResponse> {
        Decision::answer(Self::refused(self.request, self.version, code, text))
    }

    /// The answer to a request that is refused as a whole: one error for all, which version 0 has no
    /// room for, and one for each listed partition.
    pub fn refused(
        request: &ElectLeadersRequest,
        version: i16,
        code: ErrorCode,
        text: Option<&str>,
    ) -> ElectLeadersResponse {
        let listed = request.topic_partitions.iter().flatten();
        let results = listed.map(|topic| ReplicaElectionResult {
            topic: topic.topic.clone(),
            partition_result: topic
                .partitions
                .iter()
                .map(|index| result(PartitionIndex(*index), code, text))
                .collect(),
            ..Default::default()
        });
        ElectLeadersResponse {
            error_code: if version == 0 { 0 } else { code.0 },
            replica_election_results: results.collect(),
            ..Default::default()
        }
    }

    fn elect_listed<R>(
        &self,
        view: &View<'_>,
        wanted: Wanted,
        decision: &mut Decision<R>,
    ) -> Vec<ReplicaElectionResult> {
        let listed = self.request.topic_partitions.as_deref().unwrap_or_default();
        let mut mentions: BTreeMap<&str, usize> = BTreeMap::new();
        for topic in listed {
            *mentions.entry(&topic.topic).or_default() += 1;
        }
        let mut results = Vec::with_capacity(listed.len());
        for asked in listed {
            let name = &*asked.topic;
            let topic = view.image().topics().by_name(name);
            let ballot = topic.map(|topic| Ballot::new(view, topic, wanted));
            let (unique, repeated) = split_repeated(&asked.partitions);
            let partition_result = unique.into_iter().map(|index| {
                let invalid = |what: &str| {
                    let text = format!("{what} is named more than once");
                    result(index, ErrorCode::INVALID_REQUEST, Some(&text))
                };
                if mentions[name] > 1 {
                    return invalid(&format!("topic {name}"));
                }
                if repeated.contains(&index) {
                    return invalid(&format!("partition {index} of topic {name}"));
                }
                match &ballot {
                    Some(ballot) => ballot.elect(index, decision),
                    None => {
                        let text = format!("there is no topic {name}");
                        result(index, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, Some(&text))
                    }
                }
            });
            results.push(ReplicaElectionResult {
                topic: asked.topic.clone(),
                partition_result: partition_result.collect(),
                ..Default::default()
            });
        }
        results
    }
}

/// Every partition of every topic; those that need no election are left out of the answer.
fn elect_all<R>(
    view: &View<'_>,
    wanted: Wanted,
    decision: &mut Decision<R>,
) -> Vec<ReplicaElectionResult> {
    let topics = view.image().topics().iter_by_name();
    let results = topics.map(|topic| {
        let ballot = Ballot::new(view, topic, wanted);
        let needed = topic
            .partitions()
            .filter(|(_, partition)| is_needed(partition, wanted));
        let results = needed.map(|(index, _)| ballot.elect(index, decision));
        ReplicaElectionResult {
            topic: topic.name().into(),
            partition_result: results.collect(),
            ..Default::default()
        }
    });
    results.collect()
}

/// The elections of one topic's partitions.
struct Ballot<'a> {
    view: &'a View<'a>,
    topic: &'a Topic,
    wanted: Wanted,
    rules: ChangeRules,
    why: Why,
}

impl<'a> Ballot<'a> {
    fn new(view: &'a View<'a>, topic: &'a Topic, wanted: Wanted) -> Self {
        let (kind, why) = match wanted {
            Wanted::Preferred => (ElectionKind::Preferred, Why::PreferredRequested),
            Wanted::Unclean => (ElectionKind::Unclean, Why::UncleanRequested),
        };
        Self {
            rules: view.rules(topic, kind),
            view,
            topic,
            wanted,
            why,
        }
    }

    fn elect<R>(&self, index: PartitionIndex, decision: &mut Decision<R>) -> PartitionResult {
        let Some(partition) = self.topic.partition(index) else {
            let text = format!("topic {} has no partition {index}", self.topic.name());
            return result(index, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, Some(&text));
        };
        if !is_needed(partition, self.wanted) {
            let text = match self.wanted {
                Wanted::Preferred => "the preferred leader leads already",
                Wanted::Unclean => "the partition has a leader",
            };
            return result(index, ErrorCode::ELECTION_NOT_NEEDED, Some(text));
        }
        let place = Place {
            topic: self.topic.id(),
            index,
        };
        let change = WantedChange::new(place, partition, self.rules).build(
            |broker| self.view.is_live(partition, broker),
            |broker| self.view.default_dir(broker),
        );
        match change {
            Some(change) => {
                decision.change(place, partition, change, self.why);
                result(index, ErrorCode::NONE, None)
            }
            None if self.wanted == Wanted::Preferred => {
                let text = "the preferred leader is not alive and in sync";
                result(index, ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE, Some(text))
            }
            None => {
                let text = "no replica is alive";
                result(index, ErrorCode::ELIGIBLE_LEADERS_NOT_AVAILABLE, Some(text))
            }
        }
    }
}

fn is_needed(partition: &Partition, wanted: Wanted) -> bool {
    match wanted {
        Wanted::Preferred => partition.preferred_leader() != Some(partition.leader()),
        Wanted::Unclean => partition.leader().known().is_none(),
    }
}

/// The partitions in the order in which they are first named, and those named more than once.
fn split_repeated(listed: &[i32]) -> (Vec<PartitionIndex>, BTreeSet<PartitionIndex>) {
    let mut seen = BTreeSet::new();
    let listed = listed.iter().copied().map(PartitionIndex);
    let (unique, repeated): (Vec<_>, Vec<_>) = listed.partition(|index| seen.insert(*index));
    (unique, repeated.into_iter().collect())
}

fn result(index: PartitionIndex, code: ErrorCode, text: Option<&str>) -> PartitionResult {
    PartitionResult {
        partition_id: index.0,
        error_code: code.0,
        error_message: text.map(Into::into),
        ..Default::default()
    }
}
