use std::collections::BTreeMap;
use std::time::Duration;

use klamm_protocol::messages::create_partitions::{
    CreatePartitionsAssignment, CreatePartitionsRequest, CreatePartitionsTopic,
};
use klamm_protocol::messages::create_topics::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig, CreatableTopicResult,
    CreateTopicsRequest,
};
use klamm_protocol::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest};
use klamm_protocol::messages::metadata::{
    MetadataRequest, MetadataRequestTopic, MetadataResponsePartition, MetadataResponseTopic,
};
use klamm_protocol::{BrokerId, ByteString, ErrorCode, LeaderEpoch, PartitionIndex, Request, Uuid};

use super::Admin;
use crate::call::{Call, Effect, Verdict};
use crate::client::{Client, Route};
use crate::error::ItemError;
use crate::retry::Deadline;
use crate::types::broker_ids;
use crate::{ClientError, TopicPartition};

/// Which topics a call is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopicSelection {
    /// Every topic that this client may see.
    All,
    /// These.
    Named(Vec<ByteString>),
}

impl TopicSelection {
    /// Topics by name.
    pub fn named<T: Into<ByteString>>(names: impl IntoIterator<Item = T>) -> Self {
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

/// A topic and its partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicDescription {
    /// The topic's name.
    pub name: ByteString,
    /// The topic's id, where the server tells it.
    pub id: Option<Uuid>,
    /// Whether it is one of Kafka's own topics.
    pub internal: bool,
    /// The partitions in order of their numbers.
    pub partitions: Vec<PartitionDescription>,
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

    /// Whether a replica is out of sync.
    pub fn is_under_replicated(&self) -> bool {
        self.isr.len() < self.replicas.len()
    }
}

/// Where the replicas of a new topic go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The controller decides; `None` takes the cluster's default.
    Automatic {
        /// How many partitions.
        partitions: Option<i32>,
        /// How many replicas of each.
        replication_factor: Option<i16>,
    },
    /// These brokers for each partition, from partition 0, the preferred leader first.
    Assigned(Vec<Vec<BrokerId>>),
}

/// A topic to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTopic {
    /// The topic's name.
    pub name: ByteString,
    /// Where its replicas go.
    pub placement: Placement,
    /// Its configuration, where it is not the default.
    pub configs: BTreeMap<ByteString, ByteString>,
}

impl NewTopic {
    /// A topic whose replicas go where the controller decides.
    pub fn new(name: impl Into<ByteString>, partitions: i32, replication_factor: i16) -> Self {
        Self {
            name: name.into(),
            placement: Placement::Automatic {
                partitions: Some(partitions),
                replication_factor: Some(replication_factor),
            },
            configs: BTreeMap::new(),
        }
    }
}

/// Options of [`Admin::create_topics`].
#[derive(Clone, Debug, Default)]
pub struct CreateTopicsOptions {
    /// How long the call may take, `default_api_timeout` if `None`.
    pub timeout: Option<Duration>,
    /// Whether the request is only checked.
    pub validate_only: bool,
}

/// A topic that was created, as far as the server tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedTopic {
    /// The topic's id.
    pub id: Option<Uuid>,
    /// How many partitions it has.
    pub partitions: Option<i32>,
    /// How many replicas each partition has.
    pub replication_factor: Option<i16>,
}

/// Options of [`Admin::delete_topics`].
#[derive(Clone, Debug, Default)]
pub struct DeleteTopicsOptions {
    /// How long the call may take, `default_api_timeout` if `None`.
    pub timeout: Option<Duration>,
}

/// Partitions to be added to a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPartitions {
    /// How many partitions the topic is to have in all.
    pub total: i32,
    /// The brokers of each new partition, the preferred leader first; `None` leaves it to the
    /// controller.
    pub assignments: Option<Vec<Vec<BrokerId>>>,
}

/// Options of [`Admin::create_partitions`].
#[derive(Clone, Debug, Default)]
pub struct CreatePartitionsOptions {
    /// How long the call may take, `default_api_timeout` if `None`.
    pub timeout: Option<Duration>,
    /// Whether the request is only checked.
    pub validate_only: bool,
}

impl Admin {
    /// Describes topics: leaders, replicas and what is in sync, from one broker's metadata.
    pub async fn describe_topics(
        &self,
        topics: &TopicSelection,
        options: DescribeTopicsOptions,
    ) -> Result<BTreeMap<ByteString, Result<TopicDescription, ItemError>>, ClientError> {
        let deadline = self.deadline(options.timeout);
        let mut described = describe_topics(&self.client, topics, deadline).await?;
        if *topics == TopicSelection::All && !options.include_internal {
            described.retain(|_, topic| !topic.as_ref().is_ok_and(|topic| topic.internal));
        }
        Ok(described)
    }

    /// Creates topics.
    pub async fn create_topics(
        &self,
        topics: &[NewTopic],
        options: CreateTopicsOptions,
    ) -> Result<BTreeMap<ByteString, Result<CreatedTopic, ItemError>>, ClientError> {
        let effect = if options.validate_only {
            Effect::Read
        } else {
            Effect::Once
        };
        let mut call = Call::new(Route::Controller, effect, self.deadline(options.timeout));
        let has_default = |topic: &NewTopic| {
            matches!(
                topic.placement,
                Placement::Automatic {
                    partitions: None,
                    ..
                } | Placement::Automatic {
                    replication_factor: None,
                    ..
                }
            )
        };
        if topics.iter().any(has_default) {
            call = call.needing(4, "default partition counts and replication factors");
        }
        let wire: Vec<_> = topics.iter().map(creatable).collect();
        let answer = call
            .make(
                &self.client,
                |_version, timeout_ms| CreateTopicsRequest {
                    topics: wire.clone(),
                    timeout_ms,
                    validate_only: options.validate_only,
                    ..Default::default()
                },
                |_version, response| {
                    Verdict::of_items(response.topics.iter().map(|topic| topic.error_code))
                },
            )
            .await?;
        let mut results = left_out(topics.iter().map(|topic| &topic.name));
        results.extend(answer.response.topics.into_iter().map(created));
        Ok(results)
    }

    /// Deletes topics, with all their records.
    pub async fn delete_topics(
        &self,
        names: &[ByteString],
        options: DeleteTopicsOptions,
    ) -> Result<BTreeMap<ByteString, Result<(), ItemError>>, ClientError> {
        let call = Call::new(
            Route::Controller,
            Effect::Once,
            self.deadline(options.timeout),
        );
        let answer = call
            .make(
                &self.client,
                |version, timeout_ms| delete_request(names, version, timeout_ms),
                |_version, response| {
                    Verdict::of_items(response.responses.iter().map(|topic| topic.error_code))
                },
            )
            .await?;
        let mut results = left_out(names);
        results.extend(answer.response.responses.into_iter().filter_map(|topic| {
            Some((
                topic.name?,
                ItemError::check(topic.error_code, topic.error_message),
            ))
        }));
        Ok(results)
    }

    /// Adds partitions to topics.
    pub async fn create_partitions(
        &self,
        topics: &BTreeMap<ByteString, NewPartitions>,
        options: CreatePartitionsOptions,
    ) -> Result<BTreeMap<ByteString, Result<(), ItemError>>, ClientError> {
        let effect = if options.validate_only {
            Effect::Read
        } else {
            Effect::Once
        };
        let call = Call::new(Route::Controller, effect, self.deadline(options.timeout));
        let wire: Vec<_> = topics
            .iter()
            .map(|(name, new)| CreatePartitionsTopic {
                name: name.clone(),
                count: new.total,
                assignments: new.assignments.as_ref().map(|assignments| {
                    let assignments =
                        assignments
                            .iter()
                            .map(|brokers| CreatePartitionsAssignment {
                                broker_ids: brokers.iter().map(|broker| broker.0).collect(),
                                ..Default::default()
                            });
                    assignments.collect()
                }),
                ..Default::default()
            })
            .collect();
        let answer = call
            .make(
                &self.client,
                |_version, timeout_ms| CreatePartitionsRequest {
                    topics: wire.clone(),
                    timeout_ms,
                    validate_only: options.validate_only,
                    ..Default::default()
                },
                |_version, response| {
                    Verdict::of_items(response.results.iter().map(|topic| topic.error_code))
                },
            )
            .await?;
        let mut results = left_out(topics.keys());
        results.extend(answer.response.results.into_iter().map(|topic| {
            (
                topic.name,
                ItemError::check(topic.error_code, topic.error_message),
            )
        }));
        Ok(results)
    }
}

/// Describes topics, internal ones included.
pub(super) async fn describe_topics(
    client: &Client,
    topics: &TopicSelection,
    deadline: Deadline,
) -> Result<BTreeMap<ByteString, Result<TopicDescription, ItemError>>, ClientError> {
    let call = Call::new(Route::Any, Effect::Read, deadline);
    let answer = call
        .make(
            client,
            |version, _timeout_ms| metadata_request(topics, version),
            |_version, response| Verdict::of(response.error_code),
        )
        .await?;
    let response = answer.response;
    if let Err(code) = ErrorCode(response.error_code).ok() {
        return Err(ClientError::from_answer(
            MetadataRequest::KEY,
            &answer.server,
            code,
            None,
        ));
    }
    let mut described: BTreeMap<_, _> = response.topics.into_iter().filter_map(described).collect();
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
        return Ok(named);
    }
    Ok(described)
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
) -> Option<(ByteString, Result<TopicDescription, ItemError>)> {
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

fn creatable(topic: &NewTopic) -> CreatableTopic {
    let (num_partitions, replication_factor, assignments) = match &topic.placement {
        Placement::Automatic {
            partitions,
            replication_factor,
        } => (
            partitions.unwrap_or(-1),
            replication_factor.unwrap_or(-1),
            &[][..],
        ),
        Placement::Assigned(assignments) => (-1, -1, assignments.as_slice()),
    };
    let assignments =
        (0..)
            .zip(assignments)
            .map(|(partition_index, brokers)| CreatableReplicaAssignment {
                partition_index,
                broker_ids: brokers.iter().map(|broker| broker.0).collect(),
                ..Default::default()
            });
    let configs = topic
        .configs
        .iter()
        .map(|(name, value)| CreatableTopicConfig {
            name: name.clone(),
            value: Some(value.clone()),
            ..Default::default()
        });
    CreatableTopic {
        name: topic.name.clone(),
        num_partitions,
        replication_factor,
        assignments: assignments.collect(),
        configs: configs.collect(),
        ..Default::default()
    }
}

fn created(topic: CreatableTopicResult) -> (ByteString, Result<CreatedTopic, ItemError>) {
    let created = CreatedTopic {
        id: (!topic.topic_id.is_zero()).then_some(topic.topic_id),
        partitions: (topic.num_partitions >= 0).then_some(topic.num_partitions),
        replication_factor: (topic.replication_factor >= 0).then_some(topic.replication_factor),
    };
    let checked = ItemError::check(topic.error_code, topic.error_message);
    (topic.name, checked.map(|()| created))
}

fn delete_request(names: &[ByteString], version: i16, timeout_ms: i32) -> DeleteTopicsRequest {
    // Version 6 names topics in another field, by name or by id.
    if version < 6 {
        return DeleteTopicsRequest {
            topic_names: names.to_vec(),
            timeout_ms,
            ..Default::default()
        };
    }
    let topics = names.iter().map(|name| DeleteTopicState {
        name: Some(name.clone()),
        ..Default::default()
    });
    DeleteTopicsRequest {
        topics: topics.collect(),
        timeout_ms,
        ..Default::default()
    }
}

/// A result for each name that an answer may leave out.
pub(super) fn left_out<'a, T>(
    names: impl IntoIterator<Item = &'a ByteString>,
) -> BTreeMap<ByteString, Result<T, ItemError>> {
    names
        .into_iter()
        .map(|name| (name.clone(), Err(ItemError::left_out())))
        .collect()
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
