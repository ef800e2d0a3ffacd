use std::collections::BTreeSet;

use klamm_metadata::{Broker, Place, Topic};
use klamm_protocol::messages::assign_replicas_to_dirs::{
    AssignReplicasToDirsRequest, AssignReplicasToDirsResponse, ResponseDirectoryData,
    ResponsePartitionData, ResponseTopicData,
};
use klamm_protocol::{BrokerId, ErrorCode, PartitionIndex, Uuid};

use crate::{Decision, ElectionKind, View, WantedChange, Why};

#[cfg(test)]
mod tests;

/// Notes the log directories in which a broker has its replicas (KIP-858). A replica in a directory
/// that is offline leaves the ISR.
pub fn assign_replicas_to_dirs(
    view: &View<'_>,
    request: &AssignReplicasToDirsRequest,
) -> Decision<AssignReplicasToDirsResponse> {
    let refuse = |error: ErrorCode| {
        Decision::answer(AssignReplicasToDirsResponse {
            error_code: error.0,
            ..Default::default()
        })
    };
    if !view.metadata_version().allows_directory_assignment() {
        return refuse(ErrorCode::UNSUPPORTED_VERSION);
    }
    let broker = view.image().cluster().broker(BrokerId(request.broker_id));
    let Some(broker) = broker.filter(|broker| broker.epoch.0 == request.broker_epoch) else {
        return refuse(ErrorCode::STALE_BROKER_EPOCH);
    };
    let mut decision = Decision::answer(AssignReplicasToDirsResponse::default());
    let mut seen = BTreeSet::new();
    for directory in &request.directories {
        let mut topics = Vec::with_capacity(directory.topics.len());
        for asked in &directory.topics {
            let topic = view.image().topics().by_id(asked.topic_id);
            let partitions = asked.partitions.iter().map(|partition| {
                let index = PartitionIndex(partition.partition_index);
                let assigned = match topic {
                    // A replica is in one directory only.
                    _ if !seen.insert((asked.topic_id, index)) => Err(ErrorCode::INVALID_REQUEST),
                    Some(topic) => assign(view, broker, topic, index, directory.id, &mut decision),
                    None => Err(ErrorCode::UNKNOWN_TOPIC_ID),
                };
                ResponsePartitionData {
                    partition_index: index.0,
                    error_code: assigned.err().unwrap_or_default().0,
                    ..Default::default()
                }
            });
            topics.push(ResponseTopicData {
                topic_id: asked.topic_id,
                partitions: partitions.collect(),
                ..Default::default()
            });
        }
        decision.response.directories.push(ResponseDirectoryData {
            id: directory.id,
            topics,
            ..Default::default()
        });
    }
    decision
}

fn assign<R>(
    view: &View<'_>,
    broker: &Broker,
    topic: &Topic,
    index: PartitionIndex,
    directory: Uuid,
    decision: &mut Decision<R>,
) -> Result<(), ErrorCode> {
    let place = Place {
        topic: topic.id(),
        index,
    };
    let partition = topic
        .partition(index)
        .ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
    if !partition.replicas().contains(&broker.id) {
        return Err(ErrorCode::NOT_LEADER_OR_FOLLOWER);
    }
    let is_online = broker.has_online_dir(directory);
    let kind = match view.automatic(topic, partition) {
        ElectionKind::Unclean if is_online => ElectionKind::Online,
        kind => kind,
    };
    let wanted = WantedChange::new(place, partition, view.rules(topic, kind));
    let wanted = wanted.directory(broker.id, directory);
    let wanted = match is_online {
        true => wanted,
        false => wanted.isr(partition.isr().filtered(|member| member != broker.id)),
    };
    let change = wanted.build(
        // By the directory that it has until now: where that has failed, what it has in another may be
        // less, and it is not for being there that it leads.
        |candidate| view.is_live(partition, candidate) && (is_online || candidate != broker.id),
        |broker| view.default_dir(broker),
    );
    if let Some(change) = change {
        decision.change(place, partition, change, Why::DirectoryAssigned);
    }
    Ok(())
}
