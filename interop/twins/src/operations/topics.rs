//! Topics come, grow and go.

use fastrand::Rng;
use klamm_metadata::Image;
use klamm_protocol::Uuid;
use klamm_protocol::messages::create_partitions::{
    CreatePartitionsAssignment, CreatePartitionsRequest, CreatePartitionsTopic,
};
use klamm_protocol::messages::create_topics::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
};
use klamm_protocol::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest};

use super::configs::{config, value};
use super::{How, Operation, TOPICS, once_in, pick, replicas, topic};
use crate::side::Side;
use crate::wire::Said;

const TIMEOUT_MS: i32 = 60_000;
const BAD_NAMES: [&str; 4] = ["", ".", "with space", "d_e"];

#[derive(Debug)]
struct NewTopic {
    name: &'static str,
    /// The number and the replicas of each partition.
    assignment: Vec<(i32, Vec<i32>)>,
    partitions: i32,
    factor: i16,
    configs: Vec<(&'static str, Option<&'static str>)>,
}

#[derive(Debug)]
struct CreateTopics {
    topics: Vec<NewTopic>,
    validate_only: bool,
}

pub(super) fn creation(rng: &mut Rng, image: &Image) -> Box<dyn Operation> {
    let count = rng.usize(1..=2);
    let mut topics: Vec<NewTopic> = (0..count).map(|_| new_topic(rng, image)).collect();
    let has = |name| topics.iter().any(|topic| topic.name == name);
    if has("d.e") && has("d_e") {
        // Two names for one metric at once are in the table of differences.
        topics.pop();
    }
    Box::new(CreateTopics {
        topics,
        validate_only: once_in(rng, 8),
    })
}

fn new_topic(rng: &mut Rng, image: &Image) -> NewTopic {
    let count = rng.i32(1..=4);
    let factor = rng.usize(1..=4);
    let mut assignment: Vec<(i32, Vec<i32>)> = (0..count)
        .map(|index| {
            let mut replicas = replicas(rng, image);
            if !once_in(rng, 15) {
                replicas.truncate(factor);
            }
            if once_in(rng, 40) {
                replicas.extend(replicas.first().copied());
            }
            (index, replicas)
        })
        .collect();
    if once_in(rng, 30) {
        assignment[0].0 += rng.i32(-1..=1);
    }
    let (mut partitions, mut factor) = (-1, -1);
    if once_in(rng, 20) {
        partitions = rng.i32(-2..=3);
        factor = rng.i16(-2..=2);
    }
    let count = if once_in(rng, 3) { rng.usize(1..=2) } else { 0 };
    NewTopic {
        name: match once_in(rng, 25) {
            true => pick(rng, &BAD_NAMES),
            false => pick(rng, &TOPICS),
        },
        assignment,
        partitions,
        factor,
        configs: (0..count)
            .map(|_| {
                let key = config(rng);
                (key, Some(value(rng, key)).filter(|_| !once_in(rng, 20)))
            })
            .collect(),
    }
}

impl Operation for CreateTopics {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let topics = self.topics.iter().map(|topic| CreatableTopic {
            name: topic.name.into(),
            num_partitions: topic.partitions,
            replication_factor: topic.factor,
            assignments: topic
                .assignment
                .iter()
                .map(|(index, replicas)| CreatableReplicaAssignment {
                    partition_index: *index,
                    broker_ids: replicas.as_slice().into(),
                    ..Default::default()
                })
                .collect(),
            configs: topic
                .configs
                .iter()
                .map(|(name, value)| CreatableTopicConfig {
                    name: (*name).into(),
                    value: value.map(Into::into),
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        });
        let request = CreateTopicsRequest {
            topics: topics.collect(),
            timeout_ms: TIMEOUT_MS,
            validate_only: self.validate_only,
            ..Default::default()
        };
        create(side, how, &request)
    }
}

/// Asks for topics. Those that are not made after all get ids that stand for nothing.
pub(super) fn create(side: &mut Side, how: How, request: &CreateTopicsRequest) -> Said {
    let mut said = side.ask(how, request);
    let topics = said.response["topics"].as_array_mut();
    for topic in topics
        .into_iter()
        .flatten()
        .filter(|_| request.validate_only)
    {
        let id = &mut topic["topicId"];
        if id.as_str().is_some_and(|id| id != Uuid::ZERO.to_string()) {
            *id = "<an id>".into();
        }
    }
    said
}

#[derive(Debug)]
struct CreatePartitions {
    topic: &'static str,
    count: i32,
    assignment: Vec<Vec<i32>>,
    validate_only: bool,
}

pub(super) fn more_partitions(rng: &mut Rng, image: &Image) -> Box<dyn Operation> {
    let topic = topic(rng, image);
    let now = image
        .topics()
        .by_name(topic)
        .map_or(0, |topic| topic.partition_count());
    let factor = image
        .topics()
        .by_name(topic)
        .and_then(|topic| topic.partition(0.into()));
    let factor = factor.map_or(1, |partition| partition.replicas().len());
    let more = rng.i32(1..=2);
    let assignment = (0..more).map(|_| {
        let mut replicas = replicas(rng, image);
        if !once_in(rng, 10) {
            replicas.truncate(factor);
        }
        replicas
    });
    let assignment = assignment.collect();
    let wrong = if once_in(rng, 8) { rng.i32(-4..=1) } else { 0 };
    Box::new(CreatePartitions {
        topic,
        count: i32::try_from(now).unwrap_or(0) + more + wrong,
        assignment,
        validate_only: once_in(rng, 6),
    })
}

impl Operation for CreatePartitions {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let assignments = self
            .assignment
            .iter()
            .map(|replicas| CreatePartitionsAssignment {
                broker_ids: replicas.as_slice().into(),
                ..Default::default()
            });
        let request = CreatePartitionsRequest {
            topics: vec![CreatePartitionsTopic {
                name: self.topic.into(),
                count: self.count,
                assignments: Some(assignments.collect()),
                ..Default::default()
            }],
            timeout_ms: TIMEOUT_MS,
            validate_only: self.validate_only,
            ..Default::default()
        };
        side.ask(how, &request)
    }
}

#[derive(Debug)]
struct DeleteTopics(Vec<(&'static str, bool)>);

pub(super) fn deletion(rng: &mut Rng) -> Box<dyn Operation> {
    let count = rng.usize(1..=2);
    let topics = (0..count).map(|_| (pick(rng, &TOPICS), rng.bool()));
    Box::new(DeleteTopics(topics.collect()))
}

impl Operation for DeleteTopics {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let state = |(name, by_id): &(&str, bool)| match by_id {
            true => DeleteTopicState {
                topic_id: side.topic_id(name),
                ..Default::default()
            },
            false => DeleteTopicState {
                name: Some((*name).into()),
                ..Default::default()
            },
        };
        let request = DeleteTopicsRequest {
            topics: self.0.iter().map(state).collect(),
            timeout_ms: TIMEOUT_MS,
            ..Default::default()
        };
        side.ask(how, &request)
    }
}
