use std::collections::BTreeMap;
use std::time::Duration;

use klamm_protocol::messages::metadata::{
    MetadataRequest, MetadataRequestTopic, MetadataResponsePartition, MetadataResponseTopic,
};
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, PartitionIndex, SmallString, Uuid};

use super::{Admin, ClusterDescription};
use crate::call::{Call, Effect, Verdict};
use crate::client::{Client, Route};
use crate::error::ItemError;
use crate::metadata::{Cluster, NAMES_CONTROLLER};
use crate::retry::Deadline;
use crate::types::broker_ids;
use crate::{ClientError, TopicPartition};

/// Which topics a call is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopicSelection {
    /// Every topic that this client may see.
    All,
    /// These.
    Named(Vec<SmallString>),
}

impl TopicSelection {
    /// Topics by name.
    pub fn named<T: Into<SmallString>>(names: impl IntoIterator<Item = T>) -> Self {
        Self::Named(names.into_iter().map(Into::into).collect())
    }
}

/// Options of [`Admin::describe_topics`].
#[derive(Clone, Debug, Default)]
pub struct DescribeTopicsOptions {
    /// How long the call may take, `default_api_timeout` if `None`.
    pub timeout: Option<Duration>,
    /// Whether [`TopicSelection::All`] has Kafka's own topics in it, such as `__consumer_offsets`.
    /// Topics asked for by name are always described.
    pub include_internal: bool,
}

/// What one broker knows of its cluster and of topics. Both come from one answer, and so fit
/// together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterMetadata {
    /// The cluster, and the brokers that are in service.
    pub cluster: ClusterDescription,
    /// The topics that were asked for.
    pub topics: BTreeMap<SmallString, Result<TopicDescription, ItemError>>,
}

/// A topic and its partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicDescription {
    /// The topic's name.
    pub name: SmallString,
    /// The topic's id, where the server tells it.
    pub id: Option<Uuid>,
    /// Whether it is one of Kafka's own topics.
    pub internal: bool,
    /// The partitions in order of their numbers.
    pub partitions: Vec<PartitionDescription>,
}

impl TopicDescription {
    /// The partitions with the topic's name.
    pub fn topic_partitions(
        &self,
    ) -> impl Iterator<Item = (TopicPartition, &PartitionDescription)> {
        self.partitions.iter().map(|partition| {
            (
                TopicPartition::new(self.name.clone(), partition.index),
                partition,
            )
        })
    }
}

/// A partition: who leads it and where its replicas are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionDescription {
    /// The partition's number in the topic.
    pub index: PartitionIndex,
    /// The leader, or `None` without one.
    pub leader: Option<BrokerId>,
    /// The leader epoch, where the server tells it.
    pub leader_epoch: Option<LeaderEpoch>,
    /// The assigned replicas, the preferred leader first.
    pub replicas: Vec<BrokerId>,
    /// The replicas that are in sync.
    pub isr: Vec<BrokerId>,
    /// The replicas that are not online.
    pub offline: Vec<BrokerId>,
    /// The eligible leader replicas (KIP-966), where the server tells them.
    pub elr: Option<Vec<BrokerId>>,
    /// The last known eligible leader replicas (KIP-966), where the server tells them.
    pub last_known_elr: Option<Vec<BrokerId>>,
    /// What is wrong with the partition, such as LEADER_NOT_AVAILABLE.
    pub error: Option<ErrorCode>,
}

impl PartitionDescription {
    /// The first replica of the assignment, which leads when it can.
    pub fn preferred_leader(&self) -> Option<BrokerId> {
        self.replicas.first().copied()
    }

    /// Whether the preferred leader leads.
    pub fn is_led_by_preferred(&self) -> bool {
        self.leader.is_some() && self.leader == self.preferred_leader()
    }

    /// The replicas that are not in the ISR.
    pub fn out_of_sync(&self) -> impl Iterator<Item = BrokerId> {
        let replicas = self.replicas.iter().copied();
        replicas.filter(|id| !self.isr.contains(id))
    }

    /// Whether a replica is out of sync.
    pub fn is_under_replicated(&self) -> bool {
        self.out_of_sync().next().is_some()
    }
}

impl Admin {
    /// Describes topics: leaders, replicas and what is in sync, from one broker's metadata.
    pub async fn describe_topics(
        &self,
        topics: &TopicSelection,
        options: DescribeTopicsOptions,
    ) -> Result<BTreeMap<SmallString, Result<TopicDescription, ItemError>>, ClientError> {
        Ok(self.metadata(topics, options).await?.topics)
    }

    /// Describes the cluster and topics, from one broker's metadata.
    pub async fn metadata(
        &self,
        topics: &TopicSelection,
        options: DescribeTopicsOptions,
    ) -> Result<ClusterMetadata, ClientError> {
        let deadline = self.deadline(options.timeout);
        let mut metadata = metadata(&self.client, topics, deadline).await?;
        if *topics == TopicSelection::All && !options.include_internal {
            let is_internal = |topic: &TopicDescription| topic.internal;
            let known = &mut metadata.topics;
            known.retain(|_, topic| !topic.as_ref().is_ok_and(is_internal));
        }
        Ok(metadata)
    }
}

/// Describes the cluster and topics, internal ones included.
pub(crate) async fn metadata(
    client: &Client,
    topics: &TopicSelection,
    deadline: Deadline,
) -> Result<ClusterMetadata, ClientError> {
    let call = Call::new(Route::Telling, Effect::Read, deadline);
    let answer = call
        .make(
            client,
            |version, _timeout_ms| metadata_request(topics, version),
            |_version, response| Verdict::of(response.error_code),
        )
        .await?;
    let mut response = answer.response;
    ClientError::check::<MetadataRequest>(&answer.server, response.error_code, None)?;
    if NAMES_CONTROLLER.contains(answer.version) {
        client.learned(Cluster::told(&answer.server, &response));
    }
    let known = std::mem::take(&mut response.topics).into_iter();
    let mut described: BTreeMap<_, _> = known.filter_map(described).collect();
    if let TopicSelection::Named(names) = topics {
        let mut named = left_out(names);
        for name in names {
            if let Some(topic) = described.remove(name) {
                named.insert(name.clone(), topic);
            } else if answer.version < CREATES_NO_TOPICS {
                // All topics were asked for.
                let code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
                named.insert(
                    name.clone(),
                    Err(ItemError {
                        code,
                        message: None,
                    }),
                );
            }
        }
        described = named;
    }
    Ok(ClusterMetadata {
        cluster: ClusterDescription::from(response),
        topics: described,
    })
}

/// The first version of Metadata in which a topic can be asked for without creating it.
const CREATES_NO_TOPICS: i16 = 4;

fn metadata_request(topics: &TopicSelection, version: i16) -> MetadataRequest {
    let allow_auto_topic_creation = version < CREATES_NO_TOPICS;
    let topics = match topics {
        TopicSelection::Named(names) if !allow_auto_topic_creation => {
            let names = names.iter().map(|name| MetadataRequestTopic {
                name: Some(name.clone()),
                ..Default::default()
            });
            Some(names.collect())
        }
        // Version 0 takes an empty list for all.
        _ if version == 0 => Some(Vec::new()),
        _ => None,
    };
    MetadataRequest {
        topics,
        allow_auto_topic_creation,
        ..Default::default()
    }
}

fn described(
    topic: MetadataResponseTopic,
) -> Option<(SmallString, Result<TopicDescription, ItemError>)> {
    let name = topic.name?;
    if let Err(error) = ItemError::check(topic.error_code, None) {
        return Some((name, Err(error)));
    }
    let mut partitions: Vec<_> = topic.partitions.iter().map(described_partition).collect();
    partitions.sort_by_key(|partition| partition.index);
    let id = (!topic.topic_id.is_zero()).then_some(topic.topic_id);
    let internal = topic.is_internal;
    Some((
        name.clone(),
        Ok(TopicDescription {
            name,
            id,
            internal,
            partitions,
        }),
    ))
}

fn described_partition(partition: &MetadataResponsePartition) -> PartitionDescription {
    PartitionDescription {
        index: PartitionIndex(partition.partition_index),
        leader: BrokerId(partition.leader_id).known(),
        leader_epoch: (partition.leader_epoch >= 0).then_some(LeaderEpoch(partition.leader_epoch)),
        replicas: broker_ids(&partition.replica_nodes),
        isr: broker_ids(&partition.isr_nodes),
        offline: broker_ids(&partition.offline_replicas),
        elr: None,
        last_known_elr: None,
        error: ErrorCode(partition.error_code).ok().err(),
    }
}

/// A result for each name that an answer may leave out.
pub(super) fn left_out<'a, T>(
    names: impl IntoIterator<Item = &'a SmallString>,
) -> BTreeMap<SmallString, Result<T, ItemError>> {
    names
        .into_iter()
        .map(|name| (name.clone(), Err(ItemError::left_out())))
        .collect()
}
