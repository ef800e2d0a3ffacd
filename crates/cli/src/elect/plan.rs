use crate::cluster::Cluster;
use crate::errors::Problem;
use klamm_client::{BrokerId, PartitionDescription, TopicPartition};

use super::args::ElectionType;
use super::outcome::{Failure, Outcome};
use super::request::{Request, Scope, Selection};

/// What an election would do to a partition, going by metadata.
///
/// It is a forecast: the controller also knows which brokers are about to shut down and which
/// replica led last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Forecast {
    pub(crate) outcome: Outcome,
    /// Who leads afterwards.
    pub(crate) leader: Option<BrokerId>,
}

/// Forecasts an election of one partition.
pub(crate) fn forecast(
    election: ElectionType,
    cluster: &Cluster,
    partition: Option<&PartitionDescription>,
) -> Forecast {
    let Some(partition) = partition else {
        let failure = Failure::of_kafka(3, "UNKNOWN_TOPIC_OR_PARTITION");
        return Forecast {
            outcome: Outcome::Failed(failure),
            leader: None,
        };
    };
    match election {
        ElectionType::Preferred => preferred(cluster, partition),
        ElectionType::Unclean => unclean(cluster, partition),
    }
}

fn preferred(cluster: &Cluster, partition: &PartitionDescription) -> Forecast {
    if partition.is_led_by_preferred() {
        return Forecast {
            outcome: Outcome::NotNeeded,
            leader: partition.leader,
        };
    }
    let preferred = partition
        .preferred_leader()
        .filter(|&id| is_valid(cluster, partition, id));
    // A leader that is valid keeps leading where the preferred replica is not.
    let elected = match (preferred, partition.leader) {
        (Some(id), _) => Some(id),
        (None, Some(_)) => None,
        (None, None) => first_valid(cluster, partition),
    };
    match elected {
        Some(id) => Forecast {
            outcome: Outcome::Elected,
            leader: Some(id),
        },
        None => Forecast {
            outcome: Outcome::Failed(Failure::of_kafka(80, "PREFERRED_LEADER_NOT_AVAILABLE")),
            leader: partition.leader,
        },
    }
}

fn unclean(cluster: &Cluster, partition: &PartitionDescription) -> Forecast {
    if partition.leader.is_some() {
        return Forecast {
            outcome: Outcome::NotNeeded,
            leader: partition.leader,
        };
    }
    let mut running = partition
        .replicas
        .iter()
        .copied()
        .filter(|&id| cluster.is_online(id, partition));
    match first_valid(cluster, partition).or_else(|| running.next()) {
        Some(id) => Forecast {
            outcome: Outcome::Elected,
            leader: Some(id),
        },
        None => Forecast {
            outcome: Outcome::Failed(Failure::of_kafka(83, "ELIGIBLE_LEADERS_NOT_AVAILABLE")),
            leader: None,
        },
    }
}

fn first_valid(cluster: &Cluster, partition: &PartitionDescription) -> Option<BrokerId> {
    partition
        .replicas
        .iter()
        .copied()
        .find(|&id| is_valid(cluster, partition, id))
}

/// Whether a replica can lead without losing records: online, and in the ISR, or in the ELR when
/// the ISR is empty.
fn is_valid(cluster: &Cluster, partition: &PartitionDescription, replica: BrokerId) -> bool {
    let eligible = if partition.isr.is_empty() {
        partition
            .elr
            .as_ref()
            .is_some_and(|elr| elr.contains(&replica))
    } else {
        partition.isr.contains(&replica)
    };
    eligible && cluster.is_online(replica, partition)
}

/// The partitions of a cluster that an election of all of them is about: those off their preferred
/// leader, or those without a leader.
pub(crate) fn candidates(election: ElectionType, cluster: &Cluster) -> Vec<TopicPartition> {
    let applies = |partition: &PartitionDescription| match election {
        ElectionType::Preferred => !partition.is_led_by_preferred(),
        ElectionType::Unclean => partition.leader.is_none(),
    };
    let all = cluster.partitions.iter();
    all.filter(|(_, partition)| applies(partition))
        .map(|(tp, _)| tp.clone())
        .collect()
}

/// What to ask a cluster for, and in which parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Whether every partition of the cluster is meant.
    pub(crate) is_all: bool,
    /// Partitions to elect together, one wave after the other; empty where one request asks for
    /// all.
    pub(crate) waves: Vec<Vec<TopicPartition>>,
}

impl Plan {
    /// Splits a request into waves. `cluster` is what metadata says; without it nothing can be
    /// selected.
    pub(crate) fn new(request: &Request, cluster: Option<&Cluster>) -> Result<Self, Problem> {
        let is_all = request.scope == Scope::All;
        let partitions = match (&request.scope, cluster) {
            (Scope::Listed(partitions), _) => partitions.clone(),
            (Scope::Selected(selection), Some(cluster)) => selected(selection, cluster)?,
            (Scope::All, Some(cluster)) if request.waves.is_some() => {
                candidates(request.election, cluster)
            }
            _ => {
                return Ok(Self {
                    is_all,
                    waves: Vec::new(),
                });
            }
        };
        let size = request
            .waves
            .map_or(partitions.len(), |waves| waves.size)
            .max(1);
        let waves: Vec<_> = partitions.chunks(size).map(<[_]>::to_vec).collect();
        // An empty list is still asked for: the cluster says whether this user may elect at all.
        let waves = if waves.is_empty() && !is_all {
            vec![Vec::new()]
        } else {
            waves
        };
        Ok(Self { is_all, waves })
    }

    /// How many partitions the waves have.
    pub(crate) fn count(&self) -> usize {
        self.waves.iter().map(Vec::len).sum()
    }

    /// The partitions that are named, or those that an election of all is about.
    pub(crate) fn partitions_or_candidates(
        &self,
        election: ElectionType,
        cluster: &Cluster,
    ) -> Vec<TopicPartition> {
        if self.is_all {
            candidates(election, cluster)
        } else {
            self.waves.concat()
        }
    }
}

fn selected(selection: &Selection, cluster: &Cluster) -> Result<Vec<TopicPartition>, Problem> {
    let unmatched: Vec<_> = selection
        .unmatched(cluster)
        .into_iter()
        .map(ToString::to_string)
        .collect();
    if !unmatched.is_empty() {
        return Err(
            Problem::failure(format!("no topic matches {}", unmatched.join(", ")))
                .because("the cluster has none, or this user may not see it; nothing was elected")
                .next("list topics with 'klamm leaders --partitions'"),
        );
    }
    let partitions = selection.select(cluster);
    if partitions.is_empty() {
        return Err(
            Problem::failure("no topic has a partition of these numbers")
                .because("nothing was elected")
                .next("list partitions with 'klamm leaders --partitions'"),
        );
    }
    Ok(partitions)
}

#[cfg(test)]
mod tests;
