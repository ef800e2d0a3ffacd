use std::collections::{BTreeMap, BTreeSet};

use klamm_client::{BrokerId, PartitionDescription, TopicPartition};

/// What one Metadata answer says of a cluster, or of the topics asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cluster {
    /// The brokers that run.
    pub(crate) brokers: BTreeMap<BrokerId, Broker>,
    pub(crate) partitions: BTreeMap<TopicPartition, PartitionDescription>,
}

/// Where a running broker listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broker {
    pub(crate) address: String,
    pub(crate) rack: Option<String>,
}

impl Cluster {
    pub(crate) fn is_up(&self, broker: BrokerId) -> bool {
        self.brokers.contains_key(&broker)
    }

    /// Whether a replica's broker runs and its log directory is online.
    pub(crate) fn is_online(&self, replica: BrokerId, partition: &PartitionDescription) -> bool {
        self.is_up(replica) && !partition.offline.contains(&replica)
    }

    /// Every broker there is: those that run, and those that only replica lists still name.
    pub(crate) fn broker_ids(&self) -> BTreeSet<BrokerId> {
        let replicas = self
            .partitions
            .values()
            .flat_map(|p| p.replicas.iter().chain(&p.leader));
        self.brokers.keys().chain(replicas).copied().collect()
    }

    /// How many partitions each broker leads.
    pub(crate) fn leads(&self) -> BTreeMap<BrokerId, usize> {
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
    use klamm_client::{LeaderEpoch, PartitionIndex};

    use super::*;

    /// A cluster of these running brokers and partitions: (topic, partition, leader, replicas,
    /// ISR).
    #[expect(clippy::type_complexity, reason = "tests read better with bare tuples")]
    pub(crate) fn cluster(up: &[i32], partitions: &[(&str, i32, i32, &[i32], &[i32])]) -> Cluster {
        let brokers = up.iter().map(|&id| {
            let address = format!("kafka-{id}.example:9092");
            (
                BrokerId(id),
                Broker {
                    address,
                    rack: None,
                },
            )
        });
        let partitions = partitions
            .iter()
            .map(|&(topic, partition, leader, replicas, isr)| {
                let ids = |ids: &[i32]| ids.iter().copied().map(BrokerId).collect();
                let down = |id: &i32| !up.contains(id);
                let offline: Vec<_> = replicas.iter().copied().filter(down).collect();
                let state = PartitionDescription {
                    index: PartitionIndex(partition),
                    leader: (leader >= 0).then_some(BrokerId(leader)),
                    leader_epoch: Some(LeaderEpoch(1)),
                    replicas: ids(replicas),
                    isr: ids(isr),
                    offline: ids(&offline),
                    elr: None,
                    last_known_elr: None,
                    error: None,
                };
                (TopicPartition::new(topic, partition), state)
            });
        Cluster {
            brokers: brokers.collect(),
            partitions: partitions.collect(),
        }
    }
}
