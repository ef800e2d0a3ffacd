use std::collections::BTreeMap;

use klamm_controller::is_topic_name;
use klamm_metadata::{Partition, Topic};
use klamm_protocol::messages::describe_topic_partitions::{
    DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic, ResponseCursor,
};
use klamm_protocol::{BrokerId, ErrorCode, PartitionIndex, SmallString};

use super::cluster_view::{ClusterView, is_internal, topic_operations};
use crate::broker::call::{Call, Reply, Serve};

/// The most partitions in an answer, Kafka's `max.request.partition.size.limit`.
const MAX_PARTITIONS: usize = 2_000;

impl Serve for DescribeTopicPartitionsRequest {
    async fn serve(self, call: Call) -> Reply<DescribeTopicPartitionsResponse> {
        let published = call.broker.published();
        let view = ClusterView {
            image: &published.image,
            listener: &call.origin.listener,
        };
        let first = match &self.cursor {
            Some(cursor) if cursor.partition_index < 0 => {
                let refused = |name: &SmallString| unknown(name, ErrorCode::INVALID_REQUEST);
                let topics = self.topics.iter().map(|topic| refused(&topic.name));
                return Reply::Answer(DescribeTopicPartitionsResponse {
                    topics: topics.collect(),
                    ..DescribeTopicPartitionsResponse::default()
                });
            }
            Some(cursor) => (cursor.topic_name.clone(), cursor.partition_index),
            None => (SmallString::default(), 0),
        };
        let limit = usize::try_from(self.response_partition_limit).unwrap_or(0);
        let mut page = Page {
            view,
            left: limit.clamp(1, MAX_PARTITIONS),
            response: DescribeTopicPartitionsResponse::default(),
        };
        // In the order of the names, each once: so that a cursor says how far an answer went.
        for (name, topic) in wanted(&self, view) {
            if *name < *first.0 {
                continue;
            }
            let from = if *name == *first.0 { first.1 } else { 0 };
            if !page.add(&name, topic, from) {
                break;
            }
        }
        Reply::Answer(page.response)
    }
}

fn wanted<'a>(
    request: &DescribeTopicPartitionsRequest,
    view: ClusterView<'a>,
) -> BTreeMap<SmallString, Option<&'a Topic>> {
    let topics = view.image.topics();
    if request.topics.is_empty() {
        let all = topics.iter_by_name();
        return all
            .map(|topic| (topic.name().into(), Some(topic)))
            .collect();
    }
    let asked = request.topics.iter();
    asked
        .map(|asked| (asked.name.clone(), topics.by_name(&asked.name)))
        .collect()
}

/// An answer with room for so many partitions more.
struct Page<'a> {
    view: ClusterView<'a>,
    left: usize,
    response: DescribeTopicPartitionsResponse,
}

impl Page<'_> {
    /// Adds a topic, and says whether there is room for another.
    fn add(&mut self, name: &SmallString, topic: Option<&Topic>, from: i32) -> bool {
        if self.left == 0 {
            self.response.next_cursor = Some(cursor(name, from));
            return false;
        }
        let Some(topic) = topic else {
            let error = match is_topic_name(name) {
                true => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                false => ErrorCode::INVALID_TOPIC_EXCEPTION,
            };
            self.response
                .topics
                .push(DescribeTopicPartitionsResponseTopic {
                    // What a client may do to a topic does not hang on its being there.
                    topic_authorized_operations: topic_operations(),
                    ..unknown(name, error)
                });
            return true;
        };
        let partitions = topic.partitions().filter(|(index, _)| index.0 >= from);
        let partitions: Vec<_> = partitions
            .take(self.left)
            .map(|(index, partition)| self.partition(index, partition))
            .collect();
        self.left -= partitions.len();
        let next = from.saturating_add(partitions.len() as i32);
        self.response
            .topics
            .push(DescribeTopicPartitionsResponseTopic {
                name: Some(name.clone()),
                topic_id: topic.id(),
                is_internal: is_internal(topic.name()),
                partitions,
                topic_authorized_operations: topic_operations(),
                ..DescribeTopicPartitionsResponseTopic::default()
            });
        let is_whole = usize::try_from(next).is_ok_and(|next| next >= topic.partition_count());
        if !is_whole {
            self.response.next_cursor = Some(cursor(name, next));
        }
        is_whole
    }

    fn partition(
        &self,
        index: PartitionIndex,
        partition: &Partition,
    ) -> DescribeTopicPartitionsResponsePartition {
        // As Apache Kafka: a partition without a leader is no error here, as it is in Metadata.
        let leader = self.view.leader(partition, true);
        DescribeTopicPartitionsResponsePartition {
            partition_index: index.0,
            leader_id: leader.unwrap_or(BrokerId::NONE).0,
            leader_epoch: partition.leader_epoch().0,
            replica_nodes: partition.replicas().to_wire(),
            isr_nodes: partition.isr().to_wire(),
            eligible_leader_replicas: Some(partition.elr().to_wire()),
            last_known_elr: Some(partition.last_known_elr().to_wire()),
            offline_replicas: self.view.offline(partition),
            ..DescribeTopicPartitionsResponsePartition::default()
        }
    }
}

fn unknown(name: &SmallString, error: ErrorCode) -> DescribeTopicPartitionsResponseTopic {
    DescribeTopicPartitionsResponseTopic {
        error_code: error.0,
        name: Some(name.clone()),
        is_internal: is_internal(name),
        ..DescribeTopicPartitionsResponseTopic::default()
    }
}

fn cursor(topic: &SmallString, partition: i32) -> ResponseCursor {
    ResponseCursor {
        topic_name: topic.clone(),
        partition_index: partition,
        ..ResponseCursor::default()
    }
}
