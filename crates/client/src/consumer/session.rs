use std::collections::BTreeMap;
use std::sync::Arc;

use klamm_protocol::messages::fetch::{FetchPartition, FetchRequest, FetchTopic, ForgottenTopic};
use klamm_protocol::{Offset, SmallString, Uuid};

use super::options::ConsumerOptions;
use super::requests::Asked;
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
    known: Arc<BTreeMap<TopicPartition, Asked<Wanted>>>,
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
    wanted: Arc<BTreeMap<TopicPartition, Asked<Wanted>>>,
}

impl Session {
    /// The next request, which reads these partitions and no others.
    pub(super) fn next(&self, wanted: Arc<BTreeMap<TopicPartition, Asked<Wanted>>>) -> FetchDraft {
        FetchDraft {
            session: self.clone(),
            wanted,
        }
    }

    /// The broker has answered a request for these.
    pub(super) fn answered(
        &mut self,
        id: i32,
        wanted: Arc<BTreeMap<TopicPartition, Asked<Wanted>>>,
    ) {
        self.id = id;
        // After the largest epoch comes 1: 0 begins a session.
        self.epoch = if id == 0 {
            0
        } else {
            self.epoch.checked_add(1).unwrap_or(1)
        };
        self.known = if id == 0 { Arc::default() } else { wanted };
    }

    /// The broker does not know the session, or nobody knows whether it does: the next request
    /// begins another, and ends this one where it is still there.
    pub(super) fn lost(&mut self, is_known: bool) {
        if !is_known {
            self.id = 0;
        }
        self.epoch = 0;
        self.known = Arc::default();
    }
}

impl FetchDraft {
    /// Whether topics can be named by their ids.
    pub(super) fn has_ids(&self) -> bool {
        let mut all = self.wanted.values().chain(self.session.known.values());
        all.all(|asked| asked.what.topic_id.is_some())
    }

    pub(super) fn build(&self, version: i16, options: &ConsumerOptions) -> FetchRequest {
        let has_session = version >= WITH_SESSIONS;
        let has_ids = version >= WITH_TOPIC_IDS;
        let known = &self.session.known;
        let is_news = |(partition, asked): &(&TopicPartition, &Asked<Wanted>)| {
            !has_session || known.get(*partition).map(|known| known.what) != Some(asked.what)
        };
        let news = self.wanted.iter().filter(is_news);
        let partitions = by_topic(news, |partition, asked| {
            let wanted = asked.what;
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
        // Of a topic that was made anew the broker knows the old partitions by the old id.
        let id_of = |asked: &Asked<Wanted>| asked.what.topic_id.filter(|_| has_ids);
        let is_gone = |(partition, known): &(&TopicPartition, &Asked<Wanted>)| {
            let wanted = self.wanted.get(*partition);
            has_session && wanted.is_none_or(|wanted| id_of(wanted) != id_of(known))
        };
        let gone = known.iter().filter(is_gone);
        let gone = by_topic(gone, |partition, known| (partition, known.what.topic_id));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaders::Leadership;

    const SESSION: i32 = 7;

    fn wanted(id: Option<u8>, partitions: &[i32]) -> Arc<BTreeMap<TopicPartition, Asked<Wanted>>> {
        let wanted = partitions.iter().map(|index| {
            let what = Wanted {
                topic_id: id.map(|id| Uuid::from_bytes([id; 16])),
                leader_epoch: 3,
                offset: Offset(5),
            };
            let asked = Asked::new(1, Leadership::default(), what);
            (TopicPartition::new("t", *index), asked)
        });
        Arc::new(wanted.collect())
    }

    /// What a request adds to a session and takes out of it: names or ids, with partitions.
    fn said(draft: &FetchDraft, version: i16) -> [Vec<(String, u8, Vec<i32>)>; 2] {
        let request = draft.build(version, &ConsumerOptions::default());
        let added = request.topics.into_iter().map(|topic| {
            let partitions = topic.partitions.iter().map(|asked| asked.partition);
            let id = topic.topic_id.as_bytes()[0];
            (topic.topic.to_string(), id, partitions.collect())
        });
        let forgotten = request.forgotten_topics_data.into_iter().map(|topic| {
            let id = topic.topic_id.as_bytes()[0];
            (topic.topic.to_string(), id, topic.partitions.to_vec())
        });
        [added.collect(), forgotten.collect()]
    }

    #[test]
    fn only_news_is_said() {
        let mut session = Session::default();
        let both = wanted(Some(1), &[0, 1]);
        let first = said(&session.next(both.clone()), 17);
        assert_eq!(first, [vec![("".into(), 1, vec![0, 1])], vec![]]);
        session.answered(SESSION, both.clone());
        assert_eq!(said(&session.next(both), 17), [vec![], vec![]]);
        let one = session.next(wanted(Some(1), &[1]));
        assert_eq!(said(&one, 17), [vec![], vec![("".into(), 1, vec![0])]]);
        assert_eq!(said(&one, 12), [vec![], vec![("t".into(), 0, vec![0])]]);
    }

    /// A broker that was not told would answer for the old topic with an error for ever.
    #[test]
    fn a_topic_that_was_made_anew_takes_the_place_of_the_old_one() {
        let mut session = Session::default();
        session.answered(SESSION, wanted(Some(1), &[0, 1]));
        let anew = session.next(wanted(Some(2), &[1]));
        let expected = [
            vec![("".into(), 2, vec![1])],
            vec![("".into(), 1, vec![0, 1])],
        ];
        assert_eq!(said(&anew, 17), expected);
        // By name it is the same topic.
        let by_name = [
            vec![("t".into(), 0, vec![1])],
            vec![("t".into(), 0, vec![0])],
        ];
        assert_eq!(said(&anew, 12), by_name);
    }
}
