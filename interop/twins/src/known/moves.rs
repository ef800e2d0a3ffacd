//! Differences where partitions move.

use std::collections::BTreeSet;

use klamm_metadata::{Image, LeaderRecoveryState, Partition};
use klamm_protocol::{BrokerId, ErrorCode};
use serde_json::Value;

use super::{Excuse, Place, ids, number};
use crate::history::Outcome;

pub(super) const REPLACED: &str = "a reassignment is replaced by another: what both ask for";
pub(super) const CANCELLED: &str = "a reassignment is cancelled while nobody is in sync: refused";
pub(super) const FIRST_COUNTS: &str =
    "a reassignment is cancelled uncleanly while nobody is in sync: the first one is";

/// Looks at each partition that was asked to move, or to stay.
pub(super) fn moves(
    before: &Image,
    after: &Image,
    apache: &mut Outcome,
    klamm: &mut Outcome,
) -> Vec<Excuse> {
    let mut met = Vec::new();
    let request = apache.said.request.clone();
    for topic in request["topics"].as_array().into_iter().flatten() {
        for asked in topic["partitions"].as_array().into_iter().flatten() {
            let place = Place {
                topic: topic["name"].as_str().unwrap_or_default().to_owned(),
                index: number(&asked["partitionIndex"]),
            };
            let (Some(was), Some(is)) = (place.partition(before), place.partition(after)) else {
                continue;
            };
            let replicas = asked["replicas"].as_array();
            let target = replicas.map(|_| ids(&asked["replicas"]));
            let what = match target {
                _ if !was.is_reassigning() || !differs(&place, apache, klamm) => None,
                Some(target) => is_replaced(&place, was, &target, is, apache).then_some(REPLACED),
                None if is_refused(&place, was, is, apache, klamm) => Some(CANCELLED),
                None if is_first_counted(&place, was, is, apache) => Some(FIRST_COUNTS),
                None => None,
            };
            if let Some(what) = what {
                for outcome in [&mut *apache, &mut *klamm] {
                    let records = &mut outcome.records;
                    records.retain(|record| Place::of_change(record).as_ref() != Some(&place));
                }
                met.push(place.excuse(what));
            }
        }
    }
    met
}

fn differs(place: &Place, apache: &Outcome, klamm: &Outcome) -> bool {
    place.change(&apache.records) != place.change(&klamm.records)
}

fn set(ids: &[BrokerId]) -> BTreeSet<BrokerId> {
    ids.iter().copied().collect()
}

/// Whether each side did its own: klamm goes to the target, and counts what the first reassignment
/// added as added as long as the second wants it too; Apache Kafka's controller adds and removes what
/// the target has more and less than all replicas, those that are being added among them.
fn is_replaced(
    place: &Place,
    was: &Partition,
    target: &[BrokerId],
    is: &Partition,
    apache: &Outcome,
) -> bool {
    let (wanted, all) = (set(target), set(was.replicas()));
    let first = &all - &set(was.adding());
    let is_done = !is.is_reassigning() && is.replicas()[..] == *target;
    let is_begun = set(is.replicas()) == &wanted | &all
        && set(is.adding()) == &wanted - &first
        && set(is.removing()) == &all - &wanted;
    let names = |outcome: &Outcome, field: &str| {
        let change = place.change(&outcome.records);
        let list = change.and_then(|change| change.get(field));
        list.map(|list| set(&ids(list)))
    };
    // A reassignment that ends at once leaves nothing to add or to remove.
    let is_apaches =
        |field, wanted: BTreeSet<BrokerId>, was: &[BrokerId]| match names(apache, field) {
            Some(named) => named.is_empty() || named == wanted,
            None => wanted.is_empty() || wanted == set(was),
        };
    (is_done || is_begun)
        && is_apaches("addingReplicas", &wanted - &all, was.adding())
        && is_apaches("removingReplicas", &all - &wanted, was.removing())
}

/// Whether Apache Kafka's controller refused what klamm did, whose answer it then counts as having
/// given.
fn is_refused(
    place: &Place,
    was: &Partition,
    is: &Partition,
    apache: &mut Outcome,
    klamm: &mut Outcome,
) -> bool {
    let is_cancelled = was.isr().is_empty() && is.isr().is_empty() && !is.is_reassigning();
    let is_changed = apache
        .records
        .iter()
        .any(|record| Place::of_change(record).as_ref() == Some(place));
    let answers = answer(place, apache).zip(answer(place, klamm));
    let Some((refused, done)) = answers.filter(|_| is_cancelled && !is_changed) else {
        return false;
    };
    let is_refused = refused["errorCode"] == ErrorCode::INVALID_REPLICA_ASSIGNMENT.0
        && done["errorCode"] == ErrorCode::NONE.0;
    if is_refused {
        *refused = done.clone();
    }
    is_refused
}

/// Whether Apache Kafka's controller took the first replica for one in sync, and klamm nobody, or a
/// leader that has lost nothing, or that knows that it may have.
fn is_first_counted(place: &Place, was: &Partition, is: &Partition, apache: &Outcome) -> bool {
    let change = place.change(&apache.records);
    let isr = change.and_then(|change| change.get("isr")).map(ids);
    let leader = is.leader();
    let is_sound = match leader == BrokerId::NONE {
        true => is.isr().is_empty(),
        false => was.elr().contains(&leader) || is.recovery() == LeaderRecoveryState::Recovering,
    };
    let is_cancelled = was.isr().is_empty() && !is.is_reassigning();
    is_cancelled && is_sound && isr.as_deref() == is.replicas().get(..1)
}

/// What an outcome answers for a partition.
fn answer<'a>(place: &Place, outcome: &'a mut Outcome) -> Option<&'a mut Value> {
    let topics = outcome.response["responses"].as_array_mut()?.iter_mut();
    let topics = topics.filter(|topic| topic["name"] == *place.topic);
    let mut partitions = topics
        .filter_map(|topic| topic["partitions"].as_array_mut())
        .flatten();
    partitions.find(|it| number(&it["partitionIndex"]) == place.index)
}
