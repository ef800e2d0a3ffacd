use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use klamm_protocol::{BrokerId, LeaderEpoch, PartitionIndex, SmallString, Uuid};

use crate::admin::{TopicDescription, TopicSelection, metadata};
use crate::client::Client;
use crate::retry::Deadline;
use crate::{ClientError, ItemError, TopicPartition};

/// `metadata.max.age.ms`: how long what is known of topics is used before it is asked for again,
/// so that new partitions are seen.
pub(crate) const METADATA_MAX_AGE: Duration = Duration::from_secs(300);

/// Who leads the partitions of the topics that a producer or a consumer uses, as far as is known.
#[derive(Debug, Default)]
pub(crate) struct Leaders {
    topics: HashMap<SmallString, Result<Topic, ItemError>>,
    /// The names of the topics that have ids.
    names: HashMap<Uuid, SmallString>,
    /// Topics to ask for before they are used again.
    stale: BTreeSet<SmallString>,
}

#[derive(Debug)]
struct Topic {
    id: Option<Uuid>,
    partitions: BTreeMap<PartitionIndex, Leadership>,
}

/// Who leads a partition, and since which epoch, where servers tell it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leadership {
    pub(crate) leader: Option<BrokerId>,
    pub(crate) epoch: Option<LeaderEpoch>,
}

impl Leaders {
    /// What is known of a topic: how many partitions it has, or what is wrong with it. Nothing is
    /// known of a topic that was not asked for yet.
    pub(crate) fn partitions(&self, topic: &SmallString) -> Option<Result<i32, ItemError>> {
        let known = self.topics.get(topic)?.as_ref();
        Some(known.map(Topic::count).map_err(Clone::clone))
    }

    /// The partitions of a topic that have a leader.
    pub(crate) fn led(&self, topic: &SmallString) -> Vec<PartitionIndex> {
        let Some(Ok(topic)) = self.topics.get(topic) else {
            return Vec::new();
        };
        let partitions = topic.partitions.iter();
        partitions
            .filter(|(_, known)| known.leader.is_some())
            .map(|(index, _)| *index)
            .collect()
    }

    /// Who leads a partition.
    pub(crate) fn of(&self, partition: &TopicPartition) -> Leadership {
        match self.topics.get(&partition.topic) {
            Some(Ok(topic)) => topic.partitions.get(&partition.partition).copied(),
            _ => None,
        }
        .unwrap_or_default()
    }

    /// A topic's id, where servers tell it.
    pub(crate) fn id(&self, topic: &SmallString) -> Option<Uuid> {
        self.topics.get(topic)?.as_ref().ok()?.id
    }

    /// The topic with an id.
    pub(crate) fn named(&self, id: Uuid) -> Option<&SmallString> {
        self.names.get(&id)
    }

    /// Has a topic asked for with the next refresh.
    pub(crate) fn distrust(&mut self, topic: &SmallString) {
        if !self.stale.contains(topic) {
            self.stale.insert(topic.clone());
        }
    }

    /// Knows nothing of a topic any more.
    pub(crate) fn forget(&mut self, topic: &SmallString) {
        self.set(topic.clone(), None);
    }

    /// Puts what is known of a topic in the place of what was known before.
    fn set(&mut self, name: SmallString, topic: Option<Result<Topic, ItemError>>) {
        let id_of = |topic: &Result<Topic, ItemError>| topic.as_ref().ok()?.id;
        if let Some(id) = topic.as_ref().and_then(id_of) {
            self.names.insert(id, name.clone());
        }
        let new = topic.as_ref().and_then(id_of);
        let before = match topic {
            Some(topic) => self.topics.insert(name, topic),
            None => self.topics.remove(&name),
        };
        let before = before.as_ref().and_then(id_of);
        if let Some(id) = before.filter(|id| Some(*id) != new) {
            self.names.remove(&id);
        }
    }

    /// Has every topic asked for with the next refresh.
    fn distrust_all(&mut self) {
        self.stale.extend(self.topics.keys().cloned());
    }

    /// Whether there are topics that a refresh is to ask for.
    pub(crate) fn is_stale(&self) -> bool {
        !self.stale.is_empty()
    }

    /// The topics that a refresh asks for: those that are to be asked for, or else all.
    pub(crate) fn due(&mut self) -> Vec<SmallString> {
        if self.stale.is_empty() {
            self.distrust_all();
        }
        self.stale.iter().cloned().collect()
    }

    /// Takes note of what metadata says of topics that were asked for. What is older than what is
    /// known is passed over: brokers learn of a new leader one after the other (KIP-320).
    pub(crate) fn learn(
        &mut self,
        topics: BTreeMap<SmallString, Result<TopicDescription, ItemError>>,
    ) {
        for (name, told) in topics {
            let told = told.map(Topic::from);
            let lacks_leader = match &told {
                Ok(topic) => topic
                    .partitions
                    .values()
                    .any(|known| known.leader.is_none()),
                Err(error) => error.code.is_retriable(),
            };
            if !lacks_leader {
                self.stale.remove(&name);
            }
            match (self.topics.get_mut(&name), told) {
                (Some(Ok(known)), Ok(told)) if known.id == told.id => known.merge(told),
                // A topic that a broker does not know yet, or cannot tell of now, is not gone.
                (Some(Ok(_)), Err(error)) if error.code.is_retriable() => {}
                (_, told) => self.set(name, Some(told)),
            }
        }
    }

    /// Takes note of the leader that an answer names (KIP-951). False where that is nothing new.
    pub(crate) fn moved(&mut self, partition: &TopicPartition, to: Leadership) -> bool {
        let Some(Ok(topic)) = self.topics.get_mut(&partition.topic) else {
            return false;
        };
        match topic.partitions.get_mut(&partition.partition) {
            Some(known) if to.leader.is_some() && to.epoch > known.epoch => {
                *known = to;
                true
            }
            _ => false,
        }
    }
}

impl Topic {
    fn count(&self) -> i32 {
        let last = self.partitions.keys().next_back();
        last.map_or(0, |last| last.0.saturating_add(1))
    }

    fn merge(&mut self, told: Self) {
        for (index, told) in told.partitions {
            let known = self.partitions.entry(index).or_insert(told);
            if told.epoch >= known.epoch {
                *known = told;
            }
        }
    }
}

impl From<TopicDescription> for Topic {
    fn from(topic: TopicDescription) -> Self {
        let partitions = topic.partitions.into_iter().map(|partition| {
            let leadership = Leadership {
                leader: partition.leader,
                epoch: partition.leader_epoch,
            };
            (partition.index, leadership)
        });
        Self {
            id: topic.id,
            partitions: partitions.collect(),
        }
    }
}

impl Leadership {
    /// The leader that an answer names in a tagged field; -1 stands for none.
    pub(crate) fn told(leader: i32, epoch: i32) -> Self {
        Self {
            leader: BrokerId(leader).known(),
            epoch: (epoch >= 0).then_some(LeaderEpoch(epoch)),
        }
    }

    /// The epoch as requests have it.
    pub(crate) fn wire_epoch(self) -> i32 {
        self.epoch.map_or(-1, |epoch| epoch.0)
    }
}

/// Asks for topics. Topics are never created by that.
pub(crate) async fn ask(
    client: Client,
    topics: Vec<SmallString>,
    deadline: Deadline,
) -> Result<BTreeMap<SmallString, Result<TopicDescription, ItemError>>, ClientError> {
    let topics = TopicSelection::Named(topics);
    Ok(metadata(&client, &topics, deadline).await?.topics)
}

#[cfg(test)]
mod tests;
