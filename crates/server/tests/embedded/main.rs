//! Clusters in one process.

#![allow(clippy::unwrap_used, reason = "it is a test")]

mod parted;

use std::time::Duration;

use klamm_client::{
    Admin, Bootstrap, BrokerId, ClientConfig, Consumer, ConsumerOptions, ElectLeadersOptions,
    ElectionScope, ElectionType, NewTopic, OffsetReset, Producer, ProducerOptions, ProducerRecord,
    ServerAddress, TopicPartition, TopicSelection,
};
use klamm_server::{EmbeddedCluster, EmbeddedError};

/// How long a condition is waited for. It is there after milliseconds, or never.
const PATIENCE: Duration = Duration::from_secs(120);
const TOPIC: &str = "orders";

fn clients(cluster: &EmbeddedCluster) -> ClientConfig {
    let servers = ServerAddress::parse_list(&cluster.bootstrap_servers()).unwrap();
    let mut config = ClientConfig::new(Bootstrap::Brokers(servers));
    config.default_api_timeout = PATIENCE;
    config
}

async fn create(admin: &Admin) {
    let mut topic = NewTopic::new(TOPIC, 1, 3);
    topic
        .configs
        .extend([("min.insync.replicas".into(), "2".into())]);
    for (_, created) in admin
        .create_topics(&[topic], Default::default())
        .await
        .unwrap()
    {
        created.unwrap();
    }
}

async fn produce(cluster: &EmbeddedCluster, values: &[&'static str]) {
    let options = ProducerOptions::default();
    let producer = Producer::connect(clients(cluster), options).await.unwrap();
    for value in values {
        let record = ProducerRecord::new(TOPIC).partition(0).value(*value);
        producer.send(record).await.unwrap().await.unwrap();
    }
    producer.close().await;
}

async fn consume(cluster: &EmbeddedCluster, count: usize) -> Vec<String> {
    let options = ConsumerOptions {
        offset_reset: OffsetReset::Earliest,
        ..ConsumerOptions::default()
    };
    let mut consumer = Consumer::connect(clients(cluster), options).await.unwrap();
    consumer.assign([TopicPartition::new(TOPIC, 0)]);
    let mut values = Vec::new();
    while values.len() < count {
        let read = consumer.poll(PATIENCE).await.unwrap();
        assert!(!read.is_empty(), "{} of {count} records", values.len());
        for record in read.iter().flat_map(|read| read.records()) {
            let value = record.unwrap().value().unwrap().to_vec();
            values.push(String::from_utf8(value).unwrap());
        }
    }
    values
}

/// Waits until the partition's leader and ISR are so.
async fn until(admin: &Admin, what: &str, is_so: impl Fn(BrokerId, usize) -> bool) -> BrokerId {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let topics = admin
            .describe_topics(&TopicSelection::named([TOPIC]), Default::default())
            .await
            .unwrap();
        let topic = topics.into_values().next().unwrap();
        if let Ok(topic) = topic
            && let Some(partition) = topic.partitions.first()
            && let Some(leader) = partition.leader
            && is_so(leader, partition.isr.len())
        {
            return leader;
        }
        assert!(tokio::time::Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_broker_that_leads_is_killed_and_elected_again() {
    let mut cluster = EmbeddedCluster::builder().start().await.unwrap();
    let admin = Admin::connect(clients(&cluster)).await.unwrap();
    create(&admin).await;
    let leader = until(&admin, "three in sync", |_, isr| isr == 3).await;
    produce(&cluster, &["a", "b"]).await;
    cluster.kill_broker(leader).await.unwrap();
    assert!(matches!(
        cluster.kill_broker(leader).await,
        Err(EmbeddedError::RunsNot(_))
    ));
    until(&admin, "another leader", |now, _| now != leader).await;
    produce(&cluster, &["c"]).await;
    cluster.start_broker(leader).await.unwrap();
    assert!(matches!(
        cluster.start_broker(leader).await,
        Err(EmbeddedError::Runs(_))
    ));
    until(&admin, "three in sync", |_, isr| isr == 3).await;
    let partition = TopicPartition::new(TOPIC, 0);
    let elected = admin.elect_leaders(
        ElectionType::Preferred,
        ElectionScope::Partitions(vec![partition]),
        ElectLeadersOptions::default(),
    );
    elected.all().await.unwrap();
    until(&admin, "its preferred leader", |now, _| now == leader).await;
    assert_eq!(consume(&cluster, 3).await, ["a", "b", "c"]);
    cluster.stop().await.unwrap();
}

/// A cluster in a directory goes on where it was, also at other ports; not with fewer brokers.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_kept_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    // Whatever characters its name has.
    let dir = dir.path().join("a #cluster: 1");
    let builder = EmbeddedCluster::builder().dir(&dir).brokers(3);
    let cluster = builder.clone().start().await.unwrap();
    create(&Admin::connect(clients(&cluster)).await.unwrap()).await;
    produce(&cluster, &["kept"]).await;
    cluster.stop().await.unwrap();
    let fewer = builder.clone().brokers(2).start().await;
    assert!(
        matches!(fewer, Err(EmbeddedError::OtherCount { found: 3, .. })),
        "{fewer:?}"
    );
    let mut cluster = builder.start().await.unwrap();
    assert_eq!(consume(&cluster, 1).await, ["kept"]);
    for id in 1..=3 {
        let entries = std::fs::read_dir(dir.join(format!("broker-{id}"))).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let names: Vec<String> = names.collect();
        assert!(
            names.iter().any(|name| name == "__cluster_metadata-0"),
            "{names:?}"
        );
        assert!(
            !names.iter().any(|name| name.ends_with("-stray")),
            "{names:?}"
        );
    }
    // The controller comes back, too.
    cluster.stop_controller().await.unwrap();
    cluster.start_controller().await.unwrap();
    produce(&cluster, &["and more"]).await;
    assert_eq!(consume(&cluster, 2).await, ["kept", "and more"]);
    cluster.stop().await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_is_refused() {
    let refused = |builder: klamm_server::EmbeddedClusterBuilder| async {
        builder.start().await.map(|_| ()).unwrap_err()
    };
    let builder = EmbeddedCluster::builder;
    let error = refused(builder().brokers(0)).await;
    assert!(matches!(error, EmbeddedError::Count(0)), "{error}");
    let error = refused(builder().first_port(65_534)).await;
    assert!(matches!(error, EmbeddedError::Ports { .. }), "{error}");
    let error = refused(builder().property("node.id", "7")).await;
    assert!(matches!(error, EmbeddedError::OwnProperty(_)), "{error}");
    let error = refused(builder().property("num.partitions", "no")).await;
    assert!(matches!(error, EmbeddedError::Config { .. }), "{error}");
    let error = refused(builder().dir("/dev/null/a")).await;
    assert!(matches!(error, EmbeddedError::Dir { .. }), "{error}");
    let error = refused(builder().dir("a,b")).await;
    assert!(matches!(error, EmbeddedError::DirName(_)), "{error}");
}
