use bytes::Bytes;
use klamm_schema::Schema;
use klamm_schema::value::{encode, smallest};

use crate::walk::Opening;
use crate::{Contents, Options, RecordType, Tree, decode};

/// The smallest instance of a type of record.
#[derive(Clone, Debug)]
pub struct SmallestRecord {
    /// The key, explained; `None` where records of the topic have none.
    pub key: Option<Tree>,
    /// The value, explained.
    pub value: Tree,
}

/// The smallest instance of a type of record, as it is in a log: the message with what is in front of
/// it. `None` if the type does not have the version.
pub fn smallest_record(kind: &RecordType, version: i16) -> Option<SmallestRecord> {
    if !kind.value.valid_versions.contains(version) {
        return None;
    }
    let message =
        |schema: &'static Schema, version| encode(schema, version, &smallest(schema, version));
    let explained = |front: Vec<u8>, schema, version, opening| {
        let bytes = Bytes::from([front, message(schema, version)].concat());
        decode::opened(bytes, opening, &Options::default())
    };
    let numbers = [kind.code, version].map(|number| number as u8);
    let (front, opening) = match kind.contents {
        // Types and versions are less than 128, so that each is a byte as a varint.
        Contents::Metadata => ([&[1], &numbers[..]].concat(), Opening::Metadata),
        Contents::RemoteLog => (numbers.to_vec(), Opening::RemoteLog),
        _ => (
            version.to_be_bytes().to_vec(),
            Opening::Versioned(kind.value),
        ),
    };
    Some(SmallestRecord {
        key: kind.key.map(|schema| {
            let front = kind.code.to_be_bytes().to_vec();
            explained(front, schema, 0, Opening::Key(kind.contents))
        }),
        value: explained(front, kind.value, version, opening),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_in_every_version_is_read_as_it_was_written() {
        let mut count = 0;
        for kind in RecordType::all() {
            assert!(kind.code < 128 && kind.value.valid_versions.max < 128);
            for version in kind.value.valid_versions.iter() {
                let record = smallest_record(kind, version).unwrap();
                let place = format!("{} v{version}", kind.name);
                for tree in record.key.iter().chain([&record.value]) {
                    assert!(tree.problems.is_empty(), "{place}: {:?}", tree.problems);
                }
                assert_eq!(
                    record.value.subject.message,
                    Some(&*kind.value.name),
                    "{place}"
                );
                assert_eq!(
                    record.value.subject.message_version,
                    Some(version),
                    "{place}"
                );
                count += 1;
            }
            assert!(smallest_record(kind, kind.value.valid_versions.max + 1).is_none());
        }
        assert!(count >= RecordType::all().count(), "{count}");
    }
}
