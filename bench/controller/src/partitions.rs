//! Topics of scripted brokers, and what is measured on them.

use std::time::{Duration, Instant};

use klamm_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, ReassignablePartition, ReassignableTopic,
};
use klamm_protocol::messages::create_topics::{
    CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest,
};
use klamm_protocol::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest};
use klamm_protocol::messages::elect_leaders::{ElectLeadersRequest, TopicPartitions};

use bench_common::{Client, check};

/// Partitions of each topic.
pub(crate) const TOPIC_PARTITIONS: usize = 1_000;
/// How long a server may take for a request.
const TIMEOUT_MS: i32 = 120_000;
/// Topics that a request changes where its time does not count: Apache Kafka writes no more than
/// 10,000 records for one.
const PREPARED_TOPICS: usize = 5;

/// Topics of [`TOPIC_PARTITIONS`] partitions, each with the brokers 1 and 2 as its replicas.
#[derive(Debug)]
pub(crate) struct Topics {
    names: Vec<String>,
    /// Whether broker 2 is the preferred leader, and leads.
    is_swapped: bool,
}

impl Topics {
    /// Creates topics with so many partitions in all, `at_once` of the topics a request, and says how
    /// long that took.
    pub(crate) async fn create(
        client: &Client,
        prefix: &str,
        partitions: usize,
        at_once: usize,
    ) -> Result<(Self, Duration), String> {
        let count = partitions / TOPIC_PARTITIONS;
        let names: Vec<String> = (0..count).map(|n| format!("{prefix}-{n}")).collect();
        let requests: Vec<_> = names.chunks(at_once).map(creation).collect();
        let start = Instant::now();
        for request in &requests {
            for topic in client.ask(request).await?.topics {
                check(
                    &topic.name,
                    topic.error_code,
                    topic.error_message.as_deref(),
                )?;
            }
        }
        let took = start.elapsed();
        let is_swapped = false;
        Ok((Self { names, is_swapped }, took))
    }

    pub(crate) fn partitions(&self) -> usize {
        self.names.len() * TOPIC_PARTITIONS
    }

    /// Makes every partition's other replica the preferred leader, by reassigning the same replicas in
    /// another order: nothing is copied, and all need an election.
    pub(crate) async fn swap(&mut self, client: &Client) -> Result<(), String> {
        self.is_swapped = !self.is_swapped;
        let replicas: [i32; 2] = if self.is_swapped { [2, 1] } else { [1, 2] };
        for names in self.names.chunks(PREPARED_TOPICS) {
            let partition = |index| ReassignablePartition {
                partition_index: index,
                replicas: Some(replicas[..].into()),
                ..ReassignablePartition::default()
            };
            let topic = |name: &String| ReassignableTopic {
                name: name.as_str().into(),
                partitions: (0..TOPIC_PARTITIONS as i32).map(partition).collect(),
                ..ReassignableTopic::default()
            };
            let request = AlterPartitionReassignmentsRequest {
                timeout_ms: TIMEOUT_MS,
                topics: names.iter().map(topic).collect(),
                ..AlterPartitionReassignmentsRequest::default()
            };
            let response = client.ask(&request).await?;
            check("AlterPartitionReassignments", response.error_code, None)?;
            for partition in response
                .responses
                .iter()
                .flat_map(|topic| &topic.partitions)
            {
                let text = partition.error_message.as_deref();
                check("AlterPartitionReassignments", partition.error_code, text)?;
            }
        }
        Ok(())
    }

    /// Elects the preferred leader of every partition, `at_once` of the topics a request, and says how
    /// long that took.
    pub(crate) async fn elect(&self, client: &Client, at_once: usize) -> Result<Duration, String> {
        let requests: Vec<_> = self.names.chunks(at_once).map(election).collect();
        let mut elected = 0;
        let start = Instant::now();
        let mut answers = Vec::with_capacity(requests.len());
        for request in &requests {
            answers.push(client.ask(request).await?);
        }
        let took = start.elapsed();
        for answer in answers {
            check("ElectLeaders", answer.error_code, None)?;
            let results = answer.replica_election_results.iter();
            for result in results.flat_map(|topic| &topic.partition_result) {
                let text = result.error_message.as_deref();
                check("ElectLeaders", result.error_code, text)?;
                elected += 1;
            }
        }
        match elected == self.partitions() {
            true => Ok(took),
            false => Err(format!("{elected} of {} are elected", self.partitions())),
        }
    }

    pub(crate) async fn delete(self, client: &Client) -> Result<(), String> {
        for names in self.names.chunks(PREPARED_TOPICS) {
            let topic = |name: &String| DeleteTopicState {
                name: Some(name.as_str().into()),
                ..DeleteTopicState::default()
            };
            let request = DeleteTopicsRequest {
                topics: names.iter().map(topic).collect(),
                timeout_ms: TIMEOUT_MS,
                ..DeleteTopicsRequest::default()
            };
            for topic in client.ask(&request).await?.responses {
                let text = topic.error_message.as_deref();
                check("DeleteTopics", topic.error_code, text)?;
            }
        }
        Ok(())
    }
}

fn creation(names: &[String]) -> CreateTopicsRequest {
    let assignment = |index| CreatableReplicaAssignment {
        partition_index: index,
        broker_ids: [1, 2][..].into(),
        ..CreatableReplicaAssignment::default()
    };
    let topic = |name: &String| CreatableTopic {
        name: name.as_str().into(),
        num_partitions: -1,
        replication_factor: -1,
        assignments: (0..TOPIC_PARTITIONS as i32).map(assignment).collect(),
        ..CreatableTopic::default()
    };
    CreateTopicsRequest {
        topics: names.iter().map(topic).collect(),
        timeout_ms: TIMEOUT_MS,
        ..CreateTopicsRequest::default()
    }
}

fn election(names: &[String]) -> ElectLeadersRequest {
    let topic = |name: &String| TopicPartitions {
        topic: name.as_str().into(),
        partitions: (0..TOPIC_PARTITIONS as i32).collect(),
        ..TopicPartitions::default()
    };
    ElectLeadersRequest {
        topic_partitions: Some(names.iter().map(topic).collect()),
        timeout_ms: TIMEOUT_MS,
        ..ElectLeadersRequest::default()
    }
}
