use std::sync::Arc;
use std::time::Duration;

use klamm_client::{
    ApiKey, Bootstrap, ClientConfig, Codec, Compression, Delivery, ErrorCode, ProduceError,
    Producer, ProducerOptions, ProducerRecord, Uuid, VersionRange,
};
use klamm_net::testing::Reply;
use klamm_protocol::Offset;
use klamm_protocol::messages::produce::{LeaderIdAndEpoch, NodeEndpoint, ProduceRequest};
use tokio::time::Instant;

use crate::log::{Logs, answer, refusal, response};
use crate::support::*;

pub(crate) async fn producer(cluster: &Cluster, options: ProducerOptions) -> Producer {
    let config = ClientConfig::new(Bootstrap::Brokers(vec![broker(1)]));
    Producer::connect_with(config, options, Arc::new(cluster.network.clone()))
        .await
        .unwrap()
}

/// Two brokers, of which the first leads the one partition of topic `a`.
fn two_brokers() -> (Cluster, Logs) {
    let cluster = Cluster::new(2);
    cluster.add_topic("a", [1]);
    let logs = Logs::default();
    logs.serve(&cluster);
    (cluster, logs)
}

fn record(value: impl ToString) -> ProducerRecord {
    ProducerRecord::new("a")
        .partition(0)
        .value(value.to_string())
}

async fn send(producer: &Producer, value: impl ToString) -> Delivery {
    producer.send(record(value)).await.unwrap()
}

/// Has broker 2 lead partition 0 of the first topic, in an epoch.
fn move_to_2(cluster: &Cluster, epoch: i32) {
    let partition = &mut cluster.metadata().topics[0].partitions[0];
    partition.leader_id = 2;
    partition.leader_epoch = epoch;
}

#[tokio::test(start_paused = true)]
async fn records_are_written_once_in_order_in_batches() {
    for (id, compression) in (0..).zip(Compression::ALL) {
        let (cluster, logs) = two_brokers();
        cluster.metadata().topics[0].topic_id = Uuid::from_bytes([id; 16]);
        let options = ProducerOptions {
            compression: Codec::new(compression),
            ..Default::default()
        };
        let producer = producer(&cluster, options).await;
        let mut deliveries = Vec::new();
        for n in 0..2_000 {
            deliveries.push(send(&producer, n).await);
        }
        for (n, delivery) in (0..).zip(deliveries) {
            assert_eq!(delivery.await.unwrap().offset, Some(Offset(n)));
        }
        let expected: Vec<_> = (0..2_000).map(|n| n.to_string()).collect();
        assert_eq!(logs.values(0), expected);
        assert!(logs.logs()[&0].taken.len() < 20, "{compression}");
        let versions = cluster.broker(1).versions_of(ApiKey::PRODUCE);
        let expected = if id == 0 { 12 } else { 13 };
        assert!(versions.iter().all(|version| *version == expected));
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_leads_to_the_same_numbers_again() {
    let (cluster, logs) = two_brokers();
    let (log, mut tries) = (logs.clone(), 0);
    cluster.broker(1).on(move |_, request: ProduceRequest| {
        let answer = log.answer(&request);
        tries += 1;
        if tries == 1 {
            Reply::Close
        } else {
            Reply::Answer(answer)
        }
    });
    let producer = producer(&cluster, ProducerOptions::default()).await;
    let (first, second) = (send(&producer, "1").await, send(&producer, "2").await);
    assert_eq!(first.await.unwrap().offset, Some(Offset(0)));
    assert_eq!(second.await.unwrap().offset, Some(Offset(1)));
    assert_eq!(logs.values(0), ["1", "2"]);
    assert_eq!(logs.logs()[&0].seen, [(0, 0), (0, 0)]);
}

#[tokio::test(start_paused = true)]
async fn what_the_broker_has_already_counts_as_written() {
    let (cluster, _logs) = two_brokers();
    cluster.broker(1).on(|_, request: ProduceRequest| {
        Reply::Answer(refusal(&request, ErrorCode::DUPLICATE_SEQUENCE_NUMBER))
    });
    let producer = producer(&cluster, ProducerOptions::default()).await;
    let written = send(&producer, "1").await.await.unwrap();
    assert_eq!(written.offset, None);
}

#[tokio::test(start_paused = true)]
async fn numbers_that_will_never_come_are_left_behind_with_the_epoch() {
    let (cluster, logs) = two_brokers();
    let (log, mut tries) = (logs.clone(), 0);
    cluster.broker(1).on(move |_, request: ProduceRequest| {
        tries += 1;
        let refused = refusal(&request, ErrorCode::INVALID_RECORD);
        Reply::Answer(if tries == 1 {
            refused
        } else {
            log.answer(&request)
        })
    });
    let producer = producer(&cluster, ProducerOptions::default()).await;
    let first = send(&producer, "1").await;
    let error = first.await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::INVALID_RECORD));
    assert!(!error.is_outcome_unknown());
    for value in ["2", "3"] {
        send(&producer, value).await.await.unwrap();
    }
    assert_eq!(logs.values(0), ["2", "3"]);
    assert_eq!(logs.logs()[&0].seen, [(1, 0), (1, 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_forgot_the_producer_gets_the_next_epoch() {
    let (cluster, logs) = two_brokers();
    let producer = producer(&cluster, ProducerOptions::default()).await;
    send(&producer, "1").await.await.unwrap();
    logs.log(0, |log| log.taken.clear());
    send(&producer, "2").await.await.unwrap();
    assert_eq!(logs.values(0), ["1", "2"]);
    assert_eq!(logs.logs()[&0].seen, [(0, 0), (0, 1), (1, 0)]);
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_the_old_one_names_is_asked_at_once() {
    let (cluster, logs) = two_brokers();
    cluster.broker(1).on(|_, request: ProduceRequest| {
        let mut answer = answer(&request, |_, _| {
            let mut response = response(ErrorCode::NOT_LEADER_OR_FOLLOWER, -1);
            response.current_leader = LeaderIdAndEpoch {
                leader_id: 2,
                leader_epoch: 5,
                ..Default::default()
            };
            response
        });
        answer.node_endpoints.push(NodeEndpoint {
            node_id: 2,
            host: "broker-2".into(),
            port: 9092,
            ..Default::default()
        });
        Reply::Answer(answer)
    });
    let producer = producer(&cluster, ProducerOptions::default()).await;
    let delivery = send(&producer, "1").await;
    let asked = cluster.broker(1).versions_of(ApiKey::METADATA).len();
    let start = Instant::now();
    delivery.await.unwrap();
    assert!(
        start.elapsed() < Duration::from_millis(50),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(logs.values(0), ["1"]);
    assert_eq!(cluster.broker(2).versions_of(ApiKey::PRODUCE), [12]);
    assert_eq!(cluster.broker(1).versions_of(ApiKey::METADATA).len(), asked);
}

#[tokio::test(start_paused = true)]
async fn a_new_leader_is_found_by_metadata() {
    for code in [
        ErrorCode::NOT_LEADER_OR_FOLLOWER,
        ErrorCode::FENCED_LEADER_EPOCH,
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
    ] {
        let (cluster, logs) = two_brokers();
        let moved = cluster.clone();
        cluster.broker(1).on(move |_, request: ProduceRequest| {
            move_to_2(&moved, 5);
            Reply::Answer(refusal(&request, code))
        });
        let producer = producer(&cluster, ProducerOptions::default()).await;
        send(&producer, "1").await.await.unwrap();
        assert_eq!(logs.values(0), ["1"]);
        assert_eq!(cluster.broker(1).versions_of(ApiKey::PRODUCE).len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_hangs_or_is_gone_is_left() {
    for reply in [Reply::Silence, Reply::Close] {
        let (cluster, logs) = two_brokers();
        let (moved, reply) = (cluster.clone(), reply.clone());
        cluster.broker(1).on(move |_, _: ProduceRequest| {
            move_to_2(&moved, 1);
            reply.clone()
        });
        let producer = producer(&cluster, ProducerOptions::default()).await;
        send(&producer, "1").await.await.unwrap();
        assert_eq!(logs.values(0), ["1"]);
        assert_eq!(cluster.broker(1).versions_of(ApiKey::PRODUCE).len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn records_wait_for_room_and_then_fail() {
    let (cluster, _logs) = two_brokers();
    cluster.broker(1).on(|_, _: ProduceRequest| Reply::Silence);
    let options = ProducerOptions {
        buffer_memory: 10_000,
        max_request_size: 10_000,
        ..Default::default()
    };
    let producer = producer(&cluster, options).await;
    let large = ProducerRecord::new("a").value(vec![b'x'; 10_000]);
    let error = producer.send(large).await.unwrap_err();
    assert!(matches!(error, ProduceError::TooLarge { .. }), "{error}");
    let mut fit = 0;
    let error = loop {
        let record = ProducerRecord::new("a").value(vec![b'x'; 936]);
        match producer.send(record).await {
            Ok(delivery) => drop(delivery),
            Err(error) => break error,
        }
        fit += 1;
    };
    assert_eq!(fit, 10);
    assert_eq!(
        error.to_string(),
        "the buffer of 10000 bytes (buffer.memory) stayed full for 60 s (max.block.ms): brokers \
         acknowledge more slowly than records come"
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_not_acknowledged_in_time_says_what_is_known() {
    let (cluster, _logs) = two_brokers();
    cluster.broker(1).on(|_, _: ProduceRequest| Reply::Silence);
    cluster.broker(2).on(|_, _: ProduceRequest| Reply::Silence);
    let options = ProducerOptions {
        delivery_timeout: 45 * SECOND,
        ..Default::default()
    };
    let producer = producer(&cluster, options).await;
    let start = Instant::now();
    let error = send(&producer, "1").await.await.unwrap_err();
    assert!(error.is_outcome_unknown());
    assert!(start.elapsed() < 47 * SECOND, "{:?}", start.elapsed());
    assert!(
        error
            .to_string()
            .starts_with("a-0: not acknowledged within 45 s"),
        "{error}"
    );
    producer.close().await;
}

#[tokio::test(start_paused = true)]
async fn brokers_that_ask_for_a_pause_get_it() {
    let (cluster, logs) = two_brokers();
    let log = logs.clone();
    cluster.broker(1).on(move |_, request: ProduceRequest| {
        let mut answer = log.answer(&request);
        answer.throttle_time_ms = 10_000;
        Reply::Answer(answer)
    });
    let producer = producer(&cluster, ProducerOptions::default()).await;
    send(&producer, "1").await.await.unwrap();
    let start = Instant::now();
    send(&producer, "2").await.await.unwrap();
    assert!(start.elapsed() >= 9 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn batches_that_are_too_large_are_halved() {
    let (cluster, logs) = two_brokers();
    let log = logs.clone();
    cluster.broker(1).on(move |_, request: ProduceRequest| {
        let len = |data: &klamm_protocol::Bytes| data.len();
        let records = request.topic_data[0].partition_data[0].records.as_ref();
        let too_large = records.map_or(0, len) > 400;
        Reply::Answer(match too_large {
            true => refusal(&request, ErrorCode::MESSAGE_TOO_LARGE),
            false => log.answer(&request),
        })
    });
    let producer = producer(&cluster, ProducerOptions::default()).await;
    let mut deliveries = Vec::new();
    for n in 0..100 {
        deliveries.push(send(&producer, n).await);
    }
    producer.flush().await;
    for (n, delivery) in (0..).zip(deliveries) {
        assert_eq!(delivery.await.unwrap().offset, Some(Offset(n)));
    }
    let error = send(&producer, "x".repeat(1_000)).await.await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::MESSAGE_TOO_LARGE));
}

#[tokio::test(start_paused = true)]
async fn old_brokers_are_served() {
    for (version, offset) in [(3, Some(Offset(0))), (7, Some(Offset(0)))] {
        let offers = modern_but(ApiKey::PRODUCE, VersionRange::new(0, version));
        let cluster = Cluster::offering(1, &offers);
        cluster.add_topic("a", [1]);
        Logs::default().serve(&cluster);
        let producer = producer(&cluster, ProducerOptions::default()).await;
        assert_eq!(send(&producer, "1").await.await.unwrap().offset, offset);
        assert_eq!(cluster.broker(1).versions_of(ApiKey::PRODUCE), [version]);
    }
    let offers = modern_but(ApiKey::INIT_PRODUCER_ID, VersionRange::NONE);
    let cluster = Cluster::offering(1, &offers);
    cluster.add_topic("a", [1]);
    Logs::default().serve(&cluster);
    let refused = producer(&cluster, ProducerOptions::default()).await;
    let error = refused.send(record("1")).await.unwrap_err();
    assert!(
        error.to_string().contains("does not offer InitProducerId"),
        "{error}"
    );
    let options = ProducerOptions {
        idempotence: false,
        ..Default::default()
    };
    let plain = producer(&cluster, options).await;
    send(&plain, "1").await.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn unknown_topics_and_partitions_are_said() {
    let (cluster, _logs) = two_brokers();
    cluster.add_topic("b", []);
    cluster.metadata().topics[1].error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION.0;
    let producer = producer(&cluster, ProducerOptions::default()).await;
    let error = producer.send(ProducerRecord::new("b")).await.unwrap_err();
    assert!(matches!(error, ProduceError::NotReady { .. }), "{error}");
    let error = producer.send(record("1").partition(1)).await.unwrap_err();
    assert_eq!(error.to_string(), "a-1: the topic has 1 partitions, from 0");
    producer.clone().close().await;
    let error = producer.send(record("1")).await.unwrap_err();
    assert!(matches!(error, ProduceError::Closed), "{error}");
}
