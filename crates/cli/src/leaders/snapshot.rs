use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::cluster::Cluster;
use crate::patterns::{TopicArg, any_matches};
use klamm_client::{BrokerId, PartitionDescription, TopicPartition};

use super::args::Filter;

/// Who leads what, as far as a filter lets it through.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) brokers: Vec<BrokerRow>,
    pub(crate) partitions: Vec<(TopicPartition, PartitionDescription)>,
    pub(crate) totals: Totals,
}

/// One broker's part, over the partitions that the filter lets through.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct BrokerRow {
    pub(crate) broker: i32,
    /// `host:port`; `None` where the broker is down.
    pub(crate) address: Option<String>,
    pub(crate) rack: Option<String>,
    pub(crate) up: bool,
    pub(crate) leads: usize,
    /// What it would lead if every partition were led by its preferred replica.
    pub(crate) preferred: usize,
    /// `leads - preferred`.
    pub(crate) difference: i64,
    /// Its replicas that are not in the ISR.
    pub(crate) out_of_sync: usize,
}

/// Sums over the partitions that the filter lets through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Totals {
    pub(crate) topics: usize,
    pub(crate) partitions: usize,
    pub(crate) not_preferred: usize,
    pub(crate) leaderless: usize,
    pub(crate) under_replicated: usize,
}

impl Filter {
    fn admits(&self, tp: &TopicPartition, partition: &PartitionDescription) -> bool {
        let on_broker =
            |id: &BrokerId| partition.replicas.contains(id) || partition.leader == Some(*id);
        any_matches(&self.topics, &tp.topic)
            && (self.brokers.is_empty() || self.brokers.iter().any(on_broker))
            && (!self.not_preferred || !partition.is_led_by_preferred())
            && (!self.leaderless || partition.leader.is_none())
            && (!self.under_replicated || partition.is_under_replicated())
    }
}

impl Filter {
    /// The topics, patterns and brokers that are asked for and that the cluster does not have.
    pub(crate) fn strangers(&self, cluster: &Cluster) -> Vec<String> {
        let has_topic =
            |arg: &&TopicArg| cluster.partitions.keys().any(|tp| arg.matches(&tp.topic));
        let topics = self.topics.iter().filter(|arg| !has_topic(arg));
        let ids = cluster.broker_ids();
        let brokers = self.brokers.iter().filter(|id| !ids.contains(id));
        topics
            .map(|arg| format!("no topic matches {arg}"))
            .chain(brokers.map(|id| format!("no broker has the id {id}")))
            .collect()
    }
}

impl Snapshot {
    pub(crate) fn new(cluster: Cluster, filter: &Filter) -> Self {
        let ids = cluster.broker_ids();
        let Cluster {
            brokers,
            mut partitions,
        } = cluster;
        partitions.retain(|tp, partition| filter.admits(tp, partition));

        let mut rows: BTreeMap<BrokerId, BrokerRow> = ids
            .into_iter()
            .map(|broker| {
                (
                    broker,
                    BrokerRow {
                        broker: broker.0,
                        ..BrokerRow::default()
                    },
                )
            })
            .collect();
        for (id, broker) in brokers {
            if let Some(row) = rows.get_mut(&id) {
                row.up = true;
                row.address = Some(broker.address);
                row.rack = broker.rack;
            }
        }
        let mut count = |id: BrokerId, field: fn(&mut BrokerRow) -> &mut usize| {
            if let Some(row) = rows.get_mut(&id) {
                *field(row) += 1;
            }
        };
        for partition in partitions.values() {
            if let Some(leader) = partition.leader {
                count(leader, |row| &mut row.leads);
            }
            if let Some(preferred) = partition.preferred_leader() {
                count(preferred, |row| &mut row.preferred);
            }
            for replica in partition.out_of_sync() {
                count(replica, |row| &mut row.out_of_sync);
            }
        }
        let wanted = |row: &BrokerRow| {
            filter.brokers.is_empty() || filter.brokers.contains(&BrokerId(row.broker))
        };
        let mut brokers: Vec<_> = rows.into_values().filter(wanted).collect();
        for row in &mut brokers {
            row.difference = signed(row.leads) - signed(row.preferred);
        }
        let totals = totals(&partitions);
        Self {
            brokers,
            partitions: partitions.into_iter().collect(),
            totals,
        }
    }
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn totals(partitions: &BTreeMap<TopicPartition, PartitionDescription>) -> Totals {
    let topics: BTreeSet<_> = partitions.keys().map(|tp| &tp.topic).collect();
    let count =
        |test: fn(&PartitionDescription) -> bool| partitions.values().filter(|p| test(p)).count();
    Totals {
        topics: topics.len(),
        partitions: partitions.len(),
        not_preferred: count(|p| !p.is_led_by_preferred()),
        leaderless: count(|p| p.leader.is_none()),
        under_replicated: count(PartitionDescription::is_under_replicated),
    }
}
