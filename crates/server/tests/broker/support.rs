//! A cluster that is killed and started again.

use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use klamm_client::{
    Admin, Bootstrap, BrokerId, ClientConfig, NewTopic, PartitionDescription, ServerAddress,
    TopicSelection,
};
use klamm_config::Properties;
use klamm_server::format::{InitialQuorum, Plan, Request};
use klamm_server::settings::{BrokerSettings, ControllerSettings, NodeSettings};
use klamm_server::{BrokerNode, ControllerNode};
use tempfile::TempDir;
use tokio::time::Instant;

/// How long a condition is waited for. It is there after milliseconds, or never.
const PATIENCE: Duration = Duration::from_secs(90);

const CLUSTER: &str = "AAAAAAAAAAAAAAAAAAAAAQ";
const CONTROLLER: i32 = 100;

/// Features that the cluster does not have.
const NONE: [&str; 4] = [
    "group.version",
    "share.version",
    "streams.version",
    "transaction.version",
];

/// A controller and brokers 1, 2 and so on.
pub(crate) struct Cluster {
    controller: ControllerNode,
    controller_port: u16,
    dirs: Vec<TempDir>,
    brokers: Vec<Option<BrokerNode>>,
}

impl Cluster {
    /// Starts so many brokers.
    pub(crate) async fn start(brokers: usize) -> Self {
        let dirs: Vec<TempDir> = (0..=brokers)
            .map(|_| tempfile::tempdir().unwrap())
            .collect();
        // Brokers are told of it in their files, so it is chosen before.
        let controller_port = free_port();
        let controller = properties(&format!(
            "node.id={CONTROLLER}\nprocess.roles=controller\n\
             listeners=CONTROLLER://127.0.0.1:{controller_port}\n\
             auto.leader.rebalance.enable=false\n{}",
            common(dirs[0].path(), controller_port)
        ));
        let settings = ControllerSettings::read(&controller).unwrap().0;
        format(&settings.node, InitialQuorum::Standalone);
        let mut cluster = Self {
            controller: ControllerNode::start(settings).await.unwrap(),
            controller_port,
            brokers: (0..brokers).map(|_| None).collect(),
            dirs,
        };
        for id in cluster.ids() {
            format(&cluster.settings(id).node, InitialQuorum::Unsaid);
            cluster.start_broker(id).await;
        }
        cluster
    }

    fn ids(&self) -> Vec<i32> {
        (1..).take(self.brokers.len()).collect()
    }

    fn settings(&self, id: i32) -> BrokerSettings {
        let broker = properties(&format!(
            "node.id={id}\nprocess.roles=broker\nlisteners=PLAINTEXT://127.0.0.1:0\n\
             replica.lag.time.max.ms=2000\n{}",
            common(self.dir(id), self.controller_port)
        ));
        BrokerSettings::read(&broker).unwrap().0
    }

    /// A broker's directory.
    pub(crate) fn dir(&self, id: i32) -> &Path {
        self.dirs[id as usize].path()
    }

    /// Starts a broker, and waits until it serves.
    pub(crate) async fn start_broker(&mut self, id: i32) {
        let mut broker = BrokerNode::start(self.settings(id)).await.unwrap();
        broker.ready().await.unwrap();
        self.brokers[id as usize - 1] = Some(broker);
    }

    /// Ends a broker as a crash does.
    pub(crate) async fn kill_broker(&mut self, id: i32) {
        self.brokers[id as usize - 1].take().unwrap().kill().await;
    }

    /// Stops a broker as a signal does.
    pub(crate) async fn stop_broker(&mut self, id: i32) {
        let broker = self.brokers[id as usize - 1].take().unwrap();
        broker.stop().await.unwrap();
    }

    /// Stops all that runs.
    pub(crate) async fn stop(mut self) {
        for id in self.ids() {
            if self.brokers[id as usize - 1].is_some() {
                self.stop_broker(id).await;
            }
        }
        let stopped = tokio::task::spawn_blocking(|| self.controller.stop());
        stopped.await.unwrap().unwrap();
    }

    /// How clients reach the brokers that run.
    pub(crate) fn clients(&self) -> ClientConfig {
        let running = self.brokers.iter().flatten();
        let servers = running.map(|broker| {
            let address = broker.addresses()[0];
            ServerAddress::new(address.ip().to_string(), address.port())
        });
        ClientConfig::new(Bootstrap::Brokers(servers.collect()))
    }

    pub(crate) async fn admin(&self) -> Admin {
        Admin::connect(self.clients()).await.unwrap()
    }

    /// An admin client that knows one broker alone.
    pub(crate) async fn admin_of(&self, id: i32) -> Admin {
        let address = self.brokers[id as usize - 1].as_ref().unwrap().addresses()[0];
        let server = ServerAddress::new(address.ip().to_string(), address.port());
        let config = ClientConfig::new(Bootstrap::Brokers(vec![server]));
        Admin::connect(config).await.unwrap()
    }

    /// Makes a topic, and waits until its replicas are in sync.
    pub(crate) async fn create(&self, name: &str, partitions: i32, replicas: i16) {
        let mut topic = NewTopic::new(name, partitions, replicas);
        if replicas > 2 {
            let min = ("min.insync.replicas".into(), "2".into());
            topic.configs.extend([min]);
        }
        let admin = self.admin().await;
        let created = admin.create_topics(&[topic], Default::default()).await;
        for (name, outcome) in created.unwrap() {
            outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        self.partitions_are(name, |partition| partition.isr.len() == replicas as usize)
            .await;
    }

    /// What a broker says of a topic's partitions.
    pub(crate) async fn partitions(&self, name: &str) -> Vec<PartitionDescription> {
        let topics = TopicSelection::named([name]);
        let admin = self.admin().await;
        let described = admin.describe_topics(&topics, Default::default());
        match described.await {
            Ok(mut topics) => match topics.remove(name) {
                Some(Ok(topic)) => topic.partitions,
                _ => Vec::new(),
            },
            Err(_) => Vec::new(),
        }
    }

    /// Waits until all partitions of a topic are as wanted.
    pub(crate) async fn partitions_are(
        &self,
        name: &str,
        wanted: impl Fn(&PartitionDescription) -> bool,
    ) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let partitions = self.partitions(name).await;
            if !partitions.is_empty() && partitions.iter().all(&wanted) {
                return;
            }
            assert!(Instant::now() < deadline, "not in time: {partitions:#?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The broker that leads a partition.
    pub(crate) async fn leader(&self, name: &str, index: usize) -> i32 {
        let partitions = self.partitions(name).await;
        let BrokerId(leader) = partitions[index].leader.unwrap();
        leader
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn common(dir: &Path, controller_port: u16) -> String {
    format!(
        "controller.listener.names=CONTROLLER\n\
         controller.quorum.bootstrap.servers=127.0.0.1:{controller_port}\n\
         log.dirs={}\n",
        dir.display()
    )
}

fn properties(text: &str) -> Properties {
    Properties::parse("server.properties", text).unwrap()
}

fn format(node: &NodeSettings, quorum: InitialQuorum) {
    let request = Request {
        cluster_id: CLUSTER.to_owned(),
        release: None,
        // klamm's brokers have no transactions and no groups.
        features: match node.is_controller() {
            true => NONE
                .iter()
                .map(|name| format!("{name}=0").parse().unwrap())
                .collect(),
            false => Vec::new(),
        },
        quorum,
        scram: Vec::new(),
        ignore_formatted: false,
    };
    let plan = Plan::new(node, &request).unwrap();
    plan.carry_out(1).unwrap();
}
