//! The cluster of a run.

use std::time::Duration;

use fastrand::Rng;
use klamm_client::{
    Admin, Bootstrap, BrokerId, ClientConfig, ElectLeadersOptions, ElectionScope, ElectionType,
    ErrorCode, NewTopic, Placement, ServerAddress,
};
use klamm_cluster::{KLAMM_LEVELS, Nodes, Program, Spec, unlike};
use klamm_protocol::messages::metadata::MetadataResponsePartition;
use klamm_protocol::records::Batches;
use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep};

use crate::check::Fault;
use crate::disk::forget;
use crate::load::TOPIC;
use crate::patience::{LIMIT, LOOK, eventually};
use crate::plan::{Action, BROKERS, LinkState, Plan, link_state};
use crate::witness::metadata;

/// An election that the cluster cannot have now is asked for in vain.
const ELECTION: Duration = Duration::from_secs(2);

/// The nodes, and who asks them.
pub(crate) struct Stage {
    pub(crate) nodes: Nodes,
    pub(crate) servers: Vec<ServerAddress>,
    admin: Admin,
    /// What is broken now.
    broken: Vec<Action>,
    partitions: usize,
    forgetful: Option<u32>,
    rng: Rng,
}

impl Stage {
    /// Starts the nodes and makes the topic. They end with the thread that calls this.
    pub(crate) fn set(plan: &Plan, runtime: &Runtime) -> Self {
        let klamm = || Program::Klamm(klamm_suite::binary().to_owned());
        let mut spec = Spec::separate(1, 3)
            .dynamic_quorum()
            .linked()
            .controllers(klamm())
            .format_args(KLAMM_LEVELS)
            .property("min.insync.replicas", "2");
        for broker in BROKERS {
            spec = spec.broker(broker, klamm());
        }
        for (key, value) in &plan.properties {
            spec = spec.property(key, &value.to_string());
        }
        let nodes = spec.start_nodes(|nodes| runtime.block_on(are_in_service(nodes)));
        let servers = servers(&nodes);
        let admin = runtime.block_on(eventually("brokers were asked", async || {
            Admin::connect(config(&servers)).await
        }));
        let stage = Self {
            nodes,
            servers,
            admin,
            broken: Vec::new(),
            partitions: plan.load.partitions,
            forgetful: plan.forgetful,
            rng: Rng::with_seed(plan.seed),
        };
        runtime.block_on(stage.make_topic(plan));
        stage
    }

    async fn make_topic(&self, plan: &Plan) {
        let segment_bytes = plan.load.segment_bytes.to_string();
        let mut topic = NewTopic::new(TOPIC, 1, 3);
        // Every broker leads, and every other may come next.
        let replicas = (0..plan.load.partitions).map(|partition| {
            let mut replicas = BROKERS.map(|id| BrokerId(id as i32)).to_vec();
            replicas.rotate_left(partition % BROKERS.len());
            if partition >= BROKERS.len() {
                replicas.swap(1, 2);
            }
            replicas
        });
        topic.placement = Placement::Assigned(replicas.collect());
        topic.configs = [(
            "internal.segment.bytes".into(),
            segment_bytes.as_str().into(),
        )]
        .into();
        let topics = [topic];
        eventually("a topic was created", async || {
            let created = self.admin.create_topics(&topics, Default::default()).await;
            let mut created = created.map_err(|error| error.to_string())?.into_values();
            let refused = created.find_map(Result::err);
            // An answer may have been lost.
            let refused = refused.filter(|error| error.code != ErrorCode::TOPIC_ALREADY_EXISTS);
            refused.map_or(Ok(()), |error| Err(error.to_string()))
        })
        .await;
        let in_sync = self.until_in_sync().await;
        in_sync.unwrap_or_else(|fault| panic!("{fault}\n{}", self.nodes.tails()));
    }

    /// Does something to the cluster.
    pub(crate) fn act(&mut self, action: Action) {
        action.note(&mut self.broken);
        match action {
            Action::Kill(node) => {
                self.nodes.kill(node);
                if self.forgetful == Some(node) {
                    forget(&self.nodes, node, self.partitions, &mut self.rng);
                }
            }
            Action::Start(node) => self.nodes.restart(node),
            Action::Pause(node) => self.nodes.pause(node),
            Action::Resume(node) => self.nodes.resume(node),
            Action::Cut(ways) | Action::Stall(ways) | Action::Heal(ways) => {
                for link in ways.links() {
                    self.set_link(link);
                }
            }
            Action::Elect => self.elect(),
        }
    }

    fn set_link(&self, link: (u32, u32)) {
        let proxy = self.nodes.link(link.0, link.1);
        match link_state(&self.broken, link) {
            LinkState::Open => proxy.open(),
            LinkState::Stalled => proxy.stall(),
            LinkState::Cut => proxy.close(),
        }
    }

    /// Nobody waits for it, and it may fail.
    fn elect(&self) {
        let admin = self.admin.clone();
        tokio::spawn(async move {
            let options = ElectLeadersOptions {
                timeout: Some(ELECTION),
            };
            let election =
                admin.elect_leaders(ElectionType::Preferred, ElectionScope::All, options);
            let _ = election.partitions().await;
        });
    }

    /// Waits until every broker says that all of them serve, and that all replicas are in sync.
    pub(crate) async fn until_in_sync(&self) -> Result<(), Fault> {
        let deadline = Instant::now() + LIMIT;
        for server in &self.servers {
            while let Err(state) = self.in_sync(server).await {
                if Instant::now() > deadline {
                    let what = format!("not in sync after {LIMIT:?}: {server}: {state}");
                    return Err(Fault::Other(what));
                }
                sleep(LOOK).await;
            }
        }
        Ok(())
    }

    /// What is missing until all are in sync, as a broker sees it.
    async fn in_sync(&self, server: &ServerAddress) -> Result<(), String> {
        let metadata = metadata(server).await.map_err(|error| error.to_string())?;
        let mut partitions = metadata.topics.iter().flat_map(|topic| &topic.partitions);
        let is_lacking = |partition: &&MetadataResponsePartition| {
            partition.leader_id < 0 || partition.isr_nodes.len() < BROKERS.len()
        };
        if let Some(partition) = partitions.find(is_lacking) {
            return Err(format!("{partition:?}"));
        }
        let partitions = metadata.topics.iter().map(|topic| topic.partitions.len());
        match (metadata.brokers.len(), partitions.sum::<usize>()) {
            (brokers, partitions) if brokers < BROKERS.len() || partitions < self.partitions => {
                Err(format!("{brokers} brokers, {partitions} partitions"))
            }
            _ => Ok(()),
        }
    }

    /// Waits until the replicas of every partition have the same bytes.
    pub(crate) async fn until_alike(&self) -> Vec<Fault> {
        let deadline = Instant::now() + LIMIT;
        let mut faults = Vec::new();
        for partition in 0..self.partitions {
            while let Some(fault) = self.unlike(partition) {
                if Instant::now() > deadline {
                    faults.push(fault);
                    break;
                }
                sleep(LOOK).await;
            }
        }
        faults
    }

    /// Where the logs of all partitions end, as they lie on the disk of a broker.
    pub(crate) fn log_ends(&self) -> Vec<i64> {
        let end = |partition| {
            let bytes = self.nodes.log_bytes(BROKERS[0], TOPIC, partition);
            let batches = Batches::new(bytes.unwrap_or_default().into()).flatten();
            batches.last().map_or(0, |batch| batch.last_offset().0 + 1)
        };
        (0..self.partitions).map(end).collect()
    }

    fn unlike(&self, partition: usize) -> Option<Fault> {
        let mut logs = Vec::new();
        for broker in BROKERS {
            match self.nodes.log_bytes(broker, TOPIC, partition) {
                Ok(bytes) => logs.push(bytes),
                Err(error) => return Some(Fault::Other(format!("broker {broker}: {error}"))),
            }
        }
        let at = unlike(&logs)?;
        Some(Fault::Unlike {
            partition,
            at,
            lens: logs.iter().map(Vec::len).collect(),
        })
    }

    /// Whether a node has ended by itself, or a part of it has.
    pub(crate) fn broke_down(&self) -> Option<Fault> {
        if let Some(ended) = self.nodes.ended() {
            return Some(Fault::Other(ended));
        }
        let node = self.nodes.log_contains("panicked at")?;
        Some(Fault::Other(format!("node {node} has panicked")))
    }
}

fn servers(nodes: &Nodes) -> Vec<ServerAddress> {
    ServerAddress::parse_list(&nodes.bootstrap()).expect("brokers have addresses")
}

fn config(servers: &[ServerAddress]) -> ClientConfig {
    let mut config = ClientConfig::new(Bootstrap::Brokers(servers.to_vec()));
    config.request_timeout = Duration::from_secs(5);
    config
}

async fn are_in_service(nodes: &Nodes) -> bool {
    let Ok(admin) = Admin::connect(config(&servers(nodes))).await else {
        return false;
    };
    let cluster = admin.describe_cluster(Default::default()).await;
    cluster.is_ok_and(|cluster| cluster.brokers.len() == BROKERS.len())
}
