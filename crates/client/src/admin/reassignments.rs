use std::collections::BTreeMap;
use std::time::Duration;

use klamm_protocol::BrokerId;
use klamm_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, ReassignablePartition, ReassignableTopic,
};
use klamm_protocol::messages::list_partition_reassignments::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsTopics,
};

use super::Admin;
use crate::ClientError;
use crate::call::{Call, Effect, Verdict};
use crate::client::Route;
use crate::error::PartitionError;
use crate::types::{TopicPartition, broker_ids, by_topic};

/// Options of [`Admin::alter_partition_reassignments`].
#[derive(Clone, Debug)]
pub struct AlterReassignmentsOptions {
    /// How long the call may take, `default_api_timeout` if `None`.
    pub timeout: Option<Duration>,
    /// Whether a partition may get more or fewer replicas than it has.
    pub allow_replication_factor_change: bool,
}

impl Default for AlterReassignmentsOptions {
    fn default() -> Self {
        Self {
            timeout: None,
            allow_replication_factor_change: true,
        }
    }
}

/// Options of [`Admin::list_partition_reassignments`].
#[derive(Clone, Debug, Default)]
pub struct ListReassignmentsOptions {
    /// How long the call may take, `default_api_timeout` if `None`.
    pub timeout: Option<Duration>,
}

/// A reassignment that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OngoingReassignment {
    /// All replicas now, those to be added and removed included.
    pub replicas: Vec<BrokerId>,
    /// The replicas that are being added.
    pub adding: Vec<BrokerId>,
    /// The replicas that go when the added ones are in sync.
    pub removing: Vec<BrokerId>,
}

impl Admin {
    /// Starts reassignments (KIP-455): each partition with its replicas, the preferred leader
    /// first, or `None` to cancel the one that is under way.
    pub async fn alter_partition_reassignments(
        &self,
        reassignments: &BTreeMap<TopicPartition, Option<Vec<BrokerId>>>,
        options: AlterReassignmentsOptions,
    ) -> Result<BTreeMap<TopicPartition, Result<(), PartitionError>>, ClientError> {
        // The same target again changes nothing; a second cancellation is an error.
        let cancels = reassignments.values().any(Option::is_none);
        let effect = if cancels {
            Effect::Once
        } else {
            Effect::Repeatable
        };
        let mut call = Call::new(Route::Controller, effect, self.deadline(options.timeout));
        if !options.allow_replication_factor_change {
            call = call.needing(1, "keeping the replication factor");
        }
        let topics: Vec<_> = by_topic(reassignments, |partition_index, replicas| {
            let ids = |replicas: &Vec<BrokerId>| replicas.iter().map(|id| id.0).collect();
            ReassignablePartition {
                partition_index,
                replicas: replicas.as_ref().map(ids),
                ..Default::default()
            }
        })
        .into_iter()
        .map(|(name, partitions)| ReassignableTopic {
            name,
            partitions,
            ..Default::default()
        })
        .collect();
        let answer = call
            .make(
                &self.client,
                |_version, timeout_ms| AlterPartitionReassignmentsRequest {
                    timeout_ms,
                    allow_replication_factor_change: options.allow_replication_factor_change,
                    topics: topics.clone(),
                    ..Default::default()
                },
                |_version, response| Verdict::of(response.error_code),
            )
            .await?;
        let response = answer.response;
        let message = response.error_message;
        ClientError::check::<AlterPartitionReassignmentsRequest>(
            &answer.server,
            response.error_code,
            message,
        )?;
        let mut results: BTreeMap<_, _> = reassignments
            .keys()
            .map(|partition| (partition.clone(), Err(PartitionError::left_out())))
            .collect();
        for topic in response.responses {
            for result in topic.partitions {
                let partition = TopicPartition::new(topic.name.clone(), result.partition_index);
                let result = PartitionError::check(result.error_code, result.error_message);
                results.insert(partition, result);
            }
        }
        Ok(results)
    }

    /// Lists the reassignments that are under way, of these partitions or of all.
    pub async fn list_partition_reassignments(
        &self,
        partitions: Option<&[TopicPartition]>,
        options: ListReassignmentsOptions,
    ) -> Result<BTreeMap<TopicPartition, OngoingReassignment>, ClientError> {
        let call = Call::new(
            Route::Controller,
            Effect::Read,
            self.deadline(options.timeout),
        );
        let topics = partitions.map(|partitions| {
            let mut partitions: Vec<_> = partitions.iter().collect();
            partitions.sort();
            partitions.dedup();
            let partitions = partitions.into_iter().map(|partition| (partition, ()));
            by_topic(partitions, |index, ()| index)
                .into_iter()
                .map(|(name, indexes)| ListPartitionReassignmentsTopics {
                    name,
                    partition_indexes: indexes.into_iter().collect(),
                    ..Default::default()
                })
                .collect::<Vec<_>>()
        });
        let answer = call
            .make(
                &self.client,
                |_version, timeout_ms| ListPartitionReassignmentsRequest {
                    timeout_ms,
                    topics: topics.clone(),
                    ..Default::default()
                },
                |_version, response| Verdict::of(response.error_code),
            )
            .await?;
        let response = answer.response;
        let message = response.error_message;
        ClientError::check::<ListPartitionReassignmentsRequest>(
            &answer.server,
            response.error_code,
            message,
        )?;
        let mut ongoing = BTreeMap::new();
        for topic in response.topics {
            for partition in topic.partitions {
                let reassignment = OngoingReassignment {
                    replicas: broker_ids(&partition.replicas),
                    adding: broker_ids(&partition.adding_replicas),
                    removing: broker_ids(&partition.removing_replicas),
                };
                let partition = TopicPartition::new(topic.name.clone(), partition.partition_index);
                ongoing.insert(partition, reassignment);
            }
        }
        Ok(ongoing)
    }
}
