use std::collections::{BTreeMap, BTreeSet};

use klamm_metadata::config_keys::TOPIC_KEYS;
use klamm_metadata::{ConfigResource, Place, Record, Replicas};
use klamm_protocol::data::metadata::{PartitionRecord, TopicRecord};
use klamm_protocol::messages::create_topics::{
    CreatableTopic, CreatableTopicConfigs, CreatableTopicResult, CreateTopicsRequest,
    CreateTopicsResponse,
};
use klamm_protocol::{ErrorCode, PartitionIndex, Uuid};

use crate::assignment::{check_size, chosen, created, placer, repeated};
use crate::config_source::ConfigSource;
use crate::configs::{ConfigChanges, Op, Origin};
use crate::refusal::Refusal;
use crate::{Decision, View};

#[cfg(test)]
mod tests;

/// The longest name of a topic, in characters.
const MAX_NAME_LEN: usize = 249;
/// The topic of the metadata log, which is none of the cluster's.
const METADATA_TOPIC: &str = "__cluster_metadata";

/// A request to create topics.
#[derive(Clone, Copy)]
pub struct CreateTopics<'a> {
    /// The request.
    pub request: &'a CreateTopicsRequest,
    /// Whether the client may create the topic with a name.
    pub may_create: &'a dyn Fn(&str) -> bool,
    /// Whether the client may see the configs of the topic with a name.
    pub may_describe_configs: &'a dyn Fn(&str) -> bool,
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
        let configs = configs(view, topic)?;
        let id = ids();
        let partitions = partitions(view, topic, id, records.len() + 1 + configs.len(), random)?;
        let factor = partitions
            .first()
            .map_or(0, |partition| partition.replicas.len());
        let result = self.result(view, topic, id, partitions.len(), factor);
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

    fn result(
        &self,
        view: &View<'_>,
        topic: &CreatableTopic,
        id: Uuid,
        partitions: usize,
        factor: usize,
    ) -> CreatableTopicResult {
        let result = CreatableTopicResult {
            name: topic.name.clone(),
            topic_id: id,
            // The schema's default is an empty text.
            error_message: None,
            ..Default::default()
        };
        match (self.may_describe_configs)(&topic.name) {
            true => CreatableTopicResult {
                num_partitions: partitions as i32,
                replication_factor: factor as i16,
                configs: Some(described(view, topic)),
                ..result
            },
            false => CreatableTopicResult {
                topic_config_error_code: ErrorCode::TOPIC_AUTHORIZATION_FAILED.0,
                ..result
            },
        }
    }
}

/// The records of a topic's configs.
fn configs(view: &View<'_>, topic: &CreatableTopic) -> Result<Vec<Record>, Refusal> {
    let unset = topic.configs.iter().filter(|config| config.value.is_none());
    let unset: Vec<&str> = unset.map(|config| &*config.name).collect();
    if !unset.is_empty() {
        let text = format!(
            "Null value not supported for topic configs: {}",
            unset.join(",")
        );
        return Err(Refusal::new(ErrorCode::INVALID_CONFIG, text));
    }
    let ops = topic.configs.iter();
    let ops = ops.map(|config| (&*config.name, Op::Set(config.value.as_deref())));
    let mut changes = ConfigChanges::new(*view, Origin::Creation);
    changes.change(
        &ConfigResource::topic(&topic.name),
        &ops.collect::<Vec<_>>(),
    )?;
    Ok(changes.into_records())
}

/// Every config of a new topic, in the order of the names.
fn described(view: &View<'_>, topic: &CreatableTopic) -> Vec<CreatableTopicConfigs> {
    let mut listed: Vec<_> = TOPIC_KEYS.iter().filter(|key| !key.internal).collect();
    listed.sort_unstable_by_key(|key| key.name);
    let described = listed.into_iter().map(|key| {
        let mut own = topic.configs.iter().rev();
        let own = own.find(|config| *config.name == *key.name);
        let (source, value) = match own {
            Some(config) => (ConfigSource::Topic, config.value.clone()),
            None => {
                let (source, value) = view.inherited(key, View::node_value_of);
                (source, value.map(|value| (&*value).into()))
            }
        };
        CreatableTopicConfigs {
            name: key.name.into(),
            value,
            config_source: source.to_wire(),
            ..Default::default()
        }
    });
    described.collect()
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

/// Whether a topic may have this name.
pub fn is_topic_name(name: &str) -> bool {
    check_name(name).is_ok()
}

/// The same, with the reason where it may not. The texts are Kafka's.
pub(crate) fn check_name(name: &str) -> Result<(), Refusal> {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let text = match name {
        "" => "the empty string is not allowed".to_owned(),
        "." | ".." => format!("'{name}' is not allowed"),
        _ if name.chars().count() > MAX_NAME_LEN => {
            format!("the length of '{name}' is longer than the max allowed length {MAX_NAME_LEN}")
        }
        _ if !name.chars().all(is_legal) => format!(
            "'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' \
             and '-'"
        ),
        _ => return Ok(()),
    };
    let text = format!("Topic name is invalid: {text}");
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
