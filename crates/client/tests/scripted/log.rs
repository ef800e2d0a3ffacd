//! What leaders keep of producers' batches, for scripted brokers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use klamm_client::ErrorCode;
use klamm_net::testing::Reply;
use klamm_protocol::messages::init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};
use klamm_protocol::messages::produce::{
    PartitionProduceResponse, ProduceRequest, ProduceResponse, TopicProduceResponse,
};
use klamm_protocol::records::{Batch, Batches, DecompressLimit};

use crate::support::Cluster;

/// The logs of one topic's partitions, which all brokers share. They take the batches of a producer
/// in the order of its numbers only, and know its last five again, as Apache Kafka's do.
#[derive(Clone, Default)]
pub(crate) struct Logs(Arc<Mutex<BTreeMap<i32, Log>>>);

#[derive(Default)]
pub(crate) struct Log {
    pub(crate) values: Vec<String>,
    pub(crate) taken: Vec<Taken>,
    /// What came, also what was refused: epoch and sequence.
    pub(crate) seen: Vec<(i16, i32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) epoch: i16,
    pub(crate) sequence: i32,
    pub(crate) records: i32,
    pub(crate) offset: i64,
}

impl Logs {
    pub(crate) fn log(&self, partition: i32, each: impl FnOnce(&mut Log)) {
        each(self.logs().entry(partition).or_default());
    }

    pub(crate) fn logs(&self) -> MutexGuard<'_, BTreeMap<i32, Log>> {
        self.0.lock().unwrap()
    }

    pub(crate) fn values(&self, partition: i32) -> Vec<String> {
        self.logs().entry(partition).or_default().values.clone()
    }

    /// Appends what a request has.
    pub(crate) fn answer(&self, request: &ProduceRequest) -> ProduceResponse {
        answer(request, |partition, records| {
            self.append(partition, records)
        })
    }

    pub(crate) fn append(&self, partition: i32, records: &Bytes) -> PartitionProduceResponse {
        self.logs().entry(partition).or_default().append(records)
    }

    /// Has every broker of a cluster take what it gets, and give out producer id 7.
    pub(crate) fn serve(&self, cluster: &Cluster) {
        for broker in &cluster.brokers {
            let logs = self.clone();
            broker.on(move |_, request: ProduceRequest| Reply::Answer(logs.answer(&request)));
            broker.on(|_, request: InitProducerIdRequest| {
                // Apache Kafka refuses an empty transactional id.
                let code = match request.transactional_id {
                    None => ErrorCode::NONE,
                    Some(_) => ErrorCode::INVALID_REQUEST,
                };
                Reply::Answer(InitProducerIdResponse {
                    error_code: code.0,
                    producer_id: 7,
                    ..Default::default()
                })
            });
        }
    }
}

impl Log {
    fn append(&mut self, records: &Bytes) -> PartitionProduceResponse {
        let mut batches = Batches::new(records.clone());
        let Batch::V2(batch) = batches.next().unwrap().unwrap() else {
            panic!("an old format");
        };
        assert!(batches.next().is_none(), "one batch a partition");
        batch.verify_crc().unwrap();
        let header = *batch.header();
        let (epoch, sequence) = (header.producer_epoch, header.base_sequence);
        self.seen.push((epoch, sequence));
        let known = |taken: &&Taken| taken.epoch == epoch && taken.sequence == sequence;
        if header.producer_id >= 0 {
            if let Some(known) = self.taken.iter().rev().take(5).find(known) {
                return response(ErrorCode::NONE, known.offset);
            }
            let expected = match self.taken.last() {
                Some(last) if last.epoch == epoch => last.sequence + last.records,
                Some(last) if last.epoch > epoch => {
                    return response(ErrorCode::INVALID_PRODUCER_EPOCH, -1);
                }
                _ => 0,
            };
            if sequence != expected {
                return response(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
            }
        }
        let offset = self.values.len() as i64;
        for record in &batch.records(DecompressLimit::DEFAULT).unwrap() {
            let value = record.unwrap().value().unwrap_or_default().to_vec();
            self.values.push(String::from_utf8(value).unwrap());
        }
        self.taken.push(Taken {
            epoch,
            sequence,
            records: header.record_count,
            offset,
        });
        response(ErrorCode::NONE, offset)
    }
}

/// What is said of a partition.
pub(crate) fn response(code: ErrorCode, base_offset: i64) -> PartitionProduceResponse {
    PartitionProduceResponse {
        error_code: code.0,
        base_offset,
        ..Default::default()
    }
}

/// An answer to a request, partition by partition.
pub(crate) fn answer(
    request: &ProduceRequest,
    mut each: impl FnMut(i32, &Bytes) -> PartitionProduceResponse,
) -> ProduceResponse {
    let topics = request.topic_data.iter().map(|topic| TopicProduceResponse {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        partition_responses: topic
            .partition_data
            .iter()
            .map(|partition| PartitionProduceResponse {
                index: partition.index,
                ..each(partition.index, partition.records.as_ref().unwrap())
            })
            .collect(),
        ..Default::default()
    });
    ProduceResponse {
        responses: topics.collect(),
        ..Default::default()
    }
}

/// An answer that says the same of each partition.
pub(crate) fn refusal(request: &ProduceRequest, code: ErrorCode) -> ProduceResponse {
    answer(request, |_, _| response(code, -1))
}
