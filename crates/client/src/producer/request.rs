use std::collections::HashMap;
use std::time::Duration;

use klamm_protocol::messages::init_producer_id::InitProducerIdRequest;
use klamm_protocol::messages::produce::{
    PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData,
};
use klamm_protocol::records::Compression;
use klamm_protocol::{BrokerId, Bytes, SmallString, Uuid, VersionRange};

use super::batch::Origin;
use super::options::ProducerOptions;
use crate::call::{Answer, Call, Effect, Verdict};
use crate::client::{Client, Route};
use crate::retry::Deadline;
use crate::{ClientError, TopicPartition};

/// The first version of Produce in which topics have ids in place of names (KIP-516).
const WITH_TOPIC_IDS: i16 = 13;
/// The first version of Produce that takes batches compressed with zstd (KIP-110).
const WITH_ZSTD: i16 = 7;

/// A request for one leader, in the versions that it can be sent in.
#[derive(Debug)]
pub(super) struct Draft {
    topics: HashMap<SmallString, (Option<Uuid>, Vec<PartitionProduceData>)>,
    acks: i16,
    compression: Compression,
}

impl Draft {
    pub(super) fn new(options: &ProducerOptions) -> Self {
        Self {
            topics: HashMap::new(),
            acks: options.acks.wire(),
            compression: options.compression.compression,
        }
    }

    /// Adds a partition's batch.
    pub(super) fn add(&mut self, partition: &TopicPartition, id: Option<Uuid>, records: Bytes) {
        let topic = self.topics.entry(partition.topic.clone());
        let (_, partitions) = topic.or_insert_with(|| (id, Vec::new()));
        partitions.push(PartitionProduceData {
            index: partition.partition.0,
            records: Some(records),
            ..Default::default()
        });
    }

    /// Sends it once.
    pub(super) async fn send(
        self,
        client: Client,
        leader: BrokerId,
        within: Duration,
    ) -> Result<Answer<ProduceResponse>, ClientError> {
        let deadline = Deadline::after(within);
        let mut call = Call::new(Route::Node(leader), Effect::Repeatable, deadline);
        if self.compression == Compression::Zstd {
            call = call.needing(WITH_ZSTD, "compression.type=zstd");
        }
        if self.topics.values().any(|(id, _)| id.is_none()) {
            call.needed = VersionRange::new(call.needed.min, WITH_TOPIC_IDS - 1);
        }
        let build = move |version: i16, timeout_ms| {
            let by_id = version >= WITH_TOPIC_IDS;
            let topics = self.topics.into_iter();
            let topics = topics.map(|(name, (id, partitions))| TopicProduceData {
                name: if by_id { SmallString::default() } else { name },
                topic_id: if by_id {
                    id.unwrap_or_default()
                } else {
                    Uuid::ZERO
                },
                partition_data: partitions,
                ..Default::default()
            });
            ProduceRequest {
                acks: self.acks,
                timeout_ms,
                topic_data: topics.collect(),
                ..Default::default()
            }
        };
        call.once(&client, &mut Vec::new(), build).await
    }
}

/// Asks for a producer id (KIP-98). Any broker gives one out.
pub(super) async fn identify(client: Client) -> Result<Origin, ClientError> {
    let deadline = Deadline::after(client.config().default_api_timeout);
    let call = Call::new(Route::Any, Effect::Repeatable, deadline);
    let answer = call
        .make(
            &client,
            |_version, _timeout_ms| InitProducerIdRequest {
                // The schema's default, an empty one, is an error.
                transactional_id: None,
                transaction_timeout_ms: i32::MAX,
                ..Default::default()
            },
            |_version, response| Verdict::of(response.error_code),
        )
        .await?;
    let response = answer.response;
    ClientError::check::<InitProducerIdRequest>(&answer.server, response.error_code, None)?;
    Ok(Origin {
        producer_id: response.producer_id,
        producer_epoch: response.producer_epoch,
        sequence: 0,
    })
}
