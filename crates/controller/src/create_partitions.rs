use std::collections::BTreeSet;

use klamm_metadata::{Place, Record, Replicas, Topic};
use klamm_protocol::messages::create_partitions::{
    CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic,
    CreatePartitionsTopicResult,
};
use klamm_protocol::{ErrorCode, PartitionIndex};

use crate::assignment::{check_size, chosen, created, placer, repeated};
use crate::refusal::Refusal;
use crate::{Decision, View};

#[cfg(test)]
mod tests;

/// A request to add partitions to topics (KIP-195).
#[derive(Clone, Copy)]
pub struct CreatePartitions<'a> {
    /// The request.
    pub request: &'a CreatePartitionsRequest,
    /// Whether the client may alter the topic with a name.
    pub may_alter: &'a dyn Fn(&str) -> bool,
}

impl CreatePartitions<'_> {
    /// Decides every topic on its own; the records of all of them take effect together.
    pub fn decide(
        &self,
        view: &View<'_>,
        mut random: impl FnMut(usize) -> usize,
    ) -> Decision<CreatePartitionsResponse> {
        let topics = &self.request.topics;
        let repeated = repeated(topics.iter().map(|topic| &*topic.name));
        let mut answered = BTreeSet::new();
        let mut results = Vec::with_capacity(topics.len());
        let mut records = Vec::new();
        for asked in topics.iter().filter(|topic| answered.insert(&*topic.name)) {
            let added = match repeated.contains(&*asked.name) {
                true => Err(Refusal::new(
                    ErrorCode::INVALID_REQUEST,
                    "the name is there twice",
                )),
                false => self.add(view, asked, &mut random, &mut records),
            };
            let refusal = added.err();
            results.push(CreatePartitionsTopicResult {
                name: asked.name.clone(),
                error_code: refusal.as_ref().map_or(0, |refusal| refusal.code.0),
                error_message: refusal.map(|refusal| (&*refusal.text).into()),
                ..Default::default()
            });
        }
        if self.request.validate_only {
            records.clear();
        }
        let mut decision = Decision::answer(CreatePartitionsResponse {
            results,
            ..Default::default()
        });
        decision.records = records;
        decision.atomic = true;
        decision
    }

    fn add(
        &self,
        view: &View<'_>,
        asked: &CreatePartitionsTopic,
        random: &mut impl FnMut(usize) -> usize,
        records: &mut Vec<Record>,
    ) -> Result<(), Refusal> {
        let name = &*asked.name;
        if !(self.may_alter)(name) {
            let text = "the client may not alter the topic";
            return Err(Refusal::new(ErrorCode::TOPIC_AUTHORIZATION_FAILED, text));
        }
        let topic = view.image().topics().by_name(name).ok_or_else(|| {
            let text = format!("there is no topic {name}");
            Refusal::new(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, text)
        })?;
        let first = topic.partition_count();
        let wanted = usize::try_from(asked.count).unwrap_or(0);
        let Some(more) = wanted.checked_sub(first).filter(|more| *more > 0) else {
            let text = format!(
                "topic {name} has {first} partitions; {} are no more",
                asked.count
            );
            return Err(Refusal::new(ErrorCode::INVALID_PARTITIONS, text));
        };
        check_size(view, records.len(), more)?;
        let assignment = assignment(view, topic, asked, more, random)?;
        let mut added = Vec::with_capacity(more);
        for (index, replicas) in (first..).zip(assignment) {
            let place = Place {
                topic: topic.id(),
                index: PartitionIndex(index as i32),
            };
            let partition = created(view, place, &replicas).ok_or_else(|| {
                let code = match asked.assignments {
                    Some(_) => ErrorCode::INVALID_REPLICA_ASSIGNMENT,
                    None => ErrorCode::INVALID_REPLICATION_FACTOR,
                };
                Refusal::new(code, format!("no replica of partition {index} is active"))
            })?;
            added.push(partition.into());
        }
        records.append(&mut added);
        Ok(())
    }
}

/// The replicas of the new partitions: as many of each as the topic's first one has.
fn assignment(
    view: &View<'_>,
    topic: &Topic,
    asked: &CreatePartitionsTopic,
    more: usize,
    random: &mut impl FnMut(usize) -> usize,
) -> Result<Vec<Replicas>, Refusal> {
    let factor = topic
        .partitions()
        .next()
        .map_or(0, |(_, first)| first.replicas().len());
    let Some(assignments) = &asked.assignments else {
        let mut placer = placer(view, random);
        let placed = (0..more).map(|_| Ok(placer.place(factor as i32)?));
        return placed.collect();
    };
    if assignments.len() != more {
        let count = assignments.len();
        let text = format!("{count} assignments for {more} new partitions");
        return Err(Refusal::new(ErrorCode::INVALID_REPLICA_ASSIGNMENT, text));
    }
    let chosen = assignments
        .iter()
        .map(|one| chosen(view, &one.broker_ids, Some(factor)));
    chosen.collect()
}
