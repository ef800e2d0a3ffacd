//! A cluster to test: a controller and brokers on free ports of 127.0.0.1.

use std::path::Path;
use std::time::Duration;

use klamm_client::{
    Admin, Bootstrap, ClientConfig, Consumer, ConsumerOptions, CreateTopicsOptions,
    DescribeTopicsOptions, NewTopic, PartitionDescription, Placement, Producer, ProducerOptions,
    SeekTo, ServerAddress, TopicPartition, TopicSelection,
};
use klamm_config::Properties;
use klamm_protocol::BrokerId;
use klamm_server::format::{InitialQuorum, Plan, Request as FormatRequest};
use klamm_server::settings::{BrokerSettings, ControllerSettings, NodeSettings};
use klamm_server::{BrokerNode, ControllerNode};
use tempfile::TempDir;
use tokio::time::Instant;

/// How long a condition is waited for. It is there after milliseconds, or never.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The id of the controller.
const CONTROLLER: i32 = 100;

/// The cluster's id.
const CLUSTER: &str = "AAAAAAAAAAAAAAAAAAAAAQ";

/// What klamm's brokers do not have.
pub(crate) const WITHOUT: [&str; 4] = [
    "transaction.version=0",
    "group.version=0",
    "share.version=0",
    "streams.version=0",
];

/// A cluster on directories that go with it.
pub(crate) struct Cluster {
    dir: TempDir,
    port: u16,
    controller: Option<ControllerNode>,
    brokers: Vec<(i32, BrokerNode)>,
    more: String,
}

impl Cluster {
    /// A controller without brokers, of a cluster whose features are at these levels.
    pub(crate) async fn with_features(features: &[&str]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut cluster = Self {
            dir,
            port: 0,
            controller: None,
            brokers: Vec::new(),
            more: String::new(),
        };
        let text = cluster.controller_file(1);
        cluster.format(&text, InitialQuorum::Standalone, features);
        cluster.start_controller().await;
        cluster
    }

    /// A controller and so many brokers, which serve.
    pub(crate) async fn of(brokers: i32) -> Self {
        let mut cluster = Self::with_features(&WITHOUT).await;
        for id in 1..=brokers {
            cluster.add(id).await;
        }
        cluster
    }

    /// Formats the directories of another broker, and starts it.
    pub(crate) async fn add(&mut self, id: i32) {
        self.prepare(id);
        self.start(id).await;
    }

    /// Formats the directories of another broker.
    pub(crate) fn prepare(&self, id: i32) {
        self.format(&self.broker_file(id), InitialQuorum::Unsaid, &[]);
    }

    /// Sets a property of the nodes that are started from now on.
    pub(crate) fn set(&mut self, key: &str, value: &str) {
        self.more.push_str(&format!("{key}={value}\n"));
    }

    /// Starts a broker, and waits until it serves.
    pub(crate) async fn start(&mut self, id: i32) {
        let mut node = self.begin(id).await;
        node.ready().await.expect("it serves");
        self.brokers.push((id, node));
    }

    /// Starts a broker whose directories are formatted.
    pub(crate) async fn begin(&self, id: i32) -> BrokerNode {
        self.begin_with(&self.broker_file(id)).await
    }

    pub(crate) async fn begin_with(&self, text: &str) -> BrokerNode {
        let (settings, warnings) = BrokerSettings::read(&file(text)).expect("settings");
        assert_eq!(warnings, []);
        BrokerNode::start(settings).await.expect("a broker")
    }

    pub(crate) async fn start_controller(&mut self) {
        let text = self.controller_file(self.port);
        let (settings, warnings) = ControllerSettings::read(&file(&text)).expect("settings");
        assert_eq!(warnings, []);
        let node = ControllerNode::start(settings).await.expect("a controller");
        // It comes back at the same address.
        self.port = node.addresses()[0].port();
        self.controller = Some(node);
    }

    pub(crate) async fn stop_controller(&mut self) {
        let node = self.controller.take().expect("it runs");
        let stopped = tokio::task::spawn_blocking(|| node.stop());
        stopped.await.expect("no panic").expect("it stops well");
    }

    /// Ends a broker as a crash does.
    pub(crate) async fn kill(&mut self, id: i32) {
        self.take(id).kill().await;
    }

    /// Stops a broker as a signal does.
    pub(crate) async fn stop(&mut self, id: i32) {
        self.take(id).stop().await.expect("it stops well");
    }

    fn take(&mut self, id: i32) -> BrokerNode {
        let at = self.brokers.iter().position(|(known, _)| *known == id);
        self.brokers.remove(at.expect("it runs")).1
    }

    pub(crate) fn path(&self, node: i32) -> std::path::PathBuf {
        self.dir.path().join(node.to_string())
    }

    fn controller_file(&self, port: u16) -> String {
        format!(
            "node.id={CONTROLLER}\n\
             process.roles=controller\n\
             listeners=CONTROLLER://127.0.0.1:{port}\n\
             controller.listener.names=CONTROLLER\n\
             controller.quorum.bootstrap.servers=127.0.0.1:1\n\
             auto.leader.rebalance.enable=false\n\
             log.dirs={}\n{}",
            self.path(CONTROLLER).display(),
            self.more,
        )
    }

    pub(crate) fn broker_file(&self, id: i32) -> String {
        format!(
            "node.id={id}\n\
             process.roles=broker\n\
             listeners=PLAINTEXT://127.0.0.1:0\n\
             controller.listener.names=CONTROLLER\n\
             controller.quorum.bootstrap.servers=127.0.0.1:{}\n\
             replica.lag.time.max.ms=2000\n\
             log.dirs={}\n{}",
            self.port,
            self.path(id).display(),
            self.more,
        )
    }

    fn format(&self, text: &str, quorum: InitialQuorum, features: &[&str]) {
        let (node, _) = NodeSettings::read(&file(text)).expect("settings");
        let features = features.iter().map(|text| text.parse().expect("a level"));
        let request = FormatRequest {
            cluster_id: CLUSTER.to_owned(),
            release: None,
            features: features.collect(),
            quorum,
            scram: Vec::new(),
            ignore_formatted: false,
        };
        let plan = Plan::new(&node, &request).expect("a plan");
        plan.carry_out(1).expect("a formatted directory");
    }

    /// The address of a broker.
    pub(crate) fn address(&self, id: i32) -> ServerAddress {
        let (_, node) = self
            .brokers
            .iter()
            .find(|(known, _)| *known == id)
            .expect("it runs");
        let address = node.addresses()[0];
        ServerAddress::new(address.ip().to_string(), address.port())
    }

    fn config(&self, ids: &[i32]) -> ClientConfig {
        let servers = ids.iter().map(|id| self.address(*id)).collect();
        let mut config = ClientConfig::new(Bootstrap::Brokers(servers));
        config.default_api_timeout = PATIENCE;
        config
    }

    fn running(&self) -> Vec<i32> {
        self.brokers.iter().map(|(id, _)| *id).collect()
    }

    /// A client that knows one broker.
    pub(crate) async fn admin(&self, broker: i32) -> Admin {
        let admin = Admin::connect(self.config(&[broker])).await;
        admin.expect("the broker serves")
    }

    pub(crate) async fn producer(&self) -> Producer {
        let config = self.config(&self.running());
        let producer = Producer::connect(config, ProducerOptions::default()).await;
        producer.expect("a broker serves")
    }

    /// Every record of a partition, read from its beginning, until there are so many.
    pub(crate) async fn consume(&self, topic: &str, count: usize) -> Vec<String> {
        let config = self.config(&self.running());
        let consumer = Consumer::connect(config, ConsumerOptions::default()).await;
        let mut consumer = consumer.expect("a broker serves");
        let partition = TopicPartition::new(topic, 0);
        consumer.assign([partition.clone()]);
        consumer
            .seek(&partition, SeekTo::Beginning)
            .expect("it is assigned");
        let mut found = Vec::new();
        let deadline = Instant::now() + PATIENCE;
        while found.len() < count {
            assert!(
                Instant::now() < deadline,
                "{} of {count} records",
                found.len()
            );
            let read = consumer.poll(Duration::from_millis(500)).await;
            for records in read.expect("records") {
                for record in records.records() {
                    let record = record.expect("a record");
                    let value = record.value().expect("a value").to_vec();
                    found.push(String::from_utf8(value).expect("a text"));
                }
            }
        }
        found
    }

    /// Creates a topic of one partition with these replicas.
    pub(crate) async fn create(&self, by: i32, topic: &str, replicas: &[i32]) {
        let replicas: Vec<BrokerId> = replicas.iter().copied().map(BrokerId).collect();
        let topic = NewTopic {
            placement: Placement::Assigned(vec![replicas]),
            ..NewTopic::new(topic, 1, 1)
        };
        let admin = self.admin(by).await;
        let created = admin
            .create_topics(&[topic], CreateTopicsOptions::default())
            .await;
        for (name, result) in created.expect("an answer") {
            result.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }

    /// What a broker says of a topic's only partition; `None` while it does not know it.
    pub(crate) async fn partition(&self, at: i32, topic: &str) -> Option<PartitionDescription> {
        let admin = self.admin(at).await;
        let selection = TopicSelection::named([topic]);
        let options = DescribeTopicsOptions::default();
        let described = admin
            .describe_topics(&selection, options)
            .await
            .expect("an answer");
        let (_, described) = described.into_iter().next()?;
        described.ok()?.partitions.into_iter().next()
    }

    /// Waits until a broker says that a partition is as it should be.
    pub(crate) async fn until(
        &self,
        at: i32,
        topic: &str,
        what: &str,
        is_so: impl Fn(&PartitionDescription) -> bool,
    ) {
        let deadline = Instant::now() + PATIENCE;
        let mut last = None;
        while !last.as_ref().is_some_and(&is_so) {
            assert!(Instant::now() < deadline, "{topic}: {what}: {last:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
            last = self.partition(at, topic).await;
        }
    }
}

/// Whether a file is there.
pub(crate) fn exists(path: &Path) -> bool {
    path.try_exists().expect("the directory can be read")
}

fn file(text: &str) -> Properties {
    Properties::parse("server.properties", text).expect("a file")
}
