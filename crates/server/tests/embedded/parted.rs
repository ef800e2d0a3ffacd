//! Brokers that are paused, and nodes that are parted.

use std::net::SocketAddr;
use std::time::Duration;

use klamm_client::{
    Admin, Bootstrap, BrokerId, ClientConfig, ErrorCode, Producer, ProducerOptions, ProducerRecord,
    ServerAddress,
};
use klamm_net::{Connection, ConnectionOptions, TcpConnector};
use klamm_protocol::messages::api_versions::ApiVersionsRequest;
use klamm_protocol::messages::produce::{PartitionProduceData, ProduceRequest, TopicProduceData};
use klamm_protocol::records::{BatchBuilder, BatchOptions, NewRecord};
use klamm_server::{EmbeddedCluster, EmbeddedError};
use tokio::time::Instant;

use crate::{PATIENCE, TOPIC, clients, consume, create, produce, until};

const CONTROLLER: BrokerId = EmbeddedCluster::CONTROLLER;
/// The last version of Produce in which topics are named.
const NAMED: i16 = 12;

/// Three brokers that miss each other soon, a client of theirs, and who leads the partition.
async fn start() -> (EmbeddedCluster, Admin, BrokerId) {
    let cluster = EmbeddedCluster::builder()
        .property("replica.lag.time.max.ms", "2000")
        .property("broker.session.timeout.ms", "5000")
        .property("broker.heartbeat.interval.ms", "500");
    let cluster = cluster.start().await.unwrap();
    let admin = Admin::connect(clients(&cluster)).await.unwrap();
    create(&admin).await;
    let leader = until(&admin, "three in sync", |_, isr| isr == 3).await;
    (cluster, admin, leader)
}

fn others(cluster: &EmbeddedCluster, id: BrokerId) -> Vec<(BrokerId, SocketAddr)> {
    let running = cluster.brokers().filter(|(other, _)| *other != id);
    running
        .map(|(other, address)| (other, address.unwrap()))
        .collect()
}

/// A client that knows only these brokers.
fn clients_of(brokers: &[(BrokerId, SocketAddr)]) -> ClientConfig {
    let servers = brokers.iter().map(|(_, address)| address.to_string());
    let servers = servers.collect::<Vec<_>>().join(",");
    let mut config = ClientConfig::new(Bootstrap::Brokers(
        ServerAddress::parse_list(&servers).unwrap(),
    ));
    config.default_api_timeout = PATIENCE;
    config
}

async fn connect(cluster: &EmbeddedCluster, id: BrokerId) -> Connection {
    let mut brokers = cluster.brokers();
    let address = brokers.find_map(|(other, address)| address.filter(|_| other == id));
    let address = address.unwrap();
    let server = ServerAddress::new(address.ip().to_string(), address.port());
    let (connector, options) = (TcpConnector::default(), ConnectionOptions::default());
    let opened = Connection::open(&connector, &server, options, Instant::now() + PATIENCE).await;
    opened.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parted_follower_leaves_the_isr_and_returns() {
    let (mut cluster, admin, leader) = start().await;
    let (follower, _) = others(&cluster, leader)[0];
    produce(&cluster, &["before"]).await;
    cluster.part(follower, leader).unwrap();
    // A follower that has everything is in sync, however long it is not heard of. This record it has
    // not, and it is acknowledged when the ISR is smaller.
    produce(&cluster, &["during"]).await;
    until(&admin, "a smaller ISR", |_, isr| isr == 2).await;
    cluster.heal(leader, follower).unwrap();
    until(&admin, "three in sync", |_, isr| isr == 3).await;
    assert_eq!(consume(&cluster, 2).await, ["before", "during"]);
    cluster.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_broker_answers_nothing_until_it_is_resumed() {
    let (mut cluster, _, leader) = start().await;
    let (follower, _) = others(&cluster, leader)[0];
    let rest = others(&cluster, follower);
    let admin = Admin::connect(clients_of(&rest)).await.unwrap();
    let connection = connect(&cluster, follower).await;
    let ask = |connection: Connection| async move {
        let deadline = Instant::now() + PATIENCE;
        let request = ApiVersionsRequest::default();
        connection
            .call(0, &request, deadline, |_| Duration::ZERO)
            .await
    };
    ask(connection.clone()).await.unwrap();
    cluster.pause_broker(follower).unwrap();
    let asked = tokio::spawn(ask(connection));
    until(&admin, "a smaller ISR", |_, isr| isr == 2).await;
    assert!(!asked.is_finished());
    cluster.resume_broker(follower).unwrap();
    asked.await.unwrap().unwrap();
    until(&admin, "three in sync", |_, isr| isr == 3).await;
    // A broker that is paused can be killed, and comes back as any other.
    cluster.pause_broker(follower).unwrap();
    cluster.kill_broker(follower).await.unwrap();
    cluster.start_broker(follower).await.unwrap();
    until(&admin, "three in sync", |_, isr| isr == 3).await;
    cluster.stop().await.unwrap();
}

/// What a leader that others have replaced answers to a record for all replicas in sync.
#[tokio::test(flavor = "multi_thread")]
async fn a_stale_leader_acknowledges_nothing() {
    let (mut cluster, _, leader) = start().await;
    let rest = others(&cluster, leader);
    produce(&cluster, &["before"]).await;
    let connection = connect(&cluster, leader).await;
    for id in rest.iter().map(|(id, _)| *id).chain([CONTROLLER]) {
        cluster.part(leader, id).unwrap();
    }
    let stale = tokio::spawn(async move {
        let mut batch = BatchBuilder::new(BatchOptions::default());
        let record = NewRecord {
            value: Some(b"stale"),
            timestamp: -1,
            ..NewRecord::default()
        };
        batch.append(&record).unwrap();
        let data = PartitionProduceData {
            records: Some(batch.finish().unwrap().into_bytes()),
            ..PartitionProduceData::default()
        };
        let request = ProduceRequest {
            acks: -1,
            timeout_ms: PATIENCE.as_millis() as i32,
            topic_data: vec![TopicProduceData {
                name: TOPIC.into(),
                partition_data: vec![data],
                ..TopicProduceData::default()
            }],
            ..ProduceRequest::default()
        };
        let deadline = Instant::now() + 2 * PATIENCE;
        let answer = connection.call(NAMED, &request, deadline, |_| Duration::ZERO);
        let answer = answer.await.unwrap();
        ErrorCode(answer.responses[0].partition_responses[0].error_code)
    });
    let admin = Admin::connect(clients_of(&rest)).await.unwrap();
    until(&admin, "another leader", |now, _| now != leader).await;
    let options = ProducerOptions::default();
    let producer = Producer::connect(clients_of(&rest), options).await.unwrap();
    let record = ProducerRecord::new(TOPIC).partition(0).value("after");
    producer.send(record).await.unwrap().await.unwrap();
    producer.close().await;
    cluster.heal_all();
    // It learns that others lead.
    assert_ne!(stale.await.unwrap(), ErrorCode::NONE);
    until(&admin, "three in sync", |_, isr| isr == 3).await;
    assert_eq!(consume(&cluster, 2).await, ["before", "after"]);
    cluster.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_there_is_neither_paused_nor_parted() {
    let builder = EmbeddedCluster::builder().brokers(1);
    let mut cluster = builder.start().await.unwrap();
    let (one, two) = (BrokerId(1), BrokerId(2));
    let unknown = |done: Result<(), EmbeddedError>| matches!(done, Err(EmbeddedError::Unknown(_)));
    assert!(unknown(cluster.pause_broker(two)));
    assert!(unknown(cluster.resume_broker(CONTROLLER)));
    assert!(unknown(cluster.part(one, two)));
    assert!(unknown(cluster.heal(two, CONTROLLER)));
    assert!(matches!(
        cluster.part(one, one),
        Err(EmbeddedError::Itself(_))
    ));
    cluster.kill_broker(one).await.unwrap();
    assert!(matches!(
        cluster.pause_broker(one),
        Err(EmbeddedError::RunsNot(_))
    ));
    cluster.stop().await.unwrap();
}
