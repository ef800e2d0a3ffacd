//! What leaders give to consumers, for scripted brokers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use klamm_client::{LeaderEpoch, Offset};
use klamm_net::testing::Reply;
use klamm_protocol::Bytes;
use klamm_protocol::messages::fetch::{
    AbortedTransaction, FetchRequest, FetchResponse, FetchableTopicResponse, PartitionData,
};
use klamm_protocol::messages::list_offsets::{
    ListOffsetsPartitionResponse, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopicResponse,
};
use klamm_protocol::records::{BatchBuilder, BatchOptions, ControlType, NewRecord};

use crate::support::Cluster;

/// The log of partition 0 of topic `a`, which all brokers share, and what they were asked.
#[derive(Clone, Default)]
pub(crate) struct ReadLog(pub(crate) Arc<Mutex<State>>);

#[derive(Default)]
pub(crate) struct State {
    /// Batches with their first and last offsets.
    batches: Vec<(i64, i64, Bytes)>,
    next: i64,
    pub(crate) aborted: Vec<AbortedTransaction>,
    /// Session id and epoch of each Fetch, and how many partitions it names.
    fetches: Vec<(i32, i32, usize)>,
}

impl ReadLog {
    /// Appends values, as of a leader epoch, and perhaps of a producer's transaction.
    pub(crate) fn append(&self, values: &[&str], epoch: i32, transaction_of: Option<i64>) {
        let mut state = self.0.lock().unwrap();
        let mut builder = BatchBuilder::new(BatchOptions {
            base_offset: Offset(state.next),
            partition_leader_epoch: LeaderEpoch(epoch),
            producer_id: transaction_of.unwrap_or(-1),
            transactional: transaction_of.is_some(),
            ..Default::default()
        });
        for value in values {
            let value = Some(value.as_bytes());
            let record = NewRecord {
                value,
                ..Default::default()
            };
            builder.append(&record).unwrap();
        }
        state.push(builder);
    }

    pub(crate) fn end_transaction(&self, kind: ControlType, producer_id: i64) {
        let mut state = self.0.lock().unwrap();
        let mut builder = BatchBuilder::new(BatchOptions {
            base_offset: Offset(state.next),
            producer_id,
            transactional: true,
            control: true,
            ..Default::default()
        });
        builder.append_control(kind, 0, &[0; 6]).unwrap();
        state.push(builder);
    }

    pub(crate) fn fetches(&self) -> Vec<(i32, i32, usize)> {
        self.0.lock().unwrap().fetches.clone()
    }

    /// Answers a Fetch: what is there after the offset asked for, or nothing after a while.
    pub(crate) fn fetch(&self, offset: &mut i64, request: &FetchRequest) -> Reply<FetchResponse> {
        let mut state = self.0.lock().unwrap();
        let asked = request.topics.first();
        let named = asked.map_or(0, |topic| topic.partitions.len());
        let session = (request.session_id, request.session_epoch, named);
        state.fetches.push(session);
        if let Some(topic) = asked {
            *offset = topic.partitions[0].fetch_offset;
        }
        let records: Vec<_> = state
            .batches
            .iter()
            .filter(|(_, last, _)| *last >= *offset)
            .flat_map(|(_, _, bytes)| bytes.to_vec())
            .collect();
        let is_empty = records.is_empty();
        let mut answer = FetchResponse {
            session_id: 9,
            ..Default::default()
        };
        if !is_empty {
            answer.responses.push(one(PartitionData {
                high_watermark: state.next,
                aborted_transactions: Some(state.aborted.clone()),
                records: Some(Bytes::from(records)),
                ..Default::default()
            }));
            return Reply::Answer(answer);
        }
        Reply::After(Duration::from_millis(500), answer)
    }

    pub(crate) fn serve(&self, cluster: &Cluster) {
        for broker in &cluster.brokers {
            let (log, mut offset) = (self.clone(), 0);
            broker.on(move |_, request: FetchRequest| log.fetch(&mut offset, &request));
            let log = self.clone();
            broker.on(move |_, request: ListOffsetsRequest| {
                let state = log.0.lock().unwrap();
                let asked = &request.topics[0].partitions[0];
                let offset = match asked.timestamp {
                    -1 => state.next,
                    -2 => state.batches.first().map_or(state.next, |batch| batch.0),
                    timestamp => timestamp,
                };
                Reply::Answer(ListOffsetsResponse {
                    topics: vec![ListOffsetsTopicResponse {
                        name: "a".into(),
                        partitions: vec![ListOffsetsPartitionResponse {
                            offset,
                            ..Default::default()
                        }],
                        ..Default::default()
                    }],
                    ..Default::default()
                })
            });
        }
    }
}

impl State {
    fn push(&mut self, builder: BatchBuilder) {
        let first = self.next;
        self.next = builder.next_offset().0;
        let bytes = builder.finish().unwrap().into_bytes();
        self.batches.push((first, self.next - 1, bytes));
    }
}

pub(crate) fn one(partition: PartitionData) -> FetchableTopicResponse {
    FetchableTopicResponse {
        topic: "a".into(),
        partitions: vec![partition],
        ..Default::default()
    }
}
