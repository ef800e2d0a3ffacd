use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use klamm_client::{
    Admin, AlterReassignmentsOptions, Bootstrap, BrokerId, ClientConfig, CreateTopicsOptions,
    DescribeTopicsOptions, ElectLeadersOptions, ElectionScope, ElectionType, NewTopic,
    PartitionDescription, Placement, ServerAddress, TopicPartition, TopicSelection,
};
use klamm_cluster::Cluster;
use tokio::runtime::Runtime;

/// How long the cluster gets for a change.
const DEADLINE: Duration = Duration::from_secs(120);

/// A topic whose partitions each have two of the three brokers as replicas.
pub(crate) struct Topic {
    name: &'static str,
    partitions: i32,
    brokers: Vec<Admin>,
    runtime: Runtime,
    /// How often the preferred leaders were moved.
    moves: Cell<i32>,
}

/// What an election takes without a process and its connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bare {
    /// From the request to its answer, in milliseconds.
    pub(crate) answered: f64,
    /// From the answer until the broker that was asked shows the new leaders.
    pub(crate) shown: f64,
}

impl Bare {
    /// The middle of several, each number on its own.
    pub(crate) fn median(samples: &[Self]) -> (f64, f64) {
        let middle = |of: fn(&Self) -> f64| crate::process::median(samples.iter().map(of));
        (middle(|bare| bare.answered), middle(|bare| bare.shown))
    }
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
        let mut brokers = Vec::new();
        for id in cluster.broker_ids() {
            let servers = ServerAddress::parse_list(&cluster.broker(id));
            let servers = servers.map_err(|error| error.to_string())?;
            let mut config = ClientConfig::new(Bootstrap::Brokers(servers));
            config.default_api_timeout = DEADLINE;
            config.request_timeout = DEADLINE;
            let connected = runtime.block_on(Admin::connect(config));
            brokers.push(connected.map_err(|error| error.to_string())?);
        }
        let topic = Self {
            name,
            partitions,
            brokers,
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
    /// an election. Nothing is copied, since the replicas stay the same. Afterwards every broker
    /// knows of it.
    pub(crate) fn move_preferred_leaders(&self) -> Result<(), String> {
        self.moves.set(self.moves.get() + 1);
        let mut changes = BTreeMap::new();
        for (partition, replicas) in self.replicas() {
            changes.insert(TopicPartition::new(self.name, partition), Some(replicas));
        }
        let options = AlterReassignmentsOptions::default();
        let altered = self
            .runtime
            .block_on(self.brokers[0].alter_partition_reassignments(&changes, options))
            .map_err(|error| error.to_string())?;
        if let Some((partition, Err(error))) = altered.iter().find(|(_, result)| result.is_err()) {
            return Err(format!("{partition:?}: {error}"));
        }
        let wanted: Vec<_> = self.replicas().map(|(_, replicas)| replicas).collect();
        for broker in &self.brokers {
            self.wait(broker, |known| {
                known.len() == wanted.len()
                    && known.iter().zip(&wanted).all(|(p, w)| p.replicas == *w)
            })?;
        }
        Ok(())
    }

    /// Elects every partition on a connection that is open.
    pub(crate) fn elect(&self) -> Result<Bare, String> {
        let partitions = (0..self.partitions).map(|p| TopicPartition::new(self.name, p));
        let partitions = ElectionScope::Partitions(partitions.collect());
        let broker = &self.brokers[0];
        let start = Instant::now();
        let elected = self.runtime.block_on(async {
            let options = ElectLeadersOptions::default();
            let result = broker.elect_leaders(ElectionType::Preferred, partitions, options);
            result.partitions().await
        });
        let answered = start.elapsed();
        let failed = elected
            .map_err(|error| error.to_string())?
            .into_iter()
            .find_map(|(_, result)| result.err().filter(|e| !e.is_election_not_needed()));
        if let Some(error) = failed {
            return Err(error.to_string());
        }
        self.wait(broker, |known| {
            known.iter().all(PartitionDescription::is_led_by_preferred)
        })?;
        let shown = start.elapsed() - answered;
        Ok(Bare {
            answered: answered.as_secs_f64() * 1e3,
            shown: shown.as_secs_f64() * 1e3,
        })
    }

    /// Asks a broker until what it knows of the topic is what is waited for.
    fn wait(
        &self,
        broker: &Admin,
        is_done: impl Fn(&[PartitionDescription]) -> bool,
    ) -> Result<(), String> {
        let start = Instant::now();
        let mut pause = Duration::from_micros(500);
        while start.elapsed() < DEADLINE {
            let options = DescribeTopicsOptions::default();
            let topics = TopicSelection::named([self.name]);
            let known = self
                .runtime
                .block_on(broker.describe_topics(&topics, options))
                .map_err(|error| error.to_string())?;
            if let Some(Ok(topic)) = known.get(self.name)
                && is_done(&topic.partitions)
            {
                return Ok(());
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        Err(format!(
            "a broker does not learn of changes to {}",
            self.name
        ))
    }

    fn fill(&self) -> Result<(), String> {
        let replicas = self.replicas().map(|(_, replicas)| replicas).collect();
        let topic = NewTopic {
            placement: Placement::Assigned(replicas),
            ..NewTopic::new(self.name, self.partitions, 2)
        };
        let created = self
            .runtime
            .block_on(self.brokers[0].create_topics(&[topic], CreateTopicsOptions::default()))
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
