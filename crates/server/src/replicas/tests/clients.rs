//! What clients ask for.

use bytes::Bytes;
use klamm_protocol::messages::fetch::{FetchPartition, FetchRequest, FetchTopic, PartitionData};
use klamm_protocol::messages::produce::{
    PartitionProduceData, PartitionProduceResponse, ProduceRequest, TopicProduceData,
};
use klamm_protocol::records::Batch;
use klamm_protocol::records::{BatchBuilder, BatchOptions, Batches, DecompressLimit, NewRecord};

use super::cluster::TOPIC_ID;
use crate::replicas::{Produced, Replicas};

/// Versions with topic ids.
pub(super) const PRODUCE: i16 = 13;
pub(super) const FETCH: i16 = 17;

/// A batch with these values.
pub(super) fn batch(values: &[&str]) -> Bytes {
    batch_of(BatchOptions::default(), values)
}

/// A batch of an idempotent producer.
pub(super) fn batch_from(producer: i64, epoch: i16, sequence: i32, values: &[&str]) -> Bytes {
    let options = BatchOptions {
        producer_id: producer,
        producer_epoch: epoch,
        base_sequence: sequence,
        ..BatchOptions::default()
    };
    batch_of(options, values)
}

fn batch_of(options: BatchOptions, values: &[&str]) -> Bytes {
    let mut builder = BatchBuilder::new(options);
    for value in values {
        let record = NewRecord {
            value: Some(value.as_bytes()),
            timestamp: -1,
            ..NewRecord::default()
        };
        builder.append(&record).unwrap();
    }
    builder.finish().unwrap().into_bytes()
}

pub(super) fn produce_request(index: i32, acks: i16, records: Bytes) -> ProduceRequest {
    ProduceRequest {
        acks,
        timeout_ms: 60_000,
        topic_data: vec![TopicProduceData {
            topic_id: TOPIC_ID,
            partition_data: vec![PartitionProduceData {
                index,
                records: Some(records),
                ..PartitionProduceData::default()
            }],
            ..TopicProduceData::default()
        }],
        ..ProduceRequest::default()
    }
}

/// Produces, and returns the partition's answer.
pub(super) async fn produce(
    replicas: &Replicas,
    index: i32,
    acks: i16,
    records: Bytes,
) -> PartitionProduceResponse {
    let request = produce_request(index, acks, records);
    let Produced::Answer(response) = replicas.produce(request, PRODUCE, "PLAINTEXT").await else {
        panic!("no answer");
    };
    response.responses[0].partition_responses[0].clone()
}

pub(super) fn fetch_request(index: i32, offset: i64) -> FetchRequest {
    FetchRequest {
        max_wait_ms: 0,
        min_bytes: 1,
        topics: vec![FetchTopic {
            topic_id: TOPIC_ID,
            partitions: vec![FetchPartition {
                partition: index,
                fetch_offset: offset,
                partition_max_bytes: 1 << 20,
                ..FetchPartition::default()
            }],
            ..FetchTopic::default()
        }],
        ..FetchRequest::default()
    }
}

/// Fetches as a consumer, and returns the partition's answer.
pub(super) async fn fetch(replicas: &Replicas, index: i32, offset: i64) -> PartitionData {
    let request = fetch_request(index, offset);
    let response = replicas.fetch(request, FETCH, "PLAINTEXT").await;
    assert_eq!(response.error_code, 0);
    response.responses[0].partitions[0].clone()
}

/// The values of records.
pub(super) fn values(data: &PartitionData) -> Vec<String> {
    let mut found = Vec::new();
    for batch in Batches::new(data.records.clone().unwrap_or_default()) {
        let Batch::V2(batch) = batch.unwrap() else {
            panic!("an old batch");
        };
        batch.verify_crc().unwrap();
        for record in &batch.records(DecompressLimit::DEFAULT).unwrap() {
            let value = record.unwrap().value().unwrap().to_vec();
            found.push(String::from_utf8(value).unwrap());
        }
    }
    found
}
