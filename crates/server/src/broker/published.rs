use std::collections::BTreeSet;
use std::sync::Arc;

use klamm_metadata::{ConfigResourceKind, Image, Place, Record};
use klamm_protocol::{Offset, PartitionIndex, Uuid};

/// What a broker knows of the cluster: committed records up to an offset.
#[derive(Clone, Debug, Default)]
pub(crate) struct Published {
    /// What the records add up to.
    pub(crate) image: Arc<Image>,
    /// The offset after the last of them.
    pub(crate) end: Offset,
    /// The level of `kraft.version`, which is the quorum's own and not in the image.
    pub(crate) kraft_version: i16,
}

/// What records touched since the last [`Published`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Touched {
    /// Anything may have changed: a snapshot took the place of what was known.
    All,
    /// These.
    Some(Changes),
}

/// What records name. What they say of it is in the image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Partitions that are new or changed.
    pub(crate) partitions: BTreeSet<Place>,
    /// Topics that are gone with all of their partitions.
    pub(crate) removed_topics: BTreeSet<Uuid>,
    /// Topics by name whose configs changed.
    pub(crate) topic_configs: BTreeSet<Box<str>>,
    /// Whether configs of nodes changed, from which topics take theirs.
    pub(crate) node_configs: bool,
    /// Whether brokers registered, left, or are fenced or unfenced.
    pub(crate) brokers: bool,
    /// Whether anything else did.
    pub(crate) others: bool,
}

impl Default for Touched {
    fn default() -> Self {
        Self::Some(Changes::default())
    }
}

impl Touched {
    /// Whether the image is the same as before.
    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Takes note of what a record touches.
    pub(crate) fn note(&mut self, record: &Record) {
        let Self::Some(changes) = self else {
            return;
        };
        match record {
            Record::Partition(record) => changes.touch(record.topic_id, record.partition_id),
            Record::PartitionChange(record) => changes.touch(record.topic_id, record.partition_id),
            Record::RemoveTopic(record) => {
                // One of the same name may come after it, with another id.
                changes.removed_topics.insert(record.topic_id);
            }
            Record::Config(record) => match ConfigResourceKind(record.resource_type) {
                ConfigResourceKind::TOPIC => {
                    changes.topic_configs.insert((*record.resource_name).into());
                }
                ConfigResourceKind::BROKER => changes.node_configs = true,
                _ => changes.others = true,
            },
            Record::RegisterBroker(_)
            | Record::UnregisterBroker(_)
            | Record::FenceBroker(_)
            | Record::UnfenceBroker(_)
            | Record::BrokerRegistrationChange(_) => changes.brokers = true,
            Record::NoOp(_) => {}
            _ => changes.others = true,
        }
    }

    /// Adds what later records touched.
    pub(crate) fn merge(&mut self, later: Self) {
        match (&mut *self, later) {
            (Self::Some(changes), Self::Some(later)) => changes.merge(later),
            _ => *self = Self::All,
        }
    }
}

impl Changes {
    fn touch(&mut self, topic: Uuid, index: i32) {
        let index = PartitionIndex(index);
        self.partitions.insert(Place { topic, index });
    }

    fn merge(&mut self, later: Self) {
        self.partitions.extend(later.partitions);
        self.removed_topics.extend(later.removed_topics);
        self.topic_configs.extend(later.topic_configs);
        self.node_configs |= later.node_configs;
        self.brokers |= later.brokers;
        self.others |= later.others;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use klamm_protocol::data::metadata::{
        ConfigRecord, NoOpRecord, PartitionChangeRecord, RemoveTopicRecord, UnfenceBrokerRecord,
    };

    const TOPIC: Uuid = Uuid::from_bytes([7; 16]);

    fn change(index: i32) -> Record {
        PartitionChangeRecord {
            topic_id: TOPIC,
            partition_id: index,
            ..PartitionChangeRecord::default()
        }
        .into()
    }

    fn config(kind: ConfigResourceKind, name: &str) -> Record {
        ConfigRecord {
            resource_type: kind.0,
            resource_name: name.into(),
            ..ConfigRecord::default()
        }
        .into()
    }

    fn touched(records: &[Record]) -> Touched {
        let mut touched = Touched::default();
        for record in records {
            touched.note(record);
        }
        touched
    }

    #[test]
    fn records_say_what_they_touch() {
        assert!(touched(&[NoOpRecord::default().into()]).is_nothing());
        let Touched::Some(changes) = touched(&[
            change(1),
            change(3),
            change(1),
            config(ConfigResourceKind::TOPIC, "t"),
            UnfenceBrokerRecord::default().into(),
        ]) else {
            panic!("no snapshot came");
        };
        let indexes: Vec<i32> = changes.partitions.iter().map(|p| p.index.0).collect();
        assert_eq!(indexes, [1, 3]);
        assert!(changes.brokers && changes.topic_configs.contains("t"));
        assert!(!changes.node_configs && !changes.others);
        let node = touched(&[config(ConfigResourceKind::BROKER, "1")]);
        assert_ne!(node, touched(&[config(ConfigResourceKind::GROUP, "g")]));
        let removed = RemoveTopicRecord {
            topic_id: TOPIC,
            ..RemoveTopicRecord::default()
        };
        let Touched::Some(changes) = touched(&[removed.into()]) else {
            panic!("no snapshot came");
        };
        assert!(changes.removed_topics.contains(&TOPIC));
    }

    #[test]
    fn what_comes_later_is_added() {
        let mut all = touched(&[change(1)]);
        all.merge(touched(&[change(2)]));
        assert_eq!(all, touched(&[change(1), change(2)]));
        all.merge(Touched::All);
        all.merge(touched(&[change(3)]));
        assert_eq!(all, Touched::All);
    }
}
