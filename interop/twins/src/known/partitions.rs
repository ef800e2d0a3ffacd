//! Differences in changes of partitions.

use std::collections::BTreeSet;

use klamm_metadata::{Image, Partition};
use klamm_protocol::BrokerId;
use serde_json::{Map, Value};

use super::{Excuse, Place, ids, number, partition_change, partition_change_mut};
use crate::history::Outcome;

pub(super) const OFFLINE_NAMED: &str =
    "a broker names an offline directory for a replica: two changes";
pub(super) const OFFLINE_ENDS: &str =
    "a broker names an offline directory for a replica: with it a reassignment ends";
pub(super) const ELR_ORDER: &str = "the ELR in another order is a change";
pub(super) const NOBODY_LAST: &str =
    "a partition that never had a known leader: -1 is the last one";
pub(super) const REMOVED_ELIGIBLE: &str =
    "a reassignment ends below the least ISR: the removed are eligible";

const ELR: &str = "eligibleLeaderReplicas";
const LAST_KNOWN: &str = "lastKnownElr";
/// A change names its partition with so many fields.
const NAMES: usize = 2;

/// What a broker tells of an offline directory is one change, and two of Apache Kafka.
pub(super) fn names_offline(apache: &mut Outcome, klamm: &Outcome) -> Vec<Excuse> {
    let mut met = Vec::new();
    for record in &klamm.records {
        let Some(change) = partition_change(record) else {
            continue;
        };
        let place = Place::of(change);
        let is_part = |other: &Value| {
            let other = partition_change(other).filter(|other| Place::of(other) == place);
            other.is_some_and(|other| {
                other
                    .iter()
                    .all(|(key, value)| change.get(key) == Some(value))
            })
        };
        let parts: Vec<&Value> = apache.records.iter().filter(|part| is_part(part)).collect();
        let fields = parts
            .iter()
            .filter_map(|part| partition_change(part))
            .flatten();
        let all: Map<String, Value> = fields
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if parts.len() == 2 && all == *change {
            apache.records.retain(|record| !is_part(record));
            apache.records.push(record.clone());
            met.push(place.excuse(OFFLINE_NAMED));
        }
    }
    met
}

/// A reassignment ends because of a replica in sync that is told to be in an offline directory: with
/// Apache Kafka's controller, which looks at that only afterwards.
pub(super) fn ends_offline(
    before: &Image,
    apache: &mut Outcome,
    klamm: &mut Outcome,
) -> Vec<Excuse> {
    let teller = BrokerId(number(&apache.said.request["brokerId"]));
    let ends = |change: &Map<String, Value>| {
        let is_none = |key| change.get(key).is_some_and(|list| ids(list).is_empty());
        is_none("addingReplicas") && is_none("removingReplicas")
    };
    let mut met = Vec::new();
    for place in klamm.records.iter().filter_map(Place::of_change) {
        let was = place.partition(before);
        let is_moving = was.is_some_and(|was| was.is_reassigning() && was.isr().contains(&teller));
        let own = place.change(&klamm.records);
        let is_met = is_moving
            && own.is_some_and(|own| own.contains_key("directories") && !ends(own))
            && place.change(&apache.records).is_some_and(ends);
        if is_met {
            met.push(place);
        }
    }
    for outcome in [apache, klamm] {
        let is_its =
            |record: &Value| Place::of_change(record).is_some_and(|its| met.contains(&its));
        outcome.records.retain(|record| !is_its(record));
    }
    met.iter().map(|place| place.excuse(OFFLINE_ENDS)).collect()
}

/// Takes out of Apache Kafka's changes what klamm leaves out: the ELR in another order, nobody as the
/// last known leader, and who is no replica any more in the ELR.
pub(super) fn eligible(
    before: &Image,
    after: &Image,
    apache: &mut Outcome,
    klamm: &Outcome,
) -> Vec<Excuse> {
    let mut met = Vec::new();
    for record in &mut apache.records {
        let Some(change) = partition_change_mut(record) else {
            continue;
        };
        let place = Place::of(change);
        let (Some(was), Some(is)) = (place.partition(before), place.partition(after)) else {
            continue;
        };
        let none = Map::new();
        let own = place.change(&klamm.records).unwrap_or(&none);
        let what = without_removed(change, own, is)
            .or_else(|| without_order(change, own, was))
            .or_else(|| without_nobody(change, own));
        met.extend(what.map(|what| place.excuse(what)));
    }
    let is_empty = |record: &Value| partition_change(record).is_some_and(|c| c.len() == NAMES);
    if !met.is_empty() {
        apache.records.retain(|record| !is_empty(record));
    }
    met
}

fn set(ids: &[BrokerId]) -> BTreeSet<BrokerId> {
    ids.iter().copied().collect()
}

fn without_removed(
    change: &mut Map<String, Value>,
    own: &Map<String, Value>,
    is: &Partition,
) -> Option<&'static str> {
    let elr = ids(change.get(ELR)?);
    let kept: Vec<i32> = elr
        .iter()
        .filter(|id| is.replicas().contains(id))
        .map(|id| id.0)
        .collect();
    if kept.len() == elr.len() || !own.contains_key("replicas") {
        return None;
    }
    match kept.is_empty() && !own.contains_key(ELR) {
        true => change.remove(ELR),
        false => change.insert(ELR.into(), kept.into()),
    };
    Some(REMOVED_ELIGIBLE)
}

fn without_order(
    change: &mut Map<String, Value>,
    own: &Map<String, Value>,
    was: &Partition,
) -> Option<&'static str> {
    let known = [(ELR, was.elr()), (LAST_KNOWN, was.last_known_elr())];
    let mut met = None;
    for (key, known) in known {
        let is_same = change
            .get(key)
            .is_some_and(|new| set(&ids(new)) == set(known));
        if is_same && !own.contains_key(key) {
            change.remove(key);
            met = Some(ELR_ORDER);
        }
    }
    met
}

fn without_nobody(
    change: &mut Map<String, Value>,
    own: &Map<String, Value>,
) -> Option<&'static str> {
    let is_nobody = ids(change.get(LAST_KNOWN)?) == [BrokerId::NONE];
    if !is_nobody || own.contains_key(LAST_KNOWN) {
        return None;
    }
    change.remove(LAST_KNOWN);
    Some(NOBODY_LAST)
}
