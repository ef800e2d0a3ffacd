//! What the leader remembers of what a follower asks for, so that a Fetch only says what is new
//! (KIP-227). Pure.

use std::collections::BTreeMap;

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
    known: BTreeMap<Place, FetchPartition>,
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
    /// A request for these partitions and no others.
    pub(super) fn draft(&mut self, wanted: BTreeMap<Place, FetchPartition>) -> Draft {
        let is_news = |(place, asked): &(&Place, &FetchPartition)| {
            self.epoch == 0 || self.known.get(place) != Some(asked)
        };
        let mut topics: BTreeMap<Uuid, Vec<FetchPartition>> = BTreeMap::new();
        for (place, asked) in wanted.iter().filter(is_news) {
            let partitions = topics.entry(place.topic).or_default();
            partitions.push(asked.clone());
        }
        let mut forgotten: BTreeMap<Uuid, SmallVec<[i32; 14]>> = BTreeMap::new();
        if self.epoch != 0 {
            for place in self
                .known
                .keys()
                .filter(|place| !wanted.contains_key(place))
            {
                forgotten
                    .entry(place.topic)
                    .or_default()
                    .push(place.index.0);
            }
        }
        self.known = wanted;
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

    fn wanted(offsets: &[(i32, i64)]) -> BTreeMap<Place, FetchPartition> {
        let one = |(index, offset): &(i32, i64)| {
            let place = Place {
                topic: TOPIC,
                index: PartitionIndex(*index),
            };
            let asked = FetchPartition {
                partition: *index,
                fetch_offset: *offset,
                ..FetchPartition::default()
            };
            (place, asked)
        };
        offsets.iter().map(one).collect()
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
        let draft = session.draft(wanted(&[(0, 5), (1, 6)]));
        assert_eq!((draft.session_id, draft.session_epoch), (0, 0));
        assert_eq!(asked(&draft), [(0, 5), (1, 6)]);
        session.answered(9);
        let draft = session.draft(wanted(&[(0, 5), (2, 1)]));
        assert_eq!((draft.session_id, draft.session_epoch), (9, 1));
        assert_eq!(asked(&draft), [(2, 1)]);
        assert_eq!(draft.forgotten[0].partitions[..], [1]);
        session.answered(9);
        let draft = session.draft(wanted(&[(0, 7), (2, 1)]));
        assert_eq!((draft.session_epoch, asked(&draft)), (2, vec![(0, 7)]));
        assert!(draft.forgotten.is_empty());
    }

    #[test]
    fn all_is_said_without_a_session() {
        let mut session = Session::default();
        for _ in 0..2 {
            let draft = session.draft(wanted(&[(0, 5)]));
            assert_eq!((draft.session_id, draft.session_epoch), (0, 0));
            assert_eq!(asked(&draft), [(0, 5)]);
            session.answered(0);
        }
        session.draft(wanted(&[(0, 5), (1, 1)]));
        session.answered(4);
        session.lost();
        let draft = session.draft(wanted(&[(0, 5)]));
        assert_eq!((draft.session_id, draft.session_epoch), (0, 0));
        assert_eq!(asked(&draft), [(0, 5)]);
        assert!(draft.forgotten.is_empty());
    }
}
