use std::collections::{BTreeMap, BTreeSet};

use klamm_metadata::{ConfigResourceKind, Place, Record, Replicas};
use klamm_protocol::data::metadata::{ConfigRecord, PartitionRecord, TopicRecord};
use klamm_protocol::messages::create_topics::{
    CreatableTopic, CreatableTopicConfig, CreatableTopicConfigs, CreatableTopicResult,
    CreateTopicsRequest, CreateTopicsResponse,
};
use klamm_protocol::{ErrorCode, PartitionIndex, Uuid};

use crate::assignment::{check_size, chosen, created, placer, repeated};
use crate::refusal::Refusal;
use crate::{Decision, View};

#[cfg(test)]
mod tests;

/// The longest name of a topic, in characters.
const MAX_NAME_LEN: usize = 249;
/// The topic of the metadata log, which is none of the cluster's.
const METADATA_TOPIC: &str = "__cluster_metadata";

/// What the caller knows of topic configs: names, values, defaults.
pub trait TopicConfigs {
    /// Says what is wrong with a key or value.
    fn check(&self, key: &str, value: &str) -> Result<(), String>;

    /// Every config of a new topic for which these were set, in the order of the keys.
    fn describe(&self, set: &[CreatableTopicConfig]) -> Vec<CreatableTopicConfigs>;
}

/// A request to create topics.
#[derive(Clone, Copy)]
pub struct CreateTopics<'a> {
    /// The request.
    pub request: &'a CreateTopicsRequest,
    /// Whether the client may create the topic with a name.
    pub may_create: &'a dyn Fn(&str) -> bool,
    /// Whether the client may see the configs of the topic with a name.
    pub may_describe_configs: &'a dyn Fn(&str) -> bool,
    /// Topic configs.
    pub configs: &'a dyn TopicConfigs,
}

impl CreateTopics<'_> {
    /// Decides every topic on its own; the records of all of them take effect together. New topics
    /// get their ids from `ids`, and their places by chance.
    pub fn decide(
        &self,
        view: &View<'_>,
        mut ids: impl FnMut() -> Uuid,
        mut random: impl FnMut(usize) -> usize,
    ) -> Decision<CreateTopicsResponse> {
        let topics = &self.request.topics;
        let repeated = repeated(topics.iter().map(|topic| &*topic.name));
        let mut made: BTreeMap<String, &str> = BTreeMap::new();
        let mut answered = BTreeSet::new();
        let mut results = Vec::with_capacity(topics.len());
        let mut records = Vec::new();
        for topic in topics {
            // A repeated name is answered once.
            if !answered.insert(&*topic.name) {
                continue;
            }
            let created = match repeated.contains(&*topic.name) {
                true => Err(Refusal::new(
                    ErrorCode::INVALID_REQUEST,
                    "the name is there twice",
                )),
                false => match made.get(&unified(&topic.name)) {
                    Some(other) => Err(collision(&topic.name, other)),
                    None => self.create(view, topic, &mut ids, &mut random, &mut records),
                },
            };
            results.push(created.unwrap_or_else(|refusal| CreatableTopicResult {
                name: topic.name.clone(),
                error_code: refusal.code.0,
                error_message: Some((&*refusal.text).into()),
                ..Default::default()
            }));
            if results.last().is_some_and(|result| result.error_code == 0) {
                made.insert(unified(&topic.name), &topic.name);
            }
        }
        if self.request.validate_only {
            records.clear();
        }
        let mut decision = Decision::answer(CreateTopicsResponse {
            topics: results,
            ..Default::default()
        });
        decision.records = records;
        decision.atomic = true;
        decision
    }

    fn create(
        &self,
        view: &View<'_>,
        topic: &CreatableTopic,
        ids: &mut impl FnMut() -> Uuid,
        random: &mut impl FnMut(usize) -> usize,
        records: &mut Vec<Record>,
    ) -> Result<CreatableTopicResult, Refusal> {
        let name = &*topic.name;
        if name == METADATA_TOPIC {
            let text = "the topic is the metadata log's";
            return Err(Refusal::new(ErrorCode::INVALID_REQUEST, text));
        }
        if !(self.may_create)(name) {
            let text = "the client may not create the topic";
            return Err(Refusal::new(ErrorCode::TOPIC_AUTHORIZATION_FAILED, text));
        }
        if view.image().topics().by_name(name).is_some() {
            let text = format!("topic {name} exists");
            return Err(Refusal::new(ErrorCode::TOPIC_ALREADY_EXISTS, text));
        }
        check_name(name)?;
        if let Some(other) = view.image().topics().colliding(name) {
            return Err(collision(name, other));
        }
        let configs = self.check_configs(topic)?;
        let id = ids();
        let partitions = partitions(view, topic, id, records.len() + 1 + configs.len(), random)?;
        let factor = partitions
            .first()
            .map_or(0, |partition| partition.replicas.len());
        let result = self.result(topic, id, partitions.len(), factor);
        records.push(
            TopicRecord {
                name: topic.name.clone(),
                topic_id: id,
                ..Default::default()
            }
            .into(),
        );
        // As in Apache Kafka, a topic's configs come before its partitions.
        records.extend(configs);
        records.extend(partitions.into_iter().map(Record::from));
        Ok(result)
    }

    fn check_configs(&self, topic: &CreatableTopic) -> Result<Vec<Record>, Refusal> {
        let refuse = |text: String| Refusal::new(ErrorCode::INVALID_CONFIG, text);
        // Where a key is there twice, its last value counts.
        let mut values = BTreeMap::new();
        for config in &topic.configs {
            let value = config.value.as_ref();
            let value = value.ok_or_else(|| refuse(format!("{} has no value", config.name)))?;
            values.insert(&*config.name, value);
        }
        let record = |(key, value): (&str, &klamm_protocol::SmallString)| {
            self.configs.check(key, value).map_err(refuse)?;
            Ok(Record::from(ConfigRecord {
                resource_type: ConfigResourceKind::TOPIC.0,
                resource_name: topic.name.clone(),
                name: key.into(),
                value: Some(value.clone()),
                ..Default::default()
            }))
        };
        values.into_iter().map(record).collect()
    }

    fn result(
        &self,
        topic: &CreatableTopic,
        id: Uuid,
        partitions: usize,
        factor: usize,
    ) -> CreatableTopicResult {
        let result = CreatableTopicResult {
            name: topic.name.clone(),
            topic_id: id,
            ..Default::default()
        };
        match (self.may_describe_configs)(&topic.name) {
            true => CreatableTopicResult {
                num_partitions: partitions as i32,
                replication_factor: factor as i16,
                configs: Some(self.configs.describe(&topic.configs)),
                ..result
            },
            false => CreatableTopicResult {
                topic_config_error_code: ErrorCode::TOPIC_AUTHORIZATION_FAILED.0,
                ..result
            },
        }
    }
}

fn partitions(
    view: &View<'_>,
    topic: &CreatableTopic,
    id: Uuid,
    records: usize,
    random: &mut impl FnMut(usize) -> usize,
) -> Result<Vec<PartitionRecord>, Refusal> {
    let refuse = |code, text: &str| Err(Refusal::new(code, text));
    if !topic.assignments.is_empty() {
        if topic.replication_factor != -1 || topic.num_partitions != -1 {
            let text =
                "with an assignment, the replication factor and the number of partitions are -1";
            return refuse(ErrorCode::INVALID_REQUEST, text);
        }
        check_size(view, records, topic.assignments.len())?;
        return assigned(view, topic, id);
    }
    let wanted = |asked: i32, default: i32| if asked == -1 { default } else { asked };
    let config = view.config();
    let factor = topic.replication_factor.into();
    let factor = wanted(factor, config.default_replication_factor.into());
    let count = wanted(topic.num_partitions, config.num_partitions);
    if factor <= 0 {
        let text = "the replication factor must be positive, or -1 for the default";
        return refuse(ErrorCode::INVALID_REPLICATION_FACTOR, text);
    }
    let Some(count) = usize::try_from(count).ok().filter(|count| *count > 0) else {
        let text = "the number of partitions must be positive, or -1 for the default";
        return refuse(ErrorCode::INVALID_PARTITIONS, text);
    };
    check_size(view, records, count)?;
    let mut placer = placer(view, random);
    let placed = (0..count).map(|index| {
        let place = place(id, index);
        created(view, place, &placer.place(factor)?).ok_or_else(|| {
            let text = "every broker is fenced or shutting down";
            Refusal::new(ErrorCode::INVALID_REPLICATION_FACTOR, text)
        })
    });
    placed.collect()
}

/// The partitions of a topic whose assignment the client chose.
fn assigned(
    view: &View<'_>,
    topic: &CreatableTopic,
    id: Uuid,
) -> Result<Vec<PartitionRecord>, Refusal> {
    let refuse = |text: String| Refusal::new(ErrorCode::INVALID_REPLICA_ASSIGNMENT, text);
    let mut factor = None;
    let mut assigned: BTreeMap<i32, Replicas> = BTreeMap::new();
    for assignment in &topic.assignments {
        let index = assignment.partition_index;
        let replicas = chosen(view, &assignment.broker_ids, factor)?;
        factor = Some(replicas.len());
        if assigned.insert(index, replicas).is_some() {
            return Err(refuse(format!("partition {index} is assigned twice")));
        }
    }
    let numbered = (0..).zip(assigned).map(|(expected, (index, replicas))| {
        if expected != index {
            return Err(refuse(
                "partitions are numbered from 0 without a gap".into(),
            ));
        }
        let place = place(id, index as usize);
        created(view, place, &replicas)
            .ok_or_else(|| refuse(format!("no replica of partition {index} is active")))
    });
    numbered.collect()
}

fn place(topic: Uuid, index: usize) -> Place {
    Place {
        topic,
        index: PartitionIndex(index as i32),
    }
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let text = match name {
        "" => "the name is empty".to_owned(),
        "." | ".." => format!("a topic may not be called {name}"),
        _ if name.chars().count() > MAX_NAME_LEN => {
            format!("the name is longer than {MAX_NAME_LEN} characters")
        }
        _ if !name.chars().all(is_legal) => {
            format!("{name}: a name has letters, digits, '.', '_' and '-' only")
        }
        _ => return Ok(()),
    };
    Err(Refusal::new(ErrorCode::INVALID_TOPIC_EXCEPTION, text))
}

fn collision(name: &str, other: &str) -> Refusal {
    let text = format!("{name} differs from topic {other} in '.' and '_' only");
    Refusal::new(ErrorCode::INVALID_TOPIC_EXCEPTION, text)
}

/// What metrics make of a name.
fn unified(name: &str) -> String {
    name.replace('.', "_")
}
