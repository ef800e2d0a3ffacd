//! What Apache Kafka keeps in the records of its own topics.

use std::sync::OnceLock;

use klamm_protocol::schemas;
use klamm_schema::{Kind, Schema};

use crate::catalog::schema;

/// What the keys and values of records are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Contents {
    /// Whatever the topic's users agree on.
    #[default]
    Opaque,
    /// Records of the metadata log: a frame version, a type, a version, and a message.
    Metadata,
    /// Offsets, members and assignments of groups: a type and a message as the key, a version and a
    /// message as the value.
    Groups,
    /// The states of transactional ids, in the same form.
    Transactions,
    /// The states of share partitions, in the same form.
    ShareStates,
    /// Segments in remote storage (KIP-405): a type, a version, and a message.
    RemoteLog,
}

impl Contents {
    /// Each with the topic that holds it.
    pub const TOPICS: [(Self, &'static str); 5] = [
        (Self::Metadata, "__cluster_metadata"),
        (Self::Groups, "__consumer_offsets"),
        (Self::Transactions, "__transaction_state"),
        (Self::ShareStates, "__share_group_state"),
        (Self::RemoteLog, "__remote_log_metadata"),
    ];

    /// What a topic holds.
    pub fn of_topic(topic: &str) -> Self {
        let mut topics = Self::TOPICS.iter();
        let known = topics.find(|(_, name)| *name == topic);
        known.map_or(Self::Opaque, |(contents, _)| *contents)
    }

    /// What the directory of a partition holds, such as `__consumer_offsets-12`.
    pub fn of_directory(name: &str) -> Self {
        name.rsplit_once('-')
            .map_or(Self::Opaque, |(topic, _)| Self::of_topic(topic))
    }

    /// The topic that holds it; none for [`Contents::Opaque`].
    pub fn topic(self) -> Option<&'static str> {
        let mut topics = Self::TOPICS.iter();
        topics
            .find(|(contents, _)| *contents == self)
            .map(|(_, name)| *name)
    }

    /// The types of its records, in the order of their codes.
    pub fn record_types(self) -> impl Iterator<Item = &'static RecordType> {
        all().iter().filter(move |kind| kind.contents == self)
    }

    /// The type with a code.
    pub fn record_type(self, code: i64) -> Option<&'static RecordType> {
        self.record_types()
            .find(|kind| i64::from(kind.code) == code)
    }
}

/// A type of record in one of Apache Kafka's own topics.
#[derive(Clone, Copy, Debug)]
pub struct RecordType {
    /// Where it occurs.
    pub contents: Contents,
    /// Its number there.
    pub code: i16,
    /// Its name, such as `TopicRecord` or `OffsetCommit`.
    pub name: &'static str,
    /// The schema of its key, where keys have one.
    pub key: Option<&'static Schema>,
    /// The schema of its value.
    pub value: &'static Schema,
}

impl RecordType {
    /// Every type of every topic, the metadata log's first.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        all().iter()
    }

    /// The type with this name, in any case; `Key` or `Value` may follow it.
    pub fn find(name: &str) -> Option<&'static Self> {
        let is_it = |known: &str| known.eq_ignore_ascii_case(name);
        Self::all().find(|kind| {
            is_it(kind.name)
                || is_it(&kind.value.name)
                || kind.key.is_some_and(|key| is_it(&key.name))
        })
    }
}

/// The folder of the schemas, and what they describe.
const FOLDERS: [(&str, Contents); 5] = [
    ("metadata", Contents::Metadata),
    ("group-coordinator", Contents::Groups),
    ("transaction-coordinator", Contents::Transactions),
    ("share-coordinator", Contents::ShareStates),
    ("storage", Contents::RemoteLog),
];

fn all() -> &'static [RecordType] {
    static ALL: OnceLock<Vec<RecordType>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut found: Vec<RecordType> = Vec::new();
        for (folder, contents) in FOLDERS {
            let texts = schemas::ALL.iter().filter(|text| text.folder == folder);
            let mut types: Vec<RecordType> = texts
                .filter_map(|text| of_schema(schema(text.name)?, contents))
                .collect();
            types.sort_by_key(|kind| kind.code);
            found.extend(types);
        }
        found
    })
}

fn of_schema(value: &'static Schema, contents: Contents) -> Option<RecordType> {
    let (name, key) = match value.kind {
        Kind::Metadata => (value.name.as_str(), None),
        Kind::CoordinatorValue => {
            let name = value.name.strip_suffix("Value")?;
            (name, Some(schema(&format!("{name}Key"))?))
        }
        _ => return None,
    };
    Some(RecordType {
        contents,
        code: value.api_key?,
        name,
        key,
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_has_a_type() {
        let counts = Contents::TOPICS.map(|(contents, _)| contents.record_types().count());
        assert_eq!(counts, [27, 22, 1, 2, 4]);
        for kind in RecordType::all() {
            assert_eq!(
                RecordType::find(kind.name).unwrap().value.name,
                kind.value.name
            );
            assert_eq!(kind.key.is_some(), kind.name != kind.value.name);
            if let Some(key) = kind.key {
                assert_eq!(key.api_key, Some(kind.code));
            }
        }
    }

    #[test]
    fn topics_are_known_by_name_and_directory() {
        for (contents, topic) in Contents::TOPICS {
            assert_eq!(Contents::of_topic(topic), contents);
            assert_eq!(Contents::of_directory(&format!("{topic}-0")), contents);
            assert_eq!(contents.topic(), Some(topic));
        }
        assert_eq!(Contents::of_topic("orders"), Contents::Opaque);
        assert_eq!(Contents::Opaque.topic(), None);
    }
}
