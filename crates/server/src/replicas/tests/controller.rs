//! A controller that is a function.

use std::sync::{Arc, Mutex, MutexGuard};

use klamm_metadata::{Image, Place, Record};
use klamm_protocol::data::metadata::{FeatureLevelRecord, PartitionChangeRecord};
use klamm_protocol::messages::allocate_producer_ids::AllocateProducerIdsResponse;
use klamm_protocol::messages::alter_partition::{
    AlterPartitionRequest, AlterPartitionResponse, ResponsePartitionData, ResponseTopicData,
};
use klamm_protocol::messages::assign_replicas_to_dirs::AssignReplicasToDirsResponse;
use klamm_protocol::{ErrorCode, Offset, PartitionIndex};
use tokio::sync::mpsc;

use super::cluster::{TOPIC_ID, place};
use crate::broker::{Published, Touched};
use crate::replicas::Question;
/// The metadata, and who is told of it.
#[derive(Clone)]
pub(super) struct Controller(Arc<Mutex<Inner>>);

pub(super) struct Inner {
    image: Image,
    pub(super) end: i64,
    pub(super) brokers: Vec<(i32, mpsc::UnboundedSender<(Published, Touched)>)>,
    next_producer_id: i64,
    /// Whether questions get no answer.
    is_deaf: bool,
}

impl Controller {
    pub(super) fn new() -> Self {
        let controller = Self(Arc::new(Mutex::new(Inner {
            image: Image::new(),
            end: 0,
            brokers: Vec::new(),
            next_producer_id: 0,
            is_deaf: false,
        })));
        controller.write(&[FeatureLevelRecord {
            name: "metadata.version".into(),
            feature_level: 27,
            ..FeatureLevelRecord::default()
        }
        .into()]);
        controller
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    pub(super) fn set_deaf(&self, is_deaf: bool) {
        self.inner().is_deaf = is_deaf;
    }

    /// Appends records, and tells every broker.
    pub(super) fn write(&self, records: &[Record]) {
        let mut inner = self.inner();
        let mut touched = Touched::default();
        for record in records {
            inner.image.apply(record).unwrap();
            inner.end += 1;
            touched.note(record);
        }
        let published = inner.published();
        inner
            .brokers
            .retain(|(_, told)| told.send((published.clone(), touched.clone())).is_ok());
    }

    pub(super) fn image(&self) -> Image {
        self.inner().image.clone()
    }

    pub(super) fn isr(&self, index: i32) -> Vec<i32> {
        let image = self.image();
        let partition = image.topics().partition(place(index)).unwrap();
        partition.isr().iter().map(|id| id.0).collect()
    }

    /// Elects a leader; the ISR is as it is told.
    pub(super) fn elect(&self, index: i32, leader: i32, isr: &[i32]) {
        self.write(&[PartitionChangeRecord {
            topic_id: TOPIC_ID,
            partition_id: index,
            leader,
            isr: Some(isr.into()),
            ..PartitionChangeRecord::default()
        }
        .into()]);
    }

    fn alter_partition(&self, request: &AlterPartitionRequest) -> AlterPartitionResponse {
        let mut records = Vec::new();
        let mut topics = Vec::new();
        for topic in &request.topics {
            let mut partitions = Vec::new();
            for asked in &topic.partitions {
                let image = self.image();
                let place = Place {
                    topic: topic.topic_id,
                    index: PartitionIndex(asked.partition_index),
                };
                let partition = image.topics().partition(place).unwrap();
                let isr: Vec<i32> = asked
                    .new_isr_with_epochs
                    .iter()
                    .map(|member| member.broker_id)
                    .collect();
                let is_stale = partition.leader_epoch().0 != asked.leader_epoch
                    || partition.partition_epoch().0 != asked.partition_epoch;
                let error_code = match is_stale {
                    true => ErrorCode::INVALID_UPDATE_VERSION,
                    false => ErrorCode::NONE,
                };
                if !is_stale {
                    records.push(Record::from(PartitionChangeRecord {
                        topic_id: topic.topic_id,
                        partition_id: asked.partition_index,
                        isr: Some(isr[..].into()),
                        ..PartitionChangeRecord::default()
                    }));
                }
                partitions.push(ResponsePartitionData {
                    partition_index: asked.partition_index,
                    error_code: error_code.0,
                    leader_id: partition.leader().0,
                    leader_epoch: asked.leader_epoch,
                    isr: isr[..].into(),
                    partition_epoch: asked.partition_epoch + 1,
                    ..ResponsePartitionData::default()
                });
            }
            topics.push(ResponseTopicData {
                topic_id: topic.topic_id,
                partitions,
                ..ResponseTopicData::default()
            });
        }
        self.write(&records);
        AlterPartitionResponse {
            topics,
            ..AlterPartitionResponse::default()
        }
    }

    pub(super) async fn answer(self, mut questions: mpsc::Receiver<Question>) {
        while let Some(question) = questions.recv().await {
            if self.inner().is_deaf {
                continue;
            }
            // Who asks may be gone.
            match question {
                Question::AlterPartition(request, answer) => {
                    let _ = answer.send(self.alter_partition(&request));
                }
                Question::AllocateProducerIds(_, answer) => {
                    let mut inner = self.inner();
                    let start = inner.next_producer_id;
                    inner.next_producer_id += 2;
                    let _ = answer.send(AllocateProducerIdsResponse {
                        producer_id_start: start,
                        producer_id_len: 2,
                        ..AllocateProducerIdsResponse::default()
                    });
                }
                Question::AssignReplicasToDirs(_, answer) => {
                    let _ = answer.send(AssignReplicasToDirsResponse::default());
                }
            }
        }
    }
}

impl Inner {
    pub(super) fn published(&self) -> Published {
        Published {
            image: Arc::new(self.image.clone()),
            end: Offset(self.end),
            kraft_version: 0,
        }
    }
}
