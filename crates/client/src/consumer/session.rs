use std::collections::BTreeMap;

use klamm_protocol::messages::fetch::{FetchPartition, FetchRequest, FetchTopic, ForgottenTopic};
use klamm_protocol::{Offset, SmallString, Uuid};

use super::options::ConsumerOptions;
use crate::TopicPartition;
use crate::types::by_topic;

/// The first version of Fetch in which topics have ids in place of names (KIP-516).
pub(super) const WITH_TOPIC_IDS: i16 = 13;
/// The first version of Fetch with sessions (KIP-227).
const WITH_SESSIONS: i16 = 7;

/// What a broker remembers of what a consumer reads from it, so that a request only says what is
/// new (KIP-227).
#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    id: i32,
    /// 0 begins a session.
    epoch: i32,
    known: BTreeMap<TopicPartition, Wanted>,
}

/// How a partition is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) topic_id: Option<Uuid>,
    pub(super) leader_epoch: i32,
    pub(super) offset: Offset,
}

/// A request within a session.
#[derive(Clone, Debug)]
pub(super) struct FetchDraft {
    session: Session,
    pub(super) wanted: BTreeMap<TopicPartition, Wanted>,
}

impl Session {
    /// The next request, which reads these partitions and no others.
    pub(super) fn next(&self, wanted: BTreeMap<TopicPartition, Wanted>) -> FetchDraft {
        FetchDraft {
            session: self.clone(),
            wanted,
        }
    }

    /// The broker has answered.
    pub(super) fn answered(&mut self, id: i32, wanted: BTreeMap<TopicPartition, Wanted>) {
        self.id = id;
        // After the largest epoch comes 1: 0 begins a session.
        self.epoch = if id == 0 {
            0
        } else {
            self.epoch.checked_add(1).unwrap_or(1)
        };
        self.known = if id == 0 { BTreeMap::new() } else { wanted };
    }

    /// The broker does not know the session, or nobody knows whether it does: the next request
    /// begins another, and ends this one where it is still there.
    pub(super) fn lost(&mut self, is_known: bool) {
        if !is_known {
            self.id = 0;
        }
        self.epoch = 0;
        self.known.clear();
    }
}

impl FetchDraft {
    /// Whether topics can be named by their ids.
    pub(super) fn has_ids(&self) -> bool {
        let mut all = self.wanted.values().chain(self.session.known.values());
        all.all(|wanted| wanted.topic_id.is_some())
    }

    pub(super) fn build(&self, version: i16, options: &ConsumerOptions) -> FetchRequest {
        let has_session = version >= WITH_SESSIONS;
        let known = &self.session.known;
        let is_news = |(partition, wanted): &(&TopicPartition, &Wanted)| {
            !has_session || known.get(*partition) != Some(*wanted)
        };
        let news = self.wanted.iter().filter(is_news);
        let partitions = by_topic(news, |partition, wanted| {
            let asked = FetchPartition {
                partition,
                current_leader_epoch: wanted.leader_epoch,
                fetch_offset: wanted.offset.0,
                partition_max_bytes: options.max_partition_fetch_bytes,
                ..Default::default()
            };
            (asked, wanted.topic_id)
        });
        let topics = partitions.into_iter().map(|(name, partitions)| {
            let id = partitions.first().and_then(|(_, id)| *id);
            let (topic, topic_id) = named(version, name, id);
            FetchTopic {
                topic,
                topic_id,
                partitions: partitions.into_iter().map(|(asked, _)| asked).collect(),
                ..Default::default()
            }
        });
        let gone = known
            .iter()
            .filter(|(partition, _)| has_session && !self.wanted.contains_key(*partition));
        let gone = by_topic(gone, |partition, wanted| (partition, wanted.topic_id));
        let forgotten = gone.into_iter().map(|(name, partitions)| {
            let id = partitions.first().and_then(|(_, id)| *id);
            let (topic, topic_id) = named(version, name, id);
            ForgottenTopic {
                topic,
                topic_id,
                partitions: partitions.into_iter().map(|(index, _)| index).collect(),
                ..Default::default()
            }
        });
        FetchRequest {
            max_wait_ms: i32::try_from(options.fetch_max_wait.as_millis()).unwrap_or(i32::MAX),
            min_bytes: options.fetch_min_bytes,
            max_bytes: options.fetch_max_bytes,
            isolation_level: options.isolation.wire(),
            session_id: if has_session { self.session.id } else { 0 },
            session_epoch: if has_session { self.session.epoch } else { -1 },
            topics: topics.collect(),
            forgotten_topics_data: forgotten.collect(),
            ..Default::default()
        }
    }
}

fn named(version: i16, name: SmallString, id: Option<Uuid>) -> (SmallString, Uuid) {
    if version >= WITH_TOPIC_IDS {
        (SmallString::default(), id.unwrap_or_default())
    } else {
        (name, Uuid::ZERO)
    }
}
