//! Requests that tests send often.

use klamm_protocol::ErrorCode;
use klamm_protocol::messages::create_topics::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
};
use klamm_protocol::messages::elect_leaders::{ElectLeadersRequest, TopicPartitions};

use super::Client;

/// A topic whose partitions have these replicas.
pub(crate) fn topic(name: &str, assignment: &[&[i32]]) -> CreateTopicsRequest {
    let assignments = (0..)
        .zip(assignment)
        .map(|(index, replicas)| CreatableReplicaAssignment {
            partition_index: index,
            broker_ids: (*replicas).into(),
            ..CreatableReplicaAssignment::default()
        });
    CreateTopicsRequest {
        topics: vec![CreatableTopic {
            name: name.into(),
            num_partitions: -1,
            replication_factor: -1,
            assignments: assignments.collect(),
            ..CreatableTopic::default()
        }],
        timeout_ms: 30_000,
        ..CreateTopicsRequest::default()
    }
}

/// The same with a config.
pub(crate) fn topic_with(
    name: &str,
    assignment: &[&[i32]],
    key: &str,
    value: &str,
) -> CreateTopicsRequest {
    let mut request = topic(name, assignment);
    request.topics[0].configs.push(CreatableTopicConfig {
        name: key.into(),
        value: Some(value.into()),
        ..CreatableTopicConfig::default()
    });
    request
}

/// A request for the preferred leader of a partition.
pub(crate) fn preferred(topic: &str, index: i32) -> ElectLeadersRequest {
    ElectLeadersRequest {
        election_type: 0,
        topic_partitions: Some(vec![TopicPartitions {
            topic: topic.into(),
            partitions: vec![index].into_iter().collect(),
            ..TopicPartitions::default()
        }]),
        timeout_ms: 30_000,
        ..ElectLeadersRequest::default()
    }
}

impl Client {
    /// Creates a topic.
    pub(crate) async fn create(&self, request: &CreateTopicsRequest) {
        let response = self.ask(request).await;
        let result = &response.topics[0];
        assert_eq!(ErrorCode(result.error_code), ErrorCode::NONE, "{result:?}");
    }

    /// Asks for an election of one partition, and says what came of it.
    pub(crate) async fn elect(&self, request: &ElectLeadersRequest) -> ErrorCode {
        let response = self.ask(request).await;
        assert_eq!(response.error_code, 0);
        let results = &response.replica_election_results;
        ErrorCode(results[0].partition_result[0].error_code)
    }
}
