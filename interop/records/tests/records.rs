//! What klamm's producer sends to a real Apache Kafka cluster, and what klamm's consumer and Apache
//! Kafka's own read of it.

#![allow(clippy::unwrap_used, reason = "it is a test")]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use klamm_client::{
    Bootstrap, ClientConfig, Codec, Compression, Consumer, ConsumerOptions, IsolationLevel,
    OffsetReset, Producer, ProducerOptions, ProducerRecord, ServerAddress, TopicPartition,
};
use klamm_cluster::{Cluster, Spec};
use klamm_suite::Test;
use tokio::runtime::Runtime;

const RECORDS: usize = 10_000;
const PARTITIONS: i32 = 6;

struct Context {
    cluster: Cluster,
    runtime: Runtime,
}

impl Context {
    fn config(&self) -> ClientConfig {
        let servers = ServerAddress::parse_list(&self.cluster.bootstrap()).unwrap();
        ClientConfig::new(Bootstrap::Brokers(servers))
    }

    fn create(&self, topic: &str) {
        let replicas: [&[i32]; PARTITIONS as usize] = [
            &[1, 2, 3],
            &[2, 3, 1],
            &[3, 1, 2],
            &[1, 3, 2],
            &[2, 1, 3],
            &[3, 2, 1],
        ];
        let configs = [("min.insync.replicas", "2")];
        self.cluster.create_topic(topic, &replicas, &configs);
        self.cluster.wait_for_topic(topic, "led", |partitions| {
            partitions.iter().all(|partition| partition.leader > 0)
        });
    }
}

fn value(n: usize) -> String {
    format!("record-{n}")
}

/// Sends the records round robin, calling `meanwhile` with each number, and waits for all.
async fn produce(
    config: ClientConfig,
    options: ProducerOptions,
    topic: &str,
    mut meanwhile: impl FnMut(usize),
) {
    let producer = Producer::connect(config, options).await.unwrap();
    let mut deliveries = Vec::new();
    for n in 0..RECORDS {
        let partition = i32::try_from(n).unwrap() % PARTITIONS;
        let record = ProducerRecord::new(topic)
            .partition(partition)
            .key(n.to_string())
            .value(value(n))
            .header("n", n.to_string());
        deliveries.push(producer.send(record).await.unwrap());
        meanwhile(n);
    }
    for delivery in deliveries {
        delivery.await.unwrap();
    }
    producer.close().await;
}

/// Reads as many records as were sent, by partition, and then looks for more.
async fn consume(config: ClientConfig, topic: &str) -> BTreeMap<i32, Vec<String>> {
    let options = ConsumerOptions {
        offset_reset: OffsetReset::Earliest,
        isolation: IsolationLevel::ReadCommitted,
        ..ConsumerOptions::default()
    };
    let mut consumer = Consumer::connect(config, options).await.unwrap();
    consumer.assign((0..PARTITIONS).map(|index| TopicPartition::new(topic, index)));
    let mut values: BTreeMap<i32, Vec<String>> = BTreeMap::new();
    loop {
        let count: usize = values.values().map(Vec::len).sum();
        let patience = if count < RECORDS { 120 } else { 3 };
        let read = consumer.poll(Duration::from_secs(patience)).await.unwrap();
        if read.is_empty() {
            return values;
        }
        for read in &read {
            let values = values.entry(read.partition().partition.0).or_default();
            for record in read.records() {
                let value = record.unwrap().value().unwrap().to_vec();
                values.push(String::from_utf8(value).unwrap());
            }
        }
    }
}

/// What each partition is to have, in order.
fn expected() -> BTreeMap<i32, Vec<String>> {
    let partition = |index: i32| {
        let first = usize::try_from(index).unwrap();
        let numbers = (first..RECORDS).step_by(PARTITIONS as usize);
        (index, numbers.map(value).collect())
    };
    (0..PARTITIONS).map(partition).collect()
}

fn each_compression(context: &mut Context) {
    for compression in Compression::ALL {
        let topic = format!("records-{compression}");
        context.create(&topic);
        let options = ProducerOptions {
            compression: Codec::new(compression),
            ..ProducerOptions::default()
        };
        let config = context.config();
        context
            .runtime
            .block_on(produce(config.clone(), options, &topic, |_| {}));
        let read = context.runtime.block_on(consume(config, &topic));
        assert_eq!(read, expected(), "{compression}");
        let count = RECORDS.to_string();
        let args = [
            "--topic",
            &topic,
            "--from-beginning",
            "--max-messages",
            &count,
            "--timeout-ms",
            "120000",
        ];
        let tool = "org.apache.kafka.tools.consumer.ConsoleConsumer";
        let (status, output) = context.cluster.tool(tool, &args);
        assert_eq!(status, 0, "{output}");
        let mut read: Vec<&str> = output
            .lines()
            .filter(|line| line.starts_with("record-"))
            .collect();
        let mut sent: Vec<String> = (0..RECORDS).map(value).collect();
        read.sort_unstable();
        sent.sort_unstable();
        assert_eq!(read, sent, "{compression}");
    }
}

fn a_broker_is_killed(context: &mut Context) {
    context.create("killed");
    let config = context.config();
    let cluster = &context.cluster;
    let options = ProducerOptions {
        buffer_memory: 200_000,
        max_request_size: 100_000,
        ..ProducerOptions::default()
    };
    let kill = |n| {
        if n == RECORDS / 2 {
            cluster.kill(2);
        }
    };
    context
        .runtime
        .block_on(produce(config.clone(), options, "killed", kill));
    let read = context.runtime.block_on(consume(config, "killed"));
    assert_eq!(read, expected());
    cluster.restart(2);
    cluster.wait_for_brokers(&[1, 2, 3]);
}

fn main() -> ExitCode {
    let tests = [
        Test("each_compression", each_compression as fn(&mut Context)),
        Test("a_broker_is_killed", a_broker_is_killed),
    ];
    klamm_suite::run("records", &tests, || Context {
        cluster: Spec::combined(3)
            .property("broker.session.timeout.ms", "6000")
            .start(),
        runtime: Runtime::new().unwrap(),
    })
}
