//! Replicas of new partitions, chosen by the placer or by the client.

use std::collections::BTreeSet;

use klamm_metadata::placement::{Placer, UsableBroker};
use klamm_metadata::{Place, Replicas};
use klamm_protocol::data::metadata::PartitionRecord;
use klamm_protocol::{BrokerId, ErrorCode};

use crate::View;
use crate::refusal::Refusal;

/// How many records one request may make where they can be in a transaction.
const MAX_RECORDS: usize = 100_000;
/// How many it may make where they cannot; Apache Kafka's limit.
const MAX_RECORDS_IN_ONE_BATCH: usize = 10_000;

/// Refuses an item that would make the records of a request too many.
pub(crate) fn check_size(view: &View<'_>, records: usize, more: usize) -> Result<(), Refusal> {
    let limit = match view.metadata_version().allows_transactions() {
        true => MAX_RECORDS,
        false => MAX_RECORDS_IN_ONE_BATCH,
    };
    if records.saturating_add(more) <= limit {
        return Ok(());
    }
    let text = format!("the request makes more than {limit} records; ask for less at a time");
    Err(Refusal::new(ErrorCode::POLICY_VIOLATION, text))
}

/// The names that a request has more than once.
pub(crate) fn repeated<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    names
        .into_iter()
        .filter(|name| !seen.insert(*name))
        .collect()
}

/// A placer over the brokers that may get replicas. One that hands its partitions over gets none; one
/// that has stopped is as any other that is fenced.
pub(crate) fn placer<R: FnMut(usize) -> usize>(view: &View<'_>, random: R) -> Placer<R> {
    let brokers = view.image().cluster().brokers();
    let usable = brokers
        .filter(|broker| broker.takes_replicas())
        .filter(|broker| broker.fenced || !broker.in_controlled_shutdown);
    let usable = usable.map(|broker| UsableBroker {
        id: broker.id,
        rack: broker.rack.clone(),
        fenced: broker.fenced,
    });
    Placer::new(usable, random)
}

/// Replicas that a client chose. With a replication factor, there are as many.
pub(crate) fn chosen(
    view: &View<'_>,
    replicas: &[i32],
    replication_factor: Option<usize>,
) -> Result<Replicas, Refusal> {
    let refuse = |text: String| Err(Refusal::new(ErrorCode::INVALID_REPLICA_ASSIGNMENT, text));
    if replicas.is_empty() {
        return refuse("an assignment has no replicas".into());
    }
    let mut seen = BTreeSet::new();
    for id in replicas.iter().copied().map(BrokerId) {
        match view.image().cluster().broker(id) {
            None => return refuse(format!("broker {id} is not registered")),
            Some(broker) if !broker.takes_replicas() => {
                return refuse(format!("every log directory of broker {id} is cordoned"));
            }
            Some(_) if !seen.insert(id) => {
                return refuse(format!("broker {id} is in an assignment twice"));
            }
            Some(_) => {}
        }
    }
    match replication_factor {
        Some(factor) if factor != replicas.len() => {
            let count = replicas.len();
            refuse(format!(
                "an assignment has {count} replicas where others have {factor}"
            ))
        }
        _ => Ok(replicas.into()),
    }
}

/// A new partition, whose active replicas are in sync and the first of them leads. `None` where no
/// replica is active.
pub(crate) fn created(
    view: &View<'_>,
    place: Place,
    replicas: &Replicas,
) -> Option<PartitionRecord> {
    let isr = replicas.filtered(|broker| view.image().cluster().is_active(broker));
    let directories = view.metadata_version().allows_directory_assignment();
    let directories = replicas.iter().filter(|_| directories);
    Some(PartitionRecord {
        partition_id: place.index.0,
        topic_id: place.topic,
        replicas: replicas.to_wire(),
        leader: isr.first()?.0,
        isr: isr.to_wire(),
        leader_epoch: 0,
        partition_epoch: 0,
        directories: directories
            .map(|broker| view.default_dir(*broker))
            .collect(),
        ..Default::default()
    })
}
