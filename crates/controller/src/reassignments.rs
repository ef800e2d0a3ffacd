//! Moving partitions to other brokers (KIP-455): begin, cancel, list.

use std::collections::{BTreeMap, BTreeSet};

use klamm_metadata::{LeaderRecoveryState, Partition, Place, Replicas, Topic};
use klamm_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, ReassignablePartition,
    ReassignablePartitionResponse, ReassignableTopicResponse,
};
use klamm_protocol::messages::list_partition_reassignments::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment, OngoingTopicReassignment,
};
use klamm_protocol::{BrokerId, ErrorCode, PartitionIndex};

use crate::assignment::chosen;
use crate::refusal::Refusal;
use crate::{Decision, ElectionKind, View, WantedChange, Why};

#[cfg(test)]
mod tests;

/// Begins, replaces and cancels reassignments, each partition on its own. Who may alter the cluster
/// may ask for it.
pub fn alter_partition_reassignments(
    view: &View<'_>,
    request: &AlterPartitionReassignmentsRequest,
) -> Decision<AlterPartitionReassignmentsResponse> {
    let mut decision = Decision::answer(AlterPartitionReassignmentsResponse {
        allow_replication_factor_change: request.allow_replication_factor_change,
        // The schema's default is an empty text.
        error_message: None,
        ..Default::default()
    });
    let mut seen = BTreeSet::new();
    for asked in &request.topics {
        let topic = view.image().topics().by_name(&asked.name);
        let partitions = asked.partitions.iter().map(|partition| {
            let index = PartitionIndex(partition.partition_index);
            let altered = match topic {
                _ if !seen.insert((&*asked.name, index)) => {
                    let text = format!("partition {index} is named more than once");
                    Err(Refusal::new(ErrorCode::INVALID_REQUEST, text))
                }
                Some(topic) => alter(view, topic, partition, request, &mut decision),
                None => {
                    let text = format!("there is no topic {}", asked.name);
                    Err(Refusal::new(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, text))
                }
            };
            let refusal = altered.err();
            ReassignablePartitionResponse {
                partition_index: index.0,
                error_code: refusal.as_ref().map_or(0, |refusal| refusal.code.0),
                error_message: refusal.map(|refusal| (&*refusal.text).into()),
                ..Default::default()
            }
        });
        let partitions = partitions.collect();
        decision.response.responses.push(ReassignableTopicResponse {
            name: asked.name.clone(),
            partitions,
            ..Default::default()
        });
    }
    decision
}

fn alter<R>(
    view: &View<'_>,
    topic: &Topic,
    asked: &ReassignablePartition,
    request: &AlterPartitionReassignmentsRequest,
    decision: &mut Decision<R>,
) -> Result<(), Refusal> {
    let place = Place {
        topic: topic.id(),
        index: PartitionIndex(asked.partition_index),
    };
    let partition = topic.partition(place.index).ok_or_else(|| {
        let text = format!("topic {} has no partition {}", topic.name(), place.index);
        Refusal::new(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, text)
    })?;
    let wanted = match &asked.replicas {
        None => cancelled(view, topic, place, partition)?,
        Some(target) => {
            let target = chosen(view, target, None)?;
            if !request.allow_replication_factor_change {
                check_factor(partition, &target)?;
            }
            begun(view, topic, place, partition, &target)
        }
    };
    let change = wanted.build(
        |broker| view.is_live(partition, broker),
        |broker| view.default_dir(broker),
    );
    if let Some(change) = change {
        decision.change(place, partition, change, Why::Reassignment);
    }
    Ok(())
}

/// The assignment becomes the target and behind it what is to be removed. To be added is what the
/// partition did not have before any reassignment.
fn begun<'a>(
    view: &View<'_>,
    topic: &Topic,
    place: Place,
    partition: &'a Partition,
    target: &Replicas,
) -> WantedChange<'a> {
    let sorted = |brokers: Replicas| {
        let mut brokers = brokers.to_vec();
        brokers.sort_unstable();
        brokers.into_iter().collect::<Replicas>()
    };
    let original = original(partition);
    let adding = sorted(target.filtered(|broker| !original.contains(&broker)));
    let removing = sorted(
        partition
            .replicas()
            .filtered(|broker| !target.contains(&broker)),
    );
    let replicas: Replicas = target.iter().chain(removing.iter()).copied().collect();
    let kind = match view.automatic(topic, partition) {
        ElectionKind::Unclean => ElectionKind::Online,
        kind => kind,
    };
    let rules = view.rules(topic, kind);
    WantedChange::new(place, partition, rules).assignment(replicas, removing, adding)
}

/// The assignment becomes what it was before the reassignment. Where only added replicas are in sync,
/// that loses records.
fn cancelled<'a>(
    view: &View<'_>,
    topic: &Topic,
    place: Place,
    partition: &'a Partition,
) -> Result<WantedChange<'a>, Refusal> {
    if !partition.is_reassigning() {
        let text = "the partition is not being reassigned";
        return Err(Refusal::new(ErrorCode::NO_REASSIGNMENT_IN_PROGRESS, text));
    }
    let replicas = original(partition);
    let isr = partition
        .isr()
        .filtered(|broker| replicas.contains(&broker));
    let unclean = view.allows_unclean_elections(topic);
    let kind = view.automatic(topic, partition);
    let wanted = WantedChange::new(place, partition, view.rules(topic, kind));
    let first = replicas.first().copied();
    let loses_records = isr.is_empty() && !partition.isr().is_empty();
    let wanted = wanted.assignment(replicas, Replicas::NONE, Replicas::NONE);
    match first {
        _ if !loses_records => Ok(wanted.isr(isr)),
        Some(first) if unclean => Ok(wanted
            .isr(first.into())
            .recovery(LeaderRecoveryState::Recovering)),
        _ => {
            let text = "only replicas that the reassignment adds are in sync; to cancel it now needs \
                        an unclean election, which the topic does not allow";
            Err(Refusal::new(ErrorCode::INVALID_REPLICA_ASSIGNMENT, text))
        }
    }
}

/// The replicas before the reassignment.
fn original(partition: &Partition) -> Replicas {
    let adding = partition.adding();
    partition
        .replicas()
        .filtered(|broker| !adding.contains(&broker))
}

fn check_factor(partition: &Partition, target: &Replicas) -> Result<(), Refusal> {
    let stays = |broker: BrokerId| !partition.removing().contains(&broker);
    let (now, then) = (partition.replicas().filtered(stays).len(), target.len());
    if now == then {
        return Ok(());
    }
    let text = format!("the replication factor would change from {now} to {then}");
    Err(Refusal::new(ErrorCode::INVALID_REPLICATION_FACTOR, text))
}

/// The reassignments under way, of the partitions that the request names or of all.
pub fn list_partition_reassignments(
    view: &View<'_>,
    request: &ListPartitionReassignmentsRequest,
) -> ListPartitionReassignmentsResponse {
    let topics = view.image().topics();
    let mut listed: BTreeMap<&str, Vec<OngoingPartitionReassignment>> = BTreeMap::new();
    match &request.topics {
        None => {
            for (place, partition) in topics.reassigning() {
                if let Some(topic) = topics.by_id(place.topic) {
                    let ongoing = ongoing(place.index, partition);
                    listed.entry(topic.name()).or_default().push(ongoing);
                }
            }
        }
        Some(asked) => {
            for asked in asked {
                let Some(topic) = topics.by_name(&asked.name) else {
                    continue;
                };
                let named = asked.partition_indexes.iter().copied().map(PartitionIndex);
                let found = named.filter_map(|index| Some((index, topic.partition(index)?)));
                let found = found.filter(|(_, partition)| partition.is_reassigning());
                for (index, partition) in found {
                    listed
                        .entry(topic.name())
                        .or_default()
                        .push(ongoing(index, partition));
                }
            }
        }
    }
    let topics = listed
        .into_iter()
        .map(|(name, partitions)| OngoingTopicReassignment {
            name: name.into(),
            partitions,
            ..Default::default()
        });
    ListPartitionReassignmentsResponse {
        error_message: None,
        topics: topics.collect(),
        ..Default::default()
    }
}

fn ongoing(index: PartitionIndex, partition: &Partition) -> OngoingPartitionReassignment {
    OngoingPartitionReassignment {
        partition_index: index.0,
        replicas: partition.replicas().to_wire(),
        adding_replicas: partition.adding().to_wire(),
        removing_replicas: partition.removing().to_wire(),
        ..Default::default()
    }
}
