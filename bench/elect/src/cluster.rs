use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use klamm_client::{
    Admin, AlterReassignmentsOptions, Bootstrap, BrokerId, ClientConfig, CreateTopicsOptions,
    ListReassignmentsOptions, NewTopic, Placement, ServerAddress, TopicPartition,
};
use klamm_cluster::Cluster;
use tokio::runtime::Runtime;

/// How long the cluster gets for a change.
const DEADLINE: Duration = Duration::from_secs(120);

/// A topic whose partitions each have two of the three brokers as replicas.
pub(crate) struct Topic {
    name: &'static str,
    partitions: i32,
    admin: Admin,
    runtime: Runtime,
    /// How often the preferred leaders were moved.
    moves: Cell<i32>,
}

impl Topic {
    pub(crate) fn create(
        cluster: &Cluster,
        name: &'static str,
        partitions: i32,
    ) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let servers =
            ServerAddress::parse_list(&cluster.bootstrap()).map_err(|error| error.to_string())?;
        let mut config = ClientConfig::new(Bootstrap::Brokers(servers));
        config.default_api_timeout = DEADLINE;
        config.request_timeout = DEADLINE;
        let admin = runtime
            .block_on(Admin::connect(config))
            .map_err(|error| error.to_string())?;
        let topic = Self {
            name,
            partitions,
            admin,
            runtime,
            moves: Cell::new(0),
        };
        topic.fill()?;
        let ready = format!("{name} to have its leaders");
        cluster.wait_for_topic(name, &ready, |all| {
            all.len() == partitions as usize
                && all
                    .iter()
                    .all(|p| p.is_preferred() && p.isr.len() == p.replicas.len())
        });
        Ok(topic)
    }

    pub(crate) fn partitions(&self) -> i32 {
        self.partitions
    }

    /// Makes the other replica of each partition the preferred leader: every one of them then needs
    /// an election. Nothing is copied, since the replicas stay the same.
    pub(crate) fn move_preferred_leaders(&self) -> Result<(), String> {
        self.moves.set(self.moves.get() + 1);
        let mut changes = BTreeMap::new();
        for (partition, replicas) in self.replicas() {
            changes.insert(TopicPartition::new(self.name, partition), Some(replicas));
        }
        let options = AlterReassignmentsOptions::default();
        let altered = self
            .runtime
            .block_on(self.admin.alter_partition_reassignments(&changes, options))
            .map_err(|error| error.to_string())?;
        if let Some((partition, Err(error))) = altered.iter().find(|(_, result)| result.is_err()) {
            return Err(format!("{partition:?}: {error}"));
        }
        // The brokers learn of it a little later.
        let options = ListReassignmentsOptions::default();
        for _ in 0..1_000 {
            let ongoing = self
                .runtime
                .block_on(
                    self.admin
                        .list_partition_reassignments(None, options.clone()),
                )
                .map_err(|error| error.to_string())?;
            if ongoing.is_empty() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err(format!("the reassignment of {} does not end", self.name))
    }

    fn fill(&self) -> Result<(), String> {
        let replicas = self.replicas().map(|(_, replicas)| replicas).collect();
        let topic = NewTopic {
            placement: Placement::Assigned(replicas),
            ..NewTopic::new(self.name, self.partitions, 2)
        };
        let created = self
            .runtime
            .block_on(
                self.admin
                    .create_topics(&[topic], CreateTopicsOptions::default()),
            )
            .map_err(|error| error.to_string())?;
        match created.into_values().find_map(Result::err) {
            Some(error) => Err(error.to_string()),
            None => Ok(()),
        }
    }

    /// The replicas of each partition, the preferred leader first.
    fn replicas(&self) -> impl Iterator<Item = (i32, Vec<BrokerId>)> {
        let swap = self.moves.get() % 2 == 1;
        (0..self.partitions).map(move |partition| {
            let mut replicas = vec![
                BrokerId(partition % 3 + 1),
                BrokerId((partition + 1) % 3 + 1),
            ];
            if swap {
                replicas.reverse();
            }
            (partition, replicas)
        })
    }
}
