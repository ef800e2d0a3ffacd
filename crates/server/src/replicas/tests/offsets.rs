//! Where things are in a log, and what is deleted.

use klamm_protocol::ErrorCode;
use klamm_protocol::messages::delete_records::{
    DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic,
};
use klamm_protocol::messages::describe_log_dirs::DescribeLogDirsRequest;
use klamm_protocol::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic,
};
use klamm_protocol::messages::offset_for_leader_epoch::{
    OffsetForLeaderEpochRequest, OffsetForLeaderPartition, OffsetForLeaderTopic,
};
use klamm_protocol::records::{BatchBuilder, BatchOptions, NewRecord};

use super::clients::{batch, fetch, produce, values};
use super::cluster::{Cluster, TOPIC};
use crate::replicas::{Replicas, rounds};

/// Deletes records before an offset: the low watermark.
pub(super) async fn delete(replicas: &Replicas, index: i32, offset: i64) -> Result<i64, ErrorCode> {
    let request = DeleteRecordsRequest {
        timeout_ms: 60_000,
        topics: vec![DeleteRecordsTopic {
            name: TOPIC.into(),
            partitions: vec![DeleteRecordsPartition {
                partition_index: index,
                offset,
                ..DeleteRecordsPartition::default()
            }],
            ..DeleteRecordsTopic::default()
        }],
        ..DeleteRecordsRequest::default()
    };
    let response = replicas.delete_records(request).await;
    let answer = &response.topics[0].partitions[0];
    match ErrorCode(answer.error_code) {
        ErrorCode::NONE => Ok(answer.low_watermark),
        error => Err(error),
    }
}

/// The timestamp, the offset and the epoch that ListOffsets finds.
async fn list(replicas: &Replicas, timestamp: i64) -> (ErrorCode, i64, i64, i32) {
    let request = ListOffsetsRequest {
        topics: vec![ListOffsetsTopic {
            name: TOPIC.into(),
            partitions: vec![ListOffsetsPartition {
                timestamp,
                ..ListOffsetsPartition::default()
            }],
            ..ListOffsetsTopic::default()
        }],
        replica_id: -1,
        ..ListOffsetsRequest::default()
    };
    let response = replicas.list_offsets(request, 11).await;
    let found = &response.topics[0].partitions[0];
    (
        ErrorCode(found.error_code),
        found.timestamp,
        found.offset,
        found.leader_epoch,
    )
}

fn all_dirs() -> DescribeLogDirsRequest {
    DescribeLogDirsRequest {
        topics: None,
        ..DescribeLogDirsRequest::default()
    }
}

fn at(timestamp: i64) -> bytes::Bytes {
    let mut builder = BatchBuilder::new(BatchOptions::default());
    let record = NewRecord {
        timestamp,
        value: Some(b"x"),
        ..NewRecord::default()
    };
    builder.append(&record).unwrap();
    builder.finish().unwrap().into_bytes()
}

#[tokio::test]
async fn offsets_are_found() {
    let cluster = Cluster::start(1, "").await;
    cluster.create(&[&[1]]);
    cluster.hosts(1, 0).await;
    let broker = cluster.replicas(1);
    const OK: ErrorCode = ErrorCode::NONE;
    assert_eq!(list(broker, -1).await, (OK, -1, 0, 0));
    assert_eq!(list(broker, -3).await, (OK, -1, -1, -1));
    for timestamp in [100, 300, 200] {
        produce(broker, 0, 1, at(timestamp)).await;
    }
    cluster.controller.elect(0, 1, &[1]);
    cluster.hosts(1, 0).await;
    produce(broker, 0, 1, at(250)).await;
    assert_eq!(list(broker, -1).await, (OK, -1, 4, 1));
    assert_eq!(list(broker, -2).await, (OK, -1, 0, 0));
    assert_eq!(list(broker, -3).await, (OK, 300, 1, 0));
    assert_eq!(list(broker, 150).await, (OK, 300, 1, 0));
    assert_eq!(list(broker, 301).await, (OK, -1, -1, -1));
    assert_eq!(list(broker, -9).await.0, ErrorCode::UNSUPPORTED_VERSION);
    let request = |epoch, current| OffsetForLeaderEpochRequest {
        topics: vec![OffsetForLeaderTopic {
            topic: TOPIC.into(),
            partitions: vec![OffsetForLeaderPartition {
                leader_epoch: epoch,
                current_leader_epoch: current,
                ..OffsetForLeaderPartition::default()
            }],
            ..OffsetForLeaderTopic::default()
        }],
        ..OffsetForLeaderEpochRequest::default()
    };
    for (epoch, current, error, end_epoch, end) in [
        (0, -1, OK, 0, 3),
        (1, 1, OK, 1, 4),
        (2, -1, OK, -1, -1),
        (0, 0, ErrorCode::FENCED_LEADER_EPOCH, -1, -1),
        (0, 2, ErrorCode::UNKNOWN_LEADER_EPOCH, -1, -1),
    ] {
        let response = broker
            .offset_for_leader_epoch(request(epoch, current))
            .await;
        let found = &response.topics[0].partitions[0];
        let found = (
            ErrorCode(found.error_code),
            found.leader_epoch,
            found.end_offset,
        );
        assert_eq!(found, (error, end_epoch, end), "{epoch} {current}");
    }
}

#[tokio::test]
async fn records_are_deleted_everywhere() {
    let cluster = Cluster::start(2, "").await;
    cluster.create(&[&[1, 2]]);
    cluster.hosts(1, 0).await;
    cluster.hosts(2, 0).await;
    let broker = cluster.replicas(1);
    for value in ["a", "b", "c"] {
        produce(broker, 0, -1, batch(&[value])).await;
    }
    assert_eq!(delete(broker, 0, 2).await, Ok(2));
    assert_eq!(values(&fetch(broker, 0, 2).await), ["c"]);
    let out_of_range = Err(ErrorCode::OFFSET_OUT_OF_RANGE);
    assert_eq!(delete(broker, 0, 4).await, out_of_range);
    let follower = Err(ErrorCode::NOT_LEADER_OR_FOLLOWER);
    assert_eq!(delete(cluster.replicas(2), 0, 2).await, follower);
    assert_eq!(delete(broker, 0, -1).await, Ok(3));
    let start = cluster
        .replicas(2)
        .0
        .hosted(super::cluster::place(0))
        .unwrap();
    let moment = cluster.replicas(2).0.moment();
    let start = start.with(&moment, |state| Ok(state.log.start().0));
    assert_eq!(start.unwrap(), 3);
    cluster.configure("cleanup.policy", "compact");
    let configured = || {
        let hosted = broker.0.hosted(super::cluster::place(0)).unwrap();
        let topic = hosted.with(&broker.0.moment(), |state| Ok(state.topic.clone()));
        topic.unwrap().compacts.then_some(())
    };
    super::cluster::eventually("the config is known", configured).await;
    assert_eq!(
        delete(broker, 0, -1).await,
        Err(ErrorCode::POLICY_VIOLATION)
    );
}

#[tokio::test]
async fn old_records_go() {
    let cluster = Cluster::start(1, "").await;
    cluster.create(&[&[1]]);
    cluster.configure("retention.ms", "1000");
    cluster.hosts(1, 0).await;
    let broker = cluster.replicas(1);
    let configured = || {
        let hosted = broker.0.hosted(super::cluster::place(0)).unwrap();
        let topic = hosted.with(&broker.0.moment(), |state| Ok(state.topic.clone()));
        (topic.unwrap().retention.ms == Some(1000)).then_some(())
    };
    super::cluster::eventually("the config is known", configured).await;
    for timestamp in [100, 300] {
        produce(broker, 0, 1, at(timestamp)).await;
    }
    let before = broker.describe_log_dirs(all_dirs()).await;
    assert!(before.results[0].topics[0].partitions[0].partition_size > 100);
    assert!(before.results[0].usable_bytes > 0);
    rounds::retain(&broker.0);
    assert_eq!(list(broker, -2).await.2, 2);
    assert_eq!(list(broker, -1).await.2, 2);
    let after = broker.describe_log_dirs(all_dirs()).await;
    assert_eq!(after.results[0].topics[0].partitions[0].partition_size, 0);
    assert_eq!(produce(broker, 0, 1, batch(&["a"])).await.base_offset, 2);
}
