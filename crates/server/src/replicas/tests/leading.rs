//! A leader alone: what it takes, refuses and gives.

use std::future::Future;
use std::time::Duration;

use klamm_protocol::ErrorCode;
use klamm_protocol::messages::fetch::FetchPartition;
use klamm_protocol::messages::init_producer_id::InitProducerIdRequest;
use klamm_protocol::records::Batches;

use super::clients::{
    FETCH, PRODUCE, batch, batch_from, fetch, fetch_request, produce, produce_request, values,
};
use super::cluster::{Cluster, TOPIC_ID, eventually};
use crate::replicas::Produced;

async fn alone() -> Cluster {
    let cluster = Cluster::start(1, "").await;
    cluster.create(&[&[1], &[1]]);
    cluster.hosts(1, 0).await;
    cluster.hosts(1, 1).await;
    cluster
}

fn idempotent() -> InitProducerIdRequest {
    InitProducerIdRequest {
        transactional_id: None,
        ..InitProducerIdRequest::default()
    }
}

fn code(code: i16) -> ErrorCode {
    ErrorCode(code)
}

#[tokio::test]
async fn what_is_produced_is_fetched() {
    let cluster = alone().await;
    let broker = cluster.replicas(1);
    let first = produce(broker, 0, -1, batch(&["a", "b"])).await;
    assert_eq!(
        (code(first.error_code), first.base_offset),
        (ErrorCode::NONE, 0)
    );
    let second = produce(broker, 0, 1, batch(&["c"])).await;
    assert_eq!(
        (code(second.error_code), second.base_offset),
        (ErrorCode::NONE, 2)
    );
    let fetched = fetch(broker, 0, 0).await;
    assert_eq!(values(&fetched), ["a", "b", "c"]);
    assert_eq!((fetched.high_watermark, fetched.last_stable_offset), (3, 3));
    assert_eq!(values(&fetch(broker, 0, 2).await), ["c"]);
    assert!(values(&fetch(broker, 0, 3).await).is_empty());
    for offset in [4, -1] {
        let refused = fetch(broker, 0, offset).await;
        assert_eq!(code(refused.error_code), ErrorCode::OFFSET_OUT_OF_RANGE);
    }
    assert!(values(&fetch(broker, 1, 0).await).is_empty());
    // What is in the file is what was sent, with the leader's epoch.
    assert_eq!(
        cluster.log_bytes(1, 0),
        fetch(broker, 0, 0).await.records.unwrap()
    );
}

#[tokio::test]
async fn what_is_wrong_is_refused() {
    let cluster = alone().await;
    let broker = cluster.replicas(1);
    let missing = produce(broker, 7, 1, batch(&["a"])).await;
    assert_eq!(
        code(missing.error_code),
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
    );
    let acks = produce(broker, 0, 2, batch(&["a"])).await;
    assert_eq!(code(acks.error_code), ErrorCode::INVALID_REQUIRED_ACKS);
    let nothing = produce(broker, 0, 1, bytes::Bytes::new()).await;
    assert_eq!(code(nothing.error_code), ErrorCode::INVALID_RECORD);
    assert!(nothing.error_message.is_some());
    // With acks=0 the connection says it.
    let request = produce_request(0, 0, batch(&["a"]));
    let sent = broker.produce(request, PRODUCE, "PLAINTEXT").await;
    assert!(matches!(sent, Produced::Silence), "{sent:?}");
    let request = produce_request(0, 0, bytes::Bytes::new());
    let sent = broker.produce(request, PRODUCE, "PLAINTEXT").await;
    assert!(matches!(sent, Produced::Close), "{sent:?}");
    assert_eq!(values(&fetch(broker, 0, 0).await), ["a"]);
    let mut unknown = fetch_request(0, 0);
    unknown.topics[0].topic_id = klamm_protocol::Uuid::from_bytes([9; 16]);
    let answer = broker.fetch(unknown, FETCH, "PLAINTEXT").await;
    let error = answer.responses[0].partitions[0].error_code;
    assert_eq!(code(error), ErrorCode::UNKNOWN_TOPIC_ID);
}

#[tokio::test]
async fn an_idempotent_producers_batch_is_written_once() {
    let cluster = alone().await;
    let broker = cluster.replicas(1);
    for sequence in [0, 1, 2] {
        let written = produce(broker, 0, -1, batch_from(5, 0, sequence, &["x"])).await;
        assert_eq!(written.base_offset, i64::from(sequence));
    }
    let again = produce(broker, 0, -1, batch_from(5, 0, 1, &["x"])).await;
    assert_eq!(
        (code(again.error_code), again.base_offset),
        (ErrorCode::NONE, 1)
    );
    let gap = produce(broker, 0, -1, batch_from(5, 0, 4, &["x"])).await;
    assert_eq!(
        code(gap.error_code),
        ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER
    );
    assert_eq!(values(&fetch(broker, 0, 0).await).len(), 3);
}

#[tokio::test]
async fn with_too_few_in_sync_nothing_is_taken_for_all() {
    let cluster = Cluster::start(1, "").await;
    cluster.create(&[&[1, 2]]);
    cluster.configure("min.insync.replicas", "2");
    cluster.controller.elect(0, 1, &[1]);
    cluster.hosts(1, 0).await;
    let broker = cluster.replicas(1);
    let refused = produce(broker, 0, -1, batch(&["a"])).await;
    assert_eq!(code(refused.error_code), ErrorCode::NOT_ENOUGH_REPLICAS);
    let taken = produce(broker, 0, 1, batch(&["b"])).await;
    assert_eq!(code(taken.error_code), ErrorCode::NONE);
    // It is not committed before enough are in sync, whatever acks said.
    assert!(values(&fetch(broker, 0, 0).await).is_empty());
}

/// Connections begin with the next Produce then.
#[tokio::test]
async fn everything_is_written_when_it_is_asked_for_once() {
    let cluster = Cluster::start(1, "").await;
    // The other one has them all, and is not there: nothing is committed.
    cluster.create(&[&[1, 2], &[1, 2]]);
    cluster.hosts(1, 0).await;
    cluster.hosts(1, 1).await;
    let broker = cluster.replicas(1);
    for round in 1..=3 {
        let mut request = produce_request(0, -1, batch(&["a"]));
        let mut other = produce_request(1, -1, batch(&["b"]));
        let more = other.topic_data[0].partition_data.remove(0);
        request.topic_data[0].partition_data.push(more);
        let answer = std::pin::pin!(broker.produce(request, PRODUCE, "PLAINTEXT"));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(answer.poll(&mut context).is_pending(), "nobody has it yet");
        for index in [0, 1] {
            let written = Batches::new(cluster.log_bytes(1, index).into());
            assert_eq!(written.count(), round, "partition {index}");
        }
    }
}

#[tokio::test]
async fn what_is_not_committed_in_time_is_told() {
    let cluster = Cluster::start(1, "").await;
    cluster.create(&[&[1, 2]]);
    cluster.hosts(1, 0).await;
    let broker = cluster.replicas(1);
    let mut request = produce_request(0, -1, batch(&["a"]));
    request.timeout_ms = 50;
    let Produced::Answer(late) = broker.produce(request, PRODUCE, "PLAINTEXT").await else {
        panic!("no answer");
    };
    let error = late.responses[0].partition_responses[0].error_code;
    assert_eq!(code(error), ErrorCode::REQUEST_TIMED_OUT);
    // Who waits when another is elected is told at once.
    let waiting = {
        let broker = broker.clone();
        tokio::spawn(async move { produce(&broker, 0, -1, batch(&["b"])).await })
    };
    let written = || (cluster.log_bytes(1, 0).len() > 100).then_some(());
    eventually("the batch is written", written).await;
    cluster.controller.elect(0, 2, &[2]);
    let answer = waiting.await.unwrap();
    assert_eq!(code(answer.error_code), ErrorCode::NOT_LEADER_OR_FOLLOWER);
    let hint = produce(broker, 0, 1, batch(&["c"])).await;
    assert_eq!(
        (
            hint.current_leader.leader_id,
            hint.current_leader.leader_epoch
        ),
        (2, 1)
    );
}

#[tokio::test]
async fn a_fetch_waits_for_records() {
    let cluster = alone().await;
    let broker = cluster.replicas(1).clone();
    let mut request = fetch_request(0, 0);
    request.max_wait_ms = 60_000;
    // With a second partition, to which nothing happens.
    request.topics[0].partitions.push(FetchPartition {
        partition: 1,
        partition_max_bytes: 1000,
        ..FetchPartition::default()
    });
    let waiting = {
        let broker = broker.clone();
        tokio::spawn(async move { broker.fetch(request, FETCH, "PLAINTEXT").await })
    };
    // It has looked once, or will find the record at its first look.
    tokio::time::sleep(Duration::from_millis(20)).await;
    produce(&broker, 0, 1, batch(&["a"])).await;
    let answer = waiting.await.unwrap();
    assert_eq!(values(&answer.responses[0].partitions[0]), ["a"]);
    assert_eq!(answer.responses[0].topic_id, TOPIC_ID);
}

#[tokio::test]
async fn a_session_tells_what_has_changed() {
    let cluster = alone().await;
    let broker = cluster.replicas(1);
    let mut request = fetch_request(0, 0);
    request.session_epoch = 0;
    request.topics[0].partitions.push(FetchPartition {
        partition: 1,
        partition_max_bytes: 1000,
        ..FetchPartition::default()
    });
    let first = broker.fetch(request, FETCH, "PLAINTEXT").await;
    assert_ne!(first.session_id, 0);
    assert_eq!(first.responses[0].partitions.len(), 2);
    produce(broker, 1, 1, batch(&["a"])).await;
    let mut next = fetch_request(0, 0);
    next.topics.clear();
    next.session_id = first.session_id;
    next.session_epoch = 1;
    let second = broker.fetch(next.clone(), FETCH, "PLAINTEXT").await;
    assert_eq!(second.responses[0].partitions.len(), 1);
    let changed = &second.responses[0].partitions[0];
    assert_eq!(
        (changed.partition_index, values(changed)),
        (1, vec!["a".to_owned()])
    );
    let stale = broker.fetch(next, FETCH, "PLAINTEXT").await;
    assert_eq!(
        code(stale.error_code),
        ErrorCode::INVALID_FETCH_SESSION_EPOCH
    );
}

#[tokio::test]
async fn limits_hold_but_for_one_batch() {
    let cluster = alone().await;
    let broker = cluster.replicas(1);
    let value = "x".repeat(500);
    for index in [0, 1] {
        for _ in 0..3 {
            produce(broker, index, 1, batch(&[&value])).await;
        }
    }
    let mut request = fetch_request(0, 0);
    request.topics[0].partitions.push(FetchPartition {
        partition: 1,
        partition_max_bytes: 1 << 20,
        ..FetchPartition::default()
    });
    let got = |response: &klamm_protocol::messages::fetch::FetchResponse| {
        let partitions = response.responses[0].partitions.iter();
        partitions.map(|one| values(one).len()).collect::<Vec<_>>()
    };
    request.max_bytes = 10;
    let answer = broker.fetch(request.clone(), FETCH, "PLAINTEXT").await;
    assert_eq!(got(&answer), [1, 0]);
    request.max_bytes = 3000;
    let answer = broker.fetch(request.clone(), FETCH, "PLAINTEXT").await;
    assert_eq!(got(&answer)[0], 3);
    request.topics[0].partitions[0].partition_max_bytes = 600;
    let answer = broker.fetch(request, FETCH, "PLAINTEXT").await;
    assert_eq!(got(&answer), [1, 3]);
}

#[tokio::test]
async fn producers_get_ids_of_their_own() {
    let cluster = alone().await;
    let broker = cluster.replicas(1);
    let mut ids = Vec::new();
    for _ in 0..5 {
        let given = broker.init_producer_id(idempotent()).await;
        assert_eq!(
            (code(given.error_code), given.producer_epoch),
            (ErrorCode::NONE, 0)
        );
        ids.push(given.producer_id);
    }
    assert_eq!(ids, [0, 1, 2, 3, 4]);
    cluster.controller.set_deaf(true);
    broker.init_producer_id(idempotent()).await;
    let none = broker.init_producer_id(idempotent()).await;
    assert_eq!(
        code(none.error_code),
        ErrorCode::COORDINATOR_LOAD_IN_PROGRESS
    );
    let transactional = InitProducerIdRequest {
        transactional_id: Some("t".into()),
        ..InitProducerIdRequest::default()
    };
    let refused = broker.init_producer_id(transactional).await;
    assert_eq!(code(refused.error_code), ErrorCode::UNSUPPORTED_VERSION);
}
