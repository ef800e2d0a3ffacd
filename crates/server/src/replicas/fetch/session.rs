//! What a reader asks for, and what of it is to be looked at: a partition of which everything was
//! told is left alone until it changes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use klamm_protocol::messages::fetch::{FetchPartition, FetchRequest};
use klamm_protocol::{BrokerId, SmallString, Uuid};

use super::super::watchers::Watch;

/// How a request names a topic.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum TopicKey {
    Name(SmallString),
    Id(Uuid),
}

/// The session's name for a partition. It is never given to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Slot(u64);

/// A partition that is asked for.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) topic: TopicKey,
    pub(super) asked: FetchPartition,
    /// What was told of it last.
    pub(super) told: Option<Told>,
    /// Whether the watch is told of its next change.
    pub(super) is_watched: bool,
    turn: u64,
}

/// What answers leave out if it is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) high_watermark: i64,
    pub(super) log_start: i64,
}

/// What a reader asks for.
#[derive(Debug)]
pub(super) struct Session {
    /// The epoch that comes next.
    pub(super) epoch: i32,
    wanted: HashMap<Slot, Wanted>,
    slots: HashMap<(TopicKey, i32), Slot>,
    /// What is to be looked at, in the order in which partitions get their turn.
    due: BTreeMap<u64, Slot>,
    next: u64,
    watch: Arc<Watch>,
}

impl Session {
    /// A session of a follower, or of a consumer.
    pub(super) fn new(follower: Option<BrokerId>) -> Self {
        Self {
            epoch: 1,
            wanted: HashMap::new(),
            slots: HashMap::new(),
            due: BTreeMap::new(),
            next: 0,
            watch: Arc::new(Watch::new(follower)),
        }
    }

    /// Takes over what a request says. What it names is looked at.
    pub(super) fn take(&mut self, request: &FetchRequest, uses_ids: bool) {
        let key = |name: &SmallString, id: Uuid| match uses_ids {
            true => TopicKey::Id(id),
            false => TopicKey::Name(name.clone()),
        };
        for topic in &request.forgotten_topics_data {
            let topic_key = key(&topic.topic, topic.topic_id);
            for index in &topic.partitions {
                self.forget(&(topic_key.clone(), *index));
            }
        }
        for topic in &request.topics {
            let topic_key = key(&topic.topic, topic.topic_id);
            for asked in &topic.partitions {
                self.want(&topic_key, asked);
            }
        }
    }

    fn forget(&mut self, partition: &(TopicKey, i32)) {
        if let Some(slot) = self.slots.remove(partition)
            && let Some(wanted) = self.wanted.remove(&slot)
        {
            self.due.remove(&wanted.turn);
        }
    }

    fn want(&mut self, topic: &TopicKey, asked: &FetchPartition) {
        let key = (topic.clone(), asked.partition);
        if let Some(slot) = self.slots.get(&key)
            && let Some(wanted) = self.wanted.get_mut(slot)
        {
            wanted.asked = asked.clone();
            self.due.insert(wanted.turn, *slot);
            return;
        }
        let number = self.number();
        let slot = Slot(number);
        self.slots.insert(key, slot);
        self.due.insert(number, slot);
        let wanted = Wanted {
            topic: topic.clone(),
            asked: asked.clone(),
            told: None,
            is_watched: false,
            turn: number,
        };
        self.wanted.insert(slot, wanted);
    }

    /// A number that no slot and no turn has.
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Whether nothing is asked for.
    pub(super) fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// What wakes the reader.
    pub(super) fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }

    /// The name under which the watch is told of a partition.
    pub(super) fn watch_name(slot: Slot) -> u64 {
        slot.0
    }

    /// What is to be looked at, in its order; what has changed is, too.
    pub(super) fn due(&mut self) -> Vec<Slot> {
        for name in self.watch.take_changed() {
            let slot = Slot(name);
            // It may be forgotten meanwhile.
            if let Some(wanted) = self.wanted.get_mut(&slot) {
                wanted.is_watched = false;
                self.due.insert(wanted.turn, slot);
            }
        }
        self.due.values().copied().collect()
    }

    /// A partition, if it is asked for still.
    pub(super) fn at(&mut self, slot: Slot) -> Option<&mut Wanted> {
        self.wanted.get_mut(&slot)
    }

    /// There is nothing to tell of a partition that was not told: it is left alone until it changes.
    pub(super) fn settle(&mut self, slot: Slot) {
        if let Some(wanted) = self.wanted.get(&slot) {
            self.due.remove(&wanted.turn);
        }
    }

    /// Who has got records waits until the others had theirs.
    pub(super) fn put_last(&mut self, slot: Slot) {
        let last = self.number();
        if let Some(wanted) = self.wanted.get_mut(&slot) {
            self.due.remove(&wanted.turn);
            wanted.turn = last;
            self.due.insert(last, slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use klamm_protocol::messages::fetch::{FetchTopic, ForgottenTopic};

    use super::super::super::watchers::Watchers;
    use super::*;

    const TOPIC: Uuid = Uuid::from_bytes([7; 16]);

    fn request(partitions: &[i32], forgotten: &[i32]) -> FetchRequest {
        let one = |partition: &i32| FetchPartition {
            partition: *partition,
            ..FetchPartition::default()
        };
        FetchRequest {
            topics: vec![FetchTopic {
                topic_id: TOPIC,
                partitions: partitions.iter().map(one).collect(),
                ..FetchTopic::default()
            }],
            forgotten_topics_data: vec![ForgottenTopic {
                topic_id: TOPIC,
                partitions: forgotten.iter().copied().collect(),
                ..ForgottenTopic::default()
            }],
            ..FetchRequest::default()
        }
    }

    fn due(session: &mut Session) -> Vec<i32> {
        let slots = session.due().into_iter();
        slots
            .map(|slot| session.at(slot).unwrap().asked.partition)
            .collect()
    }

    /// A look that finds nothing new: the partitions are watched from then on.
    fn settle(session: &mut Session, watchers: &mut [Watchers]) {
        let watch = Arc::clone(session.watch());
        for slot in session.due() {
            let wanted = session.at(slot).unwrap();
            if !wanted.is_watched {
                let watchers = &mut watchers[wanted.asked.partition as usize];
                watchers.add(&watch, Session::watch_name(slot));
                wanted.is_watched = true;
            }
            session.settle(slot);
        }
    }

    #[test]
    fn what_has_not_changed_is_left_alone() {
        let mut watchers: [Watchers; 4] = Default::default();
        let mut session = Session::new(None);
        session.take(&request(&[0, 1, 2, 3], &[]), true);
        assert_eq!(due(&mut session), [0, 1, 2, 3]);
        settle(&mut session, &mut watchers);
        session.take(&request(&[], &[]), true);
        assert!(due(&mut session).is_empty() && !session.is_empty());
        watchers[2].wake();
        watchers[1].wake();
        assert_eq!(due(&mut session), [1, 2]);
        // They stay so until they are settled.
        assert_eq!(due(&mut session), [1, 2]);
        settle(&mut session, &mut watchers);
        watchers[2].wake();
        session.take(&request(&[3], &[2]), true);
        assert_eq!(due(&mut session), [3]);
        settle(&mut session, &mut watchers);
        // One that comes back is another.
        session.take(&request(&[2], &[]), true);
        assert_eq!(due(&mut session), [2]);
    }

    #[test]
    fn a_partition_that_had_its_turn_is_told_of_as_before() {
        let mut watchers: [Watchers; 3] = Default::default();
        let mut session = Session::new(None);
        session.take(&request(&[0, 1, 2], &[]), true);
        let first = session.due()[0];
        session.put_last(first);
        assert_eq!(due(&mut session), [1, 2, 0]);
        settle(&mut session, &mut watchers);
        watchers[0].wake();
        assert_eq!(due(&mut session), [0]);
        session.take(&request(&[], &[0, 1, 2]), true);
        assert!(session.is_empty() && due(&mut session).is_empty());
    }
}
