use std::collections::BTreeMap;

use serde::Serialize;

use crate::cluster::Cluster;
use klamm_client::{BrokerId, TopicPartition};

use super::advice::detail;
use super::args::ElectionType;
use super::outcome::Outcome;
use super::plan::{Forecast, forecast};
use super::request::{Request, Scope};

/// Everything there is to say about an election, before it has a form.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) election: ElectionType,
    pub(crate) dry_run: bool,
    /// Whether the command was ended before it was done.
    pub(crate) interrupted: bool,
    /// Whether every partition of the cluster was meant.
    pub(crate) is_all: bool,
    pub(crate) rows: Vec<Row>,
    /// The leaders of each broker; `None` without metadata.
    pub(crate) brokers: Option<Vec<BrokerRow>>,
}

/// What became of one partition.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) partition: TopicPartition,
    pub(crate) outcome: Outcome,
    pub(crate) before: Leader,
    pub(crate) after: Leader,
    /// What metadata shows of the reason of a failure.
    pub(crate) detail: Option<String>,
}

/// Who leads a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leader {
    /// Metadata was not asked for, or does not have the partition.
    Unknown,
    /// Nobody.
    None,
    Broker(i32),
}

/// How many of the partitions that were looked at a broker leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct BrokerRow {
    pub(crate) broker: i32,
    pub(crate) leaders_before: usize,
    pub(crate) leaders_after: usize,
}

/// How many partitions ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) elected: usize,
    pub(crate) not_needed: usize,
    pub(crate) failed: usize,
}

impl Leader {
    /// As JSON has it: Kafka's -1 is nobody.
    pub(super) fn id(self) -> Option<i32> {
        match self {
            Self::Unknown => None,
            Self::None => Some(-1),
            Self::Broker(id) => Some(id),
        }
    }

    /// As the other forms have it.
    pub(super) fn word(self) -> String {
        match self {
            Self::Unknown => "-".to_owned(),
            Self::None => "none".to_owned(),
            Self::Broker(id) => id.to_string(),
        }
    }

    /// Who leads a partition by the metadata of its cluster.
    pub(crate) fn of(cluster: Option<&Cluster>, partition: &TopicPartition) -> Self {
        match cluster.and_then(|cluster| cluster.partitions.get(partition)) {
            None => Self::Unknown,
            Some(state) => state.leader.into(),
        }
    }
}

impl From<Option<BrokerId>> for Leader {
    fn from(leader: Option<BrokerId>) -> Self {
        leader.map_or(Self::None, |id| Self::Broker(id.0))
    }
}

impl Report {
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for row in &self.rows {
            match row.outcome {
                Outcome::Elected => counts.elected += 1,
                Outcome::NotNeeded => counts.not_needed += 1,
                Outcome::Failed(_) => counts.failed += 1,
            }
        }
        counts
    }
}

/// The report of an election that was carried out.
pub(crate) fn report(
    request: &Request,
    results: BTreeMap<TopicPartition, Outcome>,
    before: Option<&Cluster>,
    after: Option<&Cluster>,
    interrupted: bool,
) -> Report {
    let row = |(partition, outcome): (TopicPartition, Outcome)| Row {
        before: Leader::of(before, &partition),
        after: Leader::of(after, &partition),
        detail: outcome.failure().and_then(|failure| {
            let cluster = after.or(before)?;
            detail(
                request.election,
                failure,
                cluster,
                cluster.partitions.get(&partition)?,
            )
        }),
        partition,
        outcome,
    };
    Report {
        election: request.election,
        dry_run: false,
        interrupted,
        is_all: request.scope == Scope::All,
        rows: results.into_iter().map(row).collect(),
        brokers: before
            .zip(after)
            .map(|(before, after)| broker_rows(before, after)),
    }
}

/// The report of what an election would do.
pub(crate) fn dry_run(
    request: &Request,
    partitions: &[TopicPartition],
    before: &Cluster,
) -> Report {
    let mut after = before.clone();
    let mut rows = Vec::new();
    for tp in partitions {
        let state = before.partitions.get(tp);
        let Forecast { outcome, leader } = forecast(request.election, before, state);
        if let Some(partition) = after.partitions.get_mut(tp) {
            partition.leader = leader;
        }
        rows.push(Row {
            before: Leader::of(Some(before), tp),
            after: Leader::of(Some(&after), tp),
            detail: outcome
                .failure()
                .and_then(|failure| detail(request.election, failure, before, state?)),
            partition: tp.clone(),
            outcome,
        });
    }
    Report {
        election: request.election,
        dry_run: true,
        interrupted: false,
        is_all: request.scope == Scope::All,
        rows,
        brokers: Some(broker_rows(before, &after)),
    }
}

/// Compares who leads how much. Both clusters are of the same topics.
fn broker_rows(before: &Cluster, after: &Cluster) -> Vec<BrokerRow> {
    let (leads_before, leads_after) = (before.leads(), after.leads());
    let mut ids = before.broker_ids();
    ids.extend(after.broker_ids());
    let row = |broker: BrokerId| BrokerRow {
        broker: broker.0,
        leaders_before: leads_before.get(&broker).copied().unwrap_or(0),
        leaders_after: leads_after.get(&broker).copied().unwrap_or(0),
    };
    ids.into_iter().map(row).collect()
}
