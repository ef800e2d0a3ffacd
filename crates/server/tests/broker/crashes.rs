use klamm_client::{PartitionDescription, ProducerRecord};
use klamm_protocol::BrokerId;

use crate::cluster::Cluster;

fn record(topic: &str, n: usize) -> ProducerRecord {
    ProducerRecord::new(topic).partition(0).value(n.to_string())
}

/// Records of an idempotent producer with acks=all outlive their leaders, each once and in order.
#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_records_outlive_their_leaders() {
    let mut cluster = Cluster::of(3).await;
    cluster.create(1, "orders", &[1, 2, 3]).await;
    let whole = |p: &PartitionDescription| p.isr.len() == 3;
    cluster
        .until(3, "orders", "everybody is in sync", whole)
        .await;
    let producer = cluster.producer().await;
    let mut sent = 0;
    for _ in 0..2 {
        let mut deliveries = Vec::new();
        for _ in 0..100 {
            deliveries.push(
                producer
                    .send(record("orders", sent))
                    .await
                    .expect("there is room"),
            );
            sent += 1;
        }
        let leader = cluster
            .partition(3, "orders")
            .await
            .expect("it is there")
            .leader;
        let leader = leader.expect("somebody leads").0;
        cluster.kill(leader).await;
        for _ in 0..100 {
            deliveries.push(
                producer
                    .send(record("orders", sent))
                    .await
                    .expect("there is room"),
            );
            sent += 1;
        }
        for delivery in deliveries {
            delivery.await.expect("it is acknowledged");
        }
        cluster.start(leader).await;
        let asked = leader % 3 + 1;
        cluster
            .until(asked, "orders", "everybody is in sync", whole)
            .await;
    }
    producer.close().await;
    let expected: Vec<String> = (0..sent).map(|n| n.to_string()).collect();
    assert_eq!(cluster.consume("orders", sent).await, expected);
}

/// A whole cluster that crashes has what it acknowledged.
#[tokio::test(flavor = "multi_thread")]
async fn records_are_there_after_all_have_crashed() {
    let mut cluster = Cluster::of(3).await;
    cluster.create(1, "orders", &[1, 2, 3]).await;
    let producer = cluster.producer().await;
    for n in 0..50 {
        let delivery = producer
            .send(record("orders", n))
            .await
            .expect("there is room");
        delivery.await.expect("it is acknowledged");
    }
    producer.close().await;
    for id in 1..=3 {
        cluster.kill(id).await;
    }
    for id in 1..=3 {
        cluster.start(id).await;
    }
    let led = |p: &PartitionDescription| p.leader.is_some() && p.leader != Some(BrokerId::NONE);
    cluster.until(1, "orders", "somebody leads", led).await;
    let expected: Vec<String> = (0..50).map(|n| n.to_string()).collect();
    assert_eq!(cluster.consume("orders", 50).await, expected);
}
