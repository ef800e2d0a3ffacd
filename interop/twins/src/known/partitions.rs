//! Differences in changes of partitions.

use klamm_metadata::{Image, Partition};
use klamm_protocol::BrokerId;
use serde_json::{Map, Value};

use super::{Excuse, Place, ids, number, partition_change, partition_change_mut};
use crate::history::Outcome;

pub(super) const OFFLINE_NAMED: &str =
    "a broker names an offline directory for a replica: two changes";
pub(super) const OFFLINE_COUNTS: &str =
    "a broker names an offline directory for a replica: it counts as online once more";
pub(super) const REMOVED_ELIGIBLE: &str =
    "a reassignment ends below the least ISR: the removed are eligible";

const ELR: &str = "eligibleLeaderReplicas";

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

/// A replica that is told to be in an offline directory leads, is in sync, or makes a reassignment
/// complete: with Apache Kafka's controller, which looks at that only afterwards. With klamm's it does
/// not lead, and is in sync only where nobody else is.
pub(super) fn counts_offline(
    before: &Image,
    after: &Image,
    apache: &mut Outcome,
    klamm: &mut Outcome,
) -> Vec<Excuse> {
    let teller = BrokerId(number(&apache.said.request["brokerId"]));
    let is_meant = |place: &Place| {
        let is = place.partition(after);
        let directory = is.and_then(|is| is.directory(teller));
        let told = before.cluster().broker(teller).zip(directory);
        let is_offline = told.is_some_and(|(broker, id)| !broker.has_online_dir(id));
        // The last one in sync stays in the ISR, without being leader.
        let is_out = is.is_some_and(|is| {
            is.leader() != teller && (!is.isr().contains(&teller) || is.isr().len() == 1)
        });
        is_offline && is_out
    };
    let of = |outcome: &Outcome, place: &Place| {
        let its = |record: &&Value| Place::of_change(record).as_ref() == Some(place);
        outcome
            .records
            .iter()
            .filter(its)
            .cloned()
            .collect::<Vec<_>>()
    };
    let told = klamm.records.iter().filter_map(Place::of_change);
    let met: Vec<Place> = told
        .filter(|place| is_meant(place) && of(apache, place) != of(klamm, place))
        .collect();
    for outcome in [apache, klamm] {
        let is_its =
            |record: &Value| Place::of_change(record).is_some_and(|its| met.contains(&its));
        outcome.records.retain(|record| !is_its(record));
    }
    met.iter()
        .map(|place| place.excuse(OFFLINE_COUNTS))
        .collect()
}

/// Takes out of Apache Kafka's changes who is no replica any more and is in the ELR still.
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
        let what = without_removed(change, own, was, is);
        met.extend(what.map(|what| place.excuse(what)));
    }
    met
}

fn without_removed(
    change: &mut Map<String, Value>,
    own: &Map<String, Value>,
    was: &Partition,
    is: &Partition,
) -> Option<&'static str> {
    let elr = match (change.get(ELR), own.get(ELR)) {
        (Some(elr), _) => ids(elr),
        (None, Some(_)) => was.elr().to_vec(),
        (None, None) => return None,
    };
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
