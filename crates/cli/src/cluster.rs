use std::collections::{BTreeMap, BTreeSet};

use klamm_client::TopicPartition;

/// What one Metadata answer says of a cluster, or of the topics asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cluster {
    /// The brokers that run.
    pub(crate) brokers: BTreeMap<i32, Broker>,
    pub(crate) partitions: BTreeMap<TopicPartition, Partition>,
}

/// Where a running broker listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broker {
    pub(crate) address: String,
    pub(crate) rack: Option<String>,
}

/// Who leads and who follows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Partition {
    pub(crate) leader: Option<i32>,
    /// Grows with each election; `None` from brokers that do not say it.
    pub(crate) leader_epoch: Option<i32>,
    /// In the order of the assignment.
    pub(crate) replicas: Vec<i32>,
    pub(crate) isr: Vec<i32>,
    /// `None` where the cluster does not tell.
    pub(crate) elr: Option<Vec<i32>>,
    /// Replicas that are not online: their broker or their log directory is down.
    pub(crate) offline: Vec<i32>,
}

impl Partition {
    /// The first replica of the assignment.
    pub(crate) fn preferred(&self) -> Option<i32> {
        self.replicas.first().copied()
    }

    pub(crate) fn is_led_by_preferred(&self) -> bool {
        self.leader.is_some() && self.leader == self.preferred()
    }

    pub(crate) fn is_under_replicated(&self) -> bool {
        self.out_of_sync().next().is_some()
    }

    /// The replicas that are not in the ISR.
    pub(crate) fn out_of_sync(&self) -> impl Iterator<Item = i32> {
        self.replicas
            .iter()
            .copied()
            .filter(|id| !self.isr.contains(id))
    }
}

impl Cluster {
    pub(crate) fn is_up(&self, broker: i32) -> bool {
        self.brokers.contains_key(&broker)
    }

    /// Whether a replica's broker runs and its log directory is online.
    pub(crate) fn is_online(&self, replica: i32, partition: &Partition) -> bool {
        self.is_up(replica) && !partition.offline.contains(&replica)
    }

    /// Every broker there is: those that run, and those that only replica lists still name.
    pub(crate) fn broker_ids(&self) -> BTreeSet<i32> {
        let replicas = self
            .partitions
            .values()
            .flat_map(|p| p.replicas.iter().chain(&p.leader));
        self.brokers.keys().chain(replicas).copied().collect()
    }

    /// How many partitions each broker leads.
    pub(crate) fn leads(&self) -> BTreeMap<i32, usize> {
        let mut leads = BTreeMap::new();
        for leader in self.partitions.values().filter_map(|p| p.leader) {
            *leads.entry(leader).or_insert(0) += 1;
        }
        leads
    }
}

/// What tests describe clusters with.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A cluster of these running brokers and partitions: (topic, partition, leader, replicas,
    /// ISR).
    #[expect(clippy::type_complexity, reason = "tests read better with bare tuples")]
    pub(crate) fn cluster(up: &[i32], partitions: &[(&str, i32, i32, &[i32], &[i32])]) -> Cluster {
        let brokers = up.iter().map(|&id| {
            let address = format!("kafka-{id}.example:9092");
            (
                id,
                Broker {
                    address,
                    rack: None,
                },
            )
        });
        let partitions = partitions
            .iter()
            .map(|&(topic, partition, leader, replicas, isr)| {
                let state = Partition {
                    leader: (leader >= 0).then_some(leader),
                    leader_epoch: Some(1),
                    replicas: replicas.to_vec(),
                    isr: isr.to_vec(),
                    elr: None,
                    offline: replicas
                        .iter()
                        .copied()
                        .filter(|id| !up.contains(id))
                        .collect(),
                };
                (TopicPartition::new(topic, partition), state)
            });
        Cluster {
            brokers: brokers.collect(),
            partitions: partitions.collect(),
        }
    }
}
