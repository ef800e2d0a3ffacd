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
use klamm_protocol::{BrokerId, SmallString, Uuid};

use super::Admin;
use super::topics::left_out;
use crate::ClientError;
use crate::call::{Call, Effect, Verdict};
use crate::client::Route;
use crate::error::ItemError;

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
    pub name: SmallString,
    /// Where its replicas go.
    pub placement: Placement,
    /// Its configuration, where it is not the default.
    pub configs: BTreeMap<SmallString, SmallString>,
}

impl NewTopic {
    /// A topic whose replicas go where the controller decides.
    pub fn new(name: impl Into<SmallString>, partitions: i32, replication_factor: i16) -> Self {
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
    /// Creates topics.
    pub async fn create_topics(
        &self,
        topics: &[NewTopic],
        options: CreateTopicsOptions,
    ) -> Result<BTreeMap<SmallString, Result<CreatedTopic, ItemError>>, ClientError> {
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
        names: &[SmallString],
        options: DeleteTopicsOptions,
    ) -> Result<BTreeMap<SmallString, Result<(), ItemError>>, ClientError> {
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
        topics: &BTreeMap<SmallString, NewPartitions>,
        options: CreatePartitionsOptions,
    ) -> Result<BTreeMap<SmallString, Result<(), ItemError>>, ClientError> {
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

fn created(topic: CreatableTopicResult) -> (SmallString, Result<CreatedTopic, ItemError>) {
    let created = CreatedTopic {
        id: (!topic.topic_id.is_zero()).then_some(topic.topic_id),
        partitions: (topic.num_partitions >= 0).then_some(topic.num_partitions),
        replication_factor: (topic.replication_factor >= 0).then_some(topic.replication_factor),
    };
    let checked = ItemError::check(topic.error_code, topic.error_message);
    (topic.name, checked.map(|()| created))
}

fn delete_request(names: &[SmallString], version: i16, timeout_ms: i32) -> DeleteTopicsRequest {
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
