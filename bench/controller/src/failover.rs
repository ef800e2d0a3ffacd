//! From `kill -9` of a broker until others lead all that it led, with real brokers.

use std::time::{Duration, Instant};

use klamm_cluster::{Cluster, Program as ClusterProgram, Spec};
use klamm_net::ServerAddress;
use klamm_protocol::messages::elect_leaders::ElectLeadersRequest;
use klamm_protocol::messages::metadata::{
    MetadataRequest, MetadataRequestTopic, MetadataResponsePartition,
};
use tokio::runtime::Runtime;
use tokio::time::sleep;

use crate::server::Program;
use bench_common::{Client, check};

const TOPIC: &str = "led";
const BROKERS: [u32; 3] = [1, 2, 3];
/// How long the others may take.
const DEADLINE: Duration = Duration::from_secs(120);
/// Between two looks at what a broker knows.
const INTERVAL: Duration = Duration::from_millis(1);

/// Three Apache Kafka brokers and a controller, with Kafka's defaults for sessions and heartbeats.
pub(crate) struct Failover {
    cluster: Cluster,
    controller: ServerAddress,
    partitions: usize,
}

impl Failover {
    /// Starts them, and creates a topic that all three lead equally.
    pub(crate) fn start(program: &Program, partitions: usize) -> Result<Self, String> {
        let program = match program {
            Program::Klamm(binary) => ClusterProgram::Klamm(binary.clone()),
            Program::Apache => ClusterProgram::Apache,
        };
        let spec = Spec::separate(1, 3).dynamic_quorum().as_scripts_do();
        let spec = spec.controllers(program);
        let cluster = spec.start();
        let placed = |n: usize| match n % 3 {
            0 => &[1, 2, 3][..],
            1 => &[2, 3, 1],
            _ => &[3, 1, 2],
        };
        let replicas: Vec<&[i32]> = (0..partitions).map(placed).collect();
        cluster.create_topic(TOPIC, &replicas, &[]);
        let controller = ServerAddress::parse_list(&cluster.controllers());
        let controller = controller.map_err(|error| error.to_string())?;
        let controller = controller
            .into_iter()
            .next()
            .ok_or("there is no controller")?;
        Ok(Self {
            cluster,
            controller,
            partitions,
        })
    }

    /// Kills a broker, and says how long it took until both others told clients of new leaders for
    /// all that it led. Afterwards it leads the same again.
    pub(crate) fn sample(&self, runtime: &Runtime, nth: usize) -> Result<Duration, String> {
        let killed = BROKERS[nth % BROKERS.len()];
        let others = BROKERS.iter().filter(|id| **id != killed);
        let mut clients = Vec::new();
        for id in others {
            let server = ServerAddress::parse_list(&self.cluster.broker(*id));
            let server = server.map_err(|error| error.to_string())?;
            clients.push(runtime.block_on(Client::connect(&server[0]))?);
        }
        let start = Instant::now();
        self.cluster.kill(killed);
        runtime.block_on(async {
            for client in &clients {
                let is_led = |partition: &MetadataResponsePartition| {
                    partition.leader_id != -1 && partition.leader_id != killed as i32
                };
                self.until(client, is_led).await?;
            }
            Ok::<(), String>(())
        })?;
        let took = start.elapsed();
        self.restore(runtime, killed, &clients)?;
        Ok(took)
    }

    fn restore(&self, runtime: &Runtime, killed: u32, clients: &[Client]) -> Result<(), String> {
        self.cluster.restart(killed);
        self.cluster.wait_for_brokers(&BROKERS);
        self.cluster.wait_for_topic(TOPIC, "full ISRs", |all| {
            all.iter()
                .all(|partition| partition.isr.len() == BROKERS.len())
        });
        runtime.block_on(async {
            let controller = Client::connect(&self.controller).await?;
            let request = ElectLeadersRequest {
                topic_partitions: None,
                timeout_ms: 30_000,
                ..ElectLeadersRequest::default()
            };
            let answer = controller.ask(&request).await?;
            check("ElectLeaders", answer.error_code, None)?;
            for client in clients {
                let is_home = |partition: &MetadataResponsePartition| {
                    partition.replica_nodes.first() == Some(&partition.leader_id)
                };
                self.until(client, is_home).await?;
            }
            Ok(())
        })
    }

    /// Asks a broker until every partition is as wanted.
    async fn until(
        &self,
        client: &Client,
        is_wanted: impl Fn(&MetadataResponsePartition) -> bool,
    ) -> Result<(), String> {
        let request = MetadataRequest {
            topics: Some(vec![MetadataRequestTopic {
                name: Some(TOPIC.into()),
                ..MetadataRequestTopic::default()
            }]),
            ..MetadataRequest::default()
        };
        let start = Instant::now();
        while start.elapsed() < DEADLINE {
            let response = client.ask(&request).await?;
            let partitions = response.topics.iter().flat_map(|topic| &topic.partitions);
            if partitions.filter(|one| is_wanted(one)).count() == self.partitions {
                return Ok(());
            }
            sleep(INTERVAL).await;
        }
        let tails = self.cluster.tails();
        Err(format!("a broker does not learn of new leaders\n{tails}"))
    }
}
