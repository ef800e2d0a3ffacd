use klamm_controller::is_topic_name;
use klamm_metadata::{Partition, Topic};
use klamm_protocol::messages::metadata::{
    MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponseBroker,
    MetadataResponsePartition, MetadataResponseTopic,
};
use klamm_protocol::{BrokerId, ErrorCode, PartitionIndex};

use super::cluster_view::{ClusterView, is_internal, topic_operations};
use crate::apis::cluster_operations;
use crate::broker::call::{Call, Reply, Serve};

/// From this version on, no list of topics means all of them; before, an empty one does.
const NONE_IS_NONE: i16 = 1;
/// From this version on, replicas that are not there are named all the same.
const NAMES_DEAD_REPLICAS: i16 = 1;
/// From this version on, clients know that a leader may lack a listener.
const KNOWS_LISTENERS: i16 = 6;

impl Serve for MetadataRequest {
    async fn serve(self, call: Call) -> Reply<MetadataResponse> {
        let published = call.broker.published();
        let view = ClusterView {
            image: &published.image,
            listener: &call.origin.listener,
        };
        let told = Told {
            view,
            version: call.version,
            with_operations: self.include_topic_authorized_operations,
        };
        let topics = match self.topics.as_deref() {
            Some([]) if call.version < NONE_IS_NONE => told.all(),
            None => told.all(),
            Some(asked) => asked.iter().map(|asked| told.asked(asked)).collect(),
        };
        let brokers = view
            .alive()
            .map(|(broker, endpoint)| MetadataResponseBroker {
                node_id: broker.id.0,
                host: (&*endpoint.host).into(),
                port: i32::from(endpoint.port),
                rack: broker.rack.as_deref().map(Into::into),
                ..MetadataResponseBroker::default()
            });
        let wanted = self.include_cluster_authorized_operations;
        Reply::Answer(MetadataResponse {
            brokers: brokers.collect(),
            cluster_id: Some(call.broker.cluster_id.as_str().into()),
            controller_id: view.controller(call.broker.id).0,
            topics,
            cluster_authorized_operations: cluster_operations(wanted, |_| true),
            ..MetadataResponse::default()
        })
    }
}

/// What a client of a version is told of topics.
#[derive(Clone, Copy, Debug)]
struct Told<'a> {
    view: ClusterView<'a>,
    version: i16,
    with_operations: bool,
}

impl Told<'_> {
    fn all(self) -> Vec<MetadataResponseTopic> {
        let topics = self.view.image.topics().iter_by_name();
        topics.map(|topic| self.topic(topic)).collect()
    }

    fn asked(self, asked: &MetadataRequestTopic) -> MetadataResponseTopic {
        let topics = self.view.image.topics();
        let (found, error) = match asked.name.as_deref() {
            // The id counts where there is no name.
            None => (topics.by_id(asked.topic_id), ErrorCode::UNKNOWN_TOPIC_ID),
            Some(name) if is_topic_name(name) => {
                let error = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
                (topics.by_name(name), error)
            }
            Some(_) => (None, ErrorCode::INVALID_TOPIC_EXCEPTION),
        };
        match found {
            Some(topic) => self.topic(topic),
            None => MetadataResponseTopic {
                error_code: error.0,
                name: asked.name.clone(),
                topic_id: asked.topic_id,
                is_internal: asked.name.as_deref().is_some_and(is_internal),
                ..MetadataResponseTopic::default()
            },
        }
    }

    fn topic(self, topic: &Topic) -> MetadataResponseTopic {
        let partitions = topic.partitions();
        MetadataResponseTopic {
            name: Some(topic.name().into()),
            topic_id: topic.id(),
            is_internal: is_internal(topic.name()),
            partitions: partitions
                .map(|(index, partition)| self.partition(index, partition))
                .collect(),
            topic_authorized_operations: match self.with_operations {
                true => topic_operations(),
                false => i32::MIN,
            },
            ..MetadataResponseTopic::default()
        }
    }

    fn partition(self, index: PartitionIndex, partition: &Partition) -> MetadataResponsePartition {
        let leader = self.view.leader(partition, self.version >= KNOWS_LISTENERS);
        let (mut replicas, mut isr) = (partition.replicas().clone(), partition.isr().clone());
        if self.version < NAMES_DEAD_REPLICAS {
            let is_there = |id: BrokerId| self.view.alive().any(|(broker, _)| broker.id == id);
            replicas = replicas.filtered(is_there);
            isr = isr.filtered(is_there);
        }
        let is_whole =
            replicas.len() == partition.replicas().len() && isr.len() == partition.isr().len();
        let error = match leader {
            Err(error) => error,
            Ok(_) if !is_whole => ErrorCode::REPLICA_NOT_AVAILABLE,
            Ok(_) => ErrorCode::NONE,
        };
        MetadataResponsePartition {
            error_code: error.0,
            partition_index: index.0,
            leader_id: leader.unwrap_or(BrokerId::NONE).0,
            leader_epoch: partition.leader_epoch().0,
            replica_nodes: replicas.to_wire(),
            isr_nodes: isr.to_wire(),
            offline_replicas: self.view.offline(partition),
            ..MetadataResponsePartition::default()
        }
    }
}
