use std::fmt;

use klamm_protocol::{BrokerId, PartitionIndex, SmallString};

/// A partition of a topic, written `topic-0`. They are in order of topic name, then number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPartition {
    /// The topic's name.
    pub topic: SmallString,
    /// The partition's number in the topic.
    pub partition: PartitionIndex,
}

impl TopicPartition {
    /// A partition of a topic.
    pub fn new(topic: impl Into<SmallString>, partition: impl Into<PartitionIndex>) -> Self {
        Self {
            topic: topic.into(),
            partition: partition.into(),
        }
    }
}

impl fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}

/// Groups what is sorted by topic into one list a topic, as requests have it.
pub(crate) fn by_topic<'a, T: 'a, U>(
    partitions: impl IntoIterator<Item = (&'a TopicPartition, T)>,
    mut each: impl FnMut(i32, T) -> U,
) -> Vec<(SmallString, Vec<U>)> {
    let mut topics: Vec<(SmallString, Vec<U>)> = Vec::new();
    for (TopicPartition { topic, partition }, value) in partitions {
        let value = each(partition.0, value);
        match topics.last_mut() {
            Some((last, values)) if last == topic => values.push(value),
            _ => topics.push((topic.clone(), vec![value])),
        }
    }
    topics
}

pub(crate) fn broker_ids(ids: &[i32]) -> Vec<BrokerId> {
    ids.iter().copied().map(BrokerId).collect()
}
