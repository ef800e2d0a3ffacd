//! The answer to a Fetch.

use std::collections::{BTreeSet, HashMap};

use klamm_metadata::Place;
use klamm_protocol::messages::fetch::{
    EpochEndOffset, FetchResponse, FetchableTopicResponse, LeaderIdAndEpoch, NodeEndpoint,
    PartitionData,
};
use klamm_protocol::{BrokerId, ErrorCode, PartitionIndex, SmallString, Uuid};
use klamm_replica::Readable;

use super::super::Shared;
use super::super::records::leader_hint;
use super::is_error;
use super::look::{Found, Looked};
use super::session::{Session, TopicKey};

/// The first version that tells where logs part, and who leads where another is asked.
const WITH_DIVERGING: i16 = 12;
/// The first version that tells where the leader listens (KIP-951).
const WITH_ENDPOINTS: i16 = 16;

/// The partitions of an answer.
pub(super) struct Partitions(Vec<(TopicKey, PartitionData)>);

impl Looked {
    /// What is said of the partitions. A session leaves out what has not changed.
    pub(super) fn answer(
        self,
        session: &mut Session,
        version: i16,
        is_incremental: bool,
    ) -> Partitions {
        let mut answered = Vec::new();
        for found in self.partitions {
            let (slot, told) = (found.slot, found.told());
            let Some(wanted) = session.at(slot) else {
                continue;
            };
            let data = data(wanted.asked.partition, found, version);
            let has_records = data
                .records
                .as_ref()
                .is_some_and(|records| !records.is_empty());
            let is_bad = is_error(ErrorCode(data.error_code));
            let is_news =
                has_records || is_bad || data.diverging_epoch.epoch >= 0 || wanted.told != told;
            // What follows an error is told in any case.
            wanted.told = told.filter(|_| !is_bad);
            if is_news || !is_incremental {
                answered.push((wanted.topic.clone(), data));
            }
            if has_records {
                session.put_last(slot);
            }
        }
        Partitions(answered)
    }
}

fn data(index: i32, found: Found, version: i16) -> PartitionData {
    let mut data = PartitionData {
        partition_index: index,
        high_watermark: -1,
        last_stable_offset: -1,
        log_start_offset: -1,
        preferred_read_replica: -1,
        records: Some(found.records),
        ..PartitionData::default()
    };
    match found.reply {
        Err(error) => data.error_code = error.0,
        Ok(reply) => {
            data.high_watermark = reply.high_watermark.0;
            data.last_stable_offset = reply.last_stable.0;
            data.log_start_offset = reply.log_start.0;
            if let Readable::Diverging(end) = reply.found
                && version >= WITH_DIVERGING
            {
                data.diverging_epoch = EpochEndOffset {
                    epoch: end.epoch.0,
                    end_offset: end.end.0,
                    ..EpochEndOffset::default()
                };
            }
        }
    }
    data
}

impl Shared {
    /// The whole answer. Where another leads it says who, as far as the version can.
    pub(super) fn fetch_response(
        &self,
        Partitions(partitions): Partitions,
        session_id: i32,
        version: i16,
        listener: &str,
    ) -> FetchResponse {
        let image = self.image();
        let mut leaders: BTreeSet<BrokerId> = BTreeSet::new();
        let mut topics: Vec<FetchableTopicResponse> = Vec::new();
        let mut places: HashMap<TopicKey, usize> = HashMap::new();
        for (key, mut data) in partitions {
            let id = match &key {
                TopicKey::Id(id) => Some(*id),
                TopicKey::Name(name) => image.topics().by_name(name).map(|topic| topic.id()),
            };
            if version >= WITH_DIVERGING
                && let Some(topic) = id
                && let Some((leader, epoch)) = leader_hint(
                    &image,
                    Place {
                        topic,
                        index: PartitionIndex(data.partition_index),
                    },
                    ErrorCode(data.error_code),
                )
            {
                leaders.extend(leader.known());
                data.current_leader = LeaderIdAndEpoch {
                    leader_id: leader.0,
                    leader_epoch: epoch.0,
                    ..LeaderIdAndEpoch::default()
                };
            }
            let at = *places.entry(key.clone()).or_insert_with(|| {
                let (topic, topic_id) = match key {
                    TopicKey::Id(id) => (SmallString::new(), id),
                    TopicKey::Name(name) => (name, Uuid::ZERO),
                };
                topics.push(FetchableTopicResponse {
                    topic,
                    topic_id,
                    ..FetchableTopicResponse::default()
                });
                topics.len() - 1
            });
            topics[at].partitions.push(data);
        }
        let endpoint = |id: &BrokerId| {
            let broker = image.cluster().broker(*id)?;
            let at = broker.listeners.get(listener)?;
            Some(NodeEndpoint {
                node_id: id.0,
                host: (&*at.host).into(),
                port: at.port.into(),
                rack: broker.rack.as_deref().map(Into::into),
                ..NodeEndpoint::default()
            })
        };
        let node_endpoints = match version >= WITH_ENDPOINTS {
            true => leaders.iter().filter_map(endpoint).collect(),
            false => Vec::new(),
        };
        FetchResponse {
            session_id,
            responses: topics,
            node_endpoints,
            ..FetchResponse::default()
        }
    }
}
