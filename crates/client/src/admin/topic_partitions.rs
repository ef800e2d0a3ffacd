use std::collections::BTreeMap;
use std::time::Duration;

use klamm_protocol::messages::describe_topic_partitions::{
    DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic, RequestCursor, TopicRequest,
};
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, PartitionIndex, SmallString};

use super::topics::left_out;
use super::{Admin, PartitionDescription, TopicDescription, TopicSelection};
use crate::ClientError;
use crate::call::{Call, Effect, Verdict};
use crate::client::Route;
use crate::error::ItemError;
use crate::types::broker_ids;

/// Options of [`Admin::describe_topic_partitions`].
#[derive(Clone, Debug)]
pub struct DescribeTopicPartitionsOptions {
    /// How long the call may take with all its pages, `default_api_timeout` if `None`.
    pub timeout: Option<Duration>,
    /// How many partitions a page has at most; the server may have a lower limit.
    pub partitions_per_page: i32,
}

impl Default for DescribeTopicPartitionsOptions {
    fn default() -> Self {
        // The schema's default, which is Apache's limit, too.
        Self {
            timeout: None,
            partitions_per_page: 2_000,
        }
    }
}

impl Admin {
    /// Describes topics with their eligible leader replicas (KIP-966), page by page. Kafka's own
    /// topics are included.
    pub async fn describe_topic_partitions(
        &self,
        topics: &TopicSelection,
        options: DescribeTopicPartitionsOptions,
    ) -> Result<BTreeMap<SmallString, Result<TopicDescription, ItemError>>, ClientError> {
        let mut names = match topics {
            TopicSelection::All => Vec::new(),
            // An empty list would stand for all topics.
            TopicSelection::Named(names) if names.is_empty() => return Ok(BTreeMap::new()),
            TopicSelection::Named(names) => names.clone(),
        };
        names.sort();
        names.dedup();
        let mut results = left_out(&names);
        let call = Call::new(Route::Any, Effect::Read, self.deadline(options.timeout));
        let mut cursor: Option<RequestCursor> = None;
        loop {
            // Pages are in order of topic name; those before the cursor's are done.
            if let Some(cursor) = &cursor {
                names.retain(|name| *name >= cursor.topic_name);
            }
            let wire: Vec<_> = names
                .iter()
                .map(|name| TopicRequest {
                    name: name.clone(),
                    ..Default::default()
                })
                .collect();
            let answer = call
                .make(
                    &self.client,
                    |_version, _timeout_ms| DescribeTopicPartitionsRequest {
                        topics: wire.clone(),
                        response_partition_limit: options.partitions_per_page,
                        cursor: cursor.clone(),
                        ..Default::default()
                    },
                    |_version, _response| Verdict::Take,
                )
                .await?;
            for topic in answer.response.topics {
                add(&mut results, topic);
            }
            let next = answer.response.next_cursor.map(|next| RequestCursor {
                topic_name: next.topic_name,
                partition_index: next.partition_index,
                ..Default::default()
            });
            // A cursor that does not advance would never end.
            if next.is_none() || !is_after(next.as_ref(), cursor.as_ref()) {
                return Ok(results);
            }
            cursor = next;
        }
    }
}

fn is_after(next: Option<&RequestCursor>, last: Option<&RequestCursor>) -> bool {
    let place = |cursor: &RequestCursor| (cursor.topic_name.clone(), cursor.partition_index);
    next.map(place) > last.map(place)
}

/// Adds a page's part of a topic.
fn add(
    results: &mut BTreeMap<SmallString, Result<TopicDescription, ItemError>>,
    topic: DescribeTopicPartitionsResponseTopic,
) {
    let Some(name) = topic.name else { return };
    if let Err(error) = ItemError::check(topic.error_code, None) {
        results.insert(name, Err(error));
        return;
    }
    let partitions = topic.partitions.iter().map(described);
    match results.get_mut(&name) {
        Some(Ok(known)) => known.partitions.extend(partitions),
        _ => {
            let description = TopicDescription {
                name: name.clone(),
                id: (!topic.topic_id.is_zero()).then_some(topic.topic_id),
                internal: topic.is_internal,
                partitions: partitions.collect(),
            };
            results.insert(name, Ok(description));
        }
    }
}

fn described(partition: &DescribeTopicPartitionsResponsePartition) -> PartitionDescription {
    PartitionDescription {
        index: PartitionIndex(partition.partition_index),
        leader: BrokerId(partition.leader_id).known(),
        leader_epoch: (partition.leader_epoch >= 0).then_some(LeaderEpoch(partition.leader_epoch)),
        replicas: broker_ids(&partition.replica_nodes),
        isr: broker_ids(&partition.isr_nodes),
        offline: broker_ids(&partition.offline_replicas),
        elr: partition
            .eligible_leader_replicas
            .as_deref()
            .map(broker_ids),
        last_known_elr: partition.last_known_elr.as_deref().map(broker_ids),
        error: ErrorCode(partition.error_code).ok().err(),
    }
}
