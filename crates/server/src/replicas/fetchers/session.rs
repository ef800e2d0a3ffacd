//! What the leader remembers of what a follower asks for, so that a Fetch only says what is new
//! (KIP-227). Pure.

use std::collections::{BTreeMap, HashMap};

use klamm_metadata::Place;
use klamm_protocol::messages::fetch::{FetchPartition, FetchTopic, ForgottenTopic};
use klamm_protocol::{SmallVec, Uuid};

/// A session as the follower sees it.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// 0 where there is none.
    id: i32,
    /// 0 begins a session.
    epoch: i32,
    /// What the leader knows to be asked.
    known: HashMap<Place, FetchPartition>,
}

/// The parts of a Fetch that a session decides.
#[derive(Debug, PartialEq)]
pub(super) struct Draft {
    pub(super) session_id: i32,
    pub(super) session_epoch: i32,
    pub(super) topics: Vec<FetchTopic>,
    pub(super) forgotten: Vec<ForgottenTopic>,
}

impl Session {
    /// Whether the next request has to name everything.
    pub(super) fn is_new(&self) -> bool {
        self.epoch == 0
    }

    /// A request, of which `news` is what is to be asked of partitions, `None` where that is nothing
    /// any more. A session that begins is told of all partitions.
    pub(super) fn draft(
        &mut self,
        news: impl IntoIterator<Item = (Place, Option<FetchPartition>)>,
    ) -> Draft {
        if self.is_new() {
            self.known.clear();
        }
        let mut topics: BTreeMap<Uuid, Vec<FetchPartition>> = BTreeMap::new();
        let mut forgotten: BTreeMap<Uuid, SmallVec<[i32; 14]>> = BTreeMap::new();
        for (place, asked) in news {
            match asked {
                Some(asked) if self.known.get(&place) != Some(&asked) => {
                    let partitions = topics.entry(place.topic).or_default();
                    partitions.push(asked.clone());
                    self.known.insert(place, asked);
                }
                Some(_) => {}
                None => {
                    if self.known.remove(&place).is_some() {
                        let partitions = forgotten.entry(place.topic).or_default();
                        partitions.push(place.index.0);
                    }
                }
            }
        }
        let topics = topics.into_iter().map(|(topic_id, partitions)| FetchTopic {
            topic_id,
            partitions,
            ..FetchTopic::default()
        });
        let forgotten = forgotten
            .into_iter()
            .map(|(topic_id, partitions)| ForgottenTopic {
                topic_id,
                partitions,
                ..ForgottenTopic::default()
            });
        Draft {
            session_id: self.id,
            session_epoch: self.epoch,
            topics: topics.collect(),
            forgotten: forgotten.collect(),
        }
    }

    /// The leader has answered, with the session's id; 0 where it has no room for one.
    pub(super) fn answered(&mut self, id: i32) {
        self.id = id;
        self.epoch = match id {
            0 => 0,
            // After the largest comes 1: 0 begins a session.
            _ => self.epoch.checked_add(1).unwrap_or(1),
        };
    }

    /// The next request begins anew, for the leader does not know the session, or nobody knows
    /// whether it does.
    pub(super) fn lost(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use klamm_protocol::PartitionIndex;

    use super::*;

    const TOPIC: Uuid = Uuid::from_bytes([7; 16]);

    fn news(offsets: &[(i32, i64)], gone: &[i32]) -> Vec<(Place, Option<FetchPartition>)> {
        let place = |index: i32| Place {
            topic: TOPIC,
            index: PartitionIndex(index),
        };
        let one = |(index, offset): &(i32, i64)| {
            let asked = FetchPartition {
                partition: *index,
                fetch_offset: *offset,
                ..FetchPartition::default()
            };
            (place(*index), Some(asked))
        };
        let gone = gone.iter().map(|index| (place(*index), None));
        offsets.iter().map(one).chain(gone).collect()
    }

    fn asked(draft: &Draft) -> Vec<(i32, i64)> {
        let partitions = draft.topics.iter().flat_map(|topic| &topic.partitions);
        partitions
            .map(|asked| (asked.partition, asked.fetch_offset))
            .collect()
    }

    #[test]
    fn only_news_is_said() {
        let mut session = Session::default();
        let draft = session.draft(news(&[(0, 5), (1, 6)], &[4]));
        assert_eq!((draft.session_id, draft.session_epoch), (0, 0));
        assert_eq!(asked(&draft), [(0, 5), (1, 6)]);
        // What the leader was never told of needs not be forgotten.
        assert!(draft.forgotten.is_empty());
        session.answered(9);
        assert!(!session.is_new());
        let draft = session.draft(news(&[(0, 5), (2, 1)], &[1]));
        assert_eq!((draft.session_id, draft.session_epoch), (9, 1));
        assert_eq!(asked(&draft), [(2, 1)]);
        assert_eq!(draft.forgotten[0].partitions[..], [1]);
        session.answered(9);
        let draft = session.draft(news(&[(0, 7)], &[1]));
        assert_eq!((draft.session_epoch, asked(&draft)), (2, vec![(0, 7)]));
        assert!(draft.forgotten.is_empty());
    }

    #[test]
    fn all_is_said_without_a_session() {
        let mut session = Session::default();
        for _ in 0..2 {
            assert!(session.is_new());
            let draft = session.draft(news(&[(0, 5)], &[]));
            assert_eq!((draft.session_id, draft.session_epoch), (0, 0));
            assert_eq!(asked(&draft), [(0, 5)]);
            session.answered(0);
        }
        session.draft(news(&[(0, 5), (1, 1)], &[]));
        session.answered(4);
        session.lost();
        assert!(session.is_new());
        let draft = session.draft(news(&[(0, 5)], &[1]));
        assert_eq!((draft.session_id, draft.session_epoch), (0, 0));
        assert_eq!(asked(&draft), [(0, 5)]);
        assert!(draft.forgotten.is_empty());
    }
}
