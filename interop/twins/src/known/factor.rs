//! Partitions that are added to a topic whose partitions have more and fewer replicas.

use klamm_metadata::{Image, Topic};
use klamm_protocol::ErrorCode;
use serde_json::Value;

use super::Excuse;
use crate::history::Outcome;

pub(super) const FACTOR: &str =
    "partitions are added where others have more and fewer replicas: how many they need";

/// Leaves out what one side refused and the other did, where each took its own partition for the model.
pub(super) fn factor(before: &Image, apache: &mut Outcome, klamm: &mut Outcome) -> Vec<Excuse> {
    let mut met = Vec::new();
    let request = apache.said.request.clone();
    for asked in request["topics"].as_array().into_iter().flatten() {
        let name = asked["name"].as_str().unwrap_or_default();
        let Some(topic) = before.topics().by_name(name) else {
            continue;
        };
        let counts = counts(asked);
        let first = counts_of(topic).next();
        let is_klamms = counts.iter().all(|count| Some(*count) == first);
        let is_anothers = counts_of(topic).any(|other| counts.iter().all(|count| *count == other));
        let codes = [&*apache, klamm].map(|outcome| code(outcome, name));
        let refused = Some(ErrorCode::INVALID_REPLICA_ASSIGNMENT.0.into());
        let done = Some(ErrorCode::NONE.0.into());
        let is_met = match codes {
            [apaches, klamms] if apaches == refused && klamms == done => {
                is_klamms && counts_of(topic).any(|other| Some(other) != first)
            }
            [apaches, klamms] if apaches == done && klamms == refused => !is_klamms && is_anothers,
            _ => false,
        };
        if is_met {
            leave_out(name, apache);
            leave_out(name, klamm);
            let topic = Some(name.to_owned());
            met.push(Excuse {
                what: FACTOR,
                topic,
            });
        }
    }
    met
}

/// How many replicas the new partitions have.
fn counts(asked: &Value) -> Vec<usize> {
    let assignments = asked["assignments"].as_array().into_iter().flatten();
    let ids = assignments.filter_map(|assignment| assignment["brokerIds"].as_array());
    ids.map(Vec::len).collect()
}

/// How many replicas each partition has.
fn counts_of(topic: &Topic) -> impl Iterator<Item = usize> {
    topic
        .partitions()
        .map(|(_, partition)| partition.replicas().len())
}

fn code(outcome: &Outcome, topic: &str) -> Option<Value> {
    let mut results = outcome.response["results"].as_array()?.iter();
    let result = results.find(|result| result["name"] == topic)?;
    Some(result["errorCode"].clone())
}

/// Takes what an outcome has of new partitions of a topic out of it.
fn leave_out(topic: &str, outcome: &mut Outcome) {
    let id = format!("<id of {topic}>");
    outcome.records.retain(|record| {
        let mut kinds = record.as_object().into_iter().flatten();
        !kinds.any(|(kind, fields)| kind.starts_with("PartitionRecord ") && fields["topicId"] == id)
    });
    if let Some(results) = outcome.response["results"].as_array_mut() {
        results.retain(|result| result["name"] != topic);
    }
}
