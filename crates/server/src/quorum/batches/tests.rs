use super::*;
use crate::quorum::replay::{batches as batches_of, records as records_of};
use klamm_protocol::data::metadata::{FeatureLevelRecord, NoOpRecord, TopicRecord};

fn target(version: &str) -> Target {
    Target {
        base: Offset(7),
        epoch: LeaderEpoch(3),
        version: version.parse().ok(),
        timestamp_ms: 5,
        max_batch_bytes: 8 << 20,
    }
}

fn topics(count: usize) -> Vec<Record> {
    let topic = |id: usize| {
        Record::from(TopicRecord {
            name: format!("topic-{id}").as_str().into(),
            ..TopicRecord::default()
        })
    };
    (0..count).map(topic).collect()
}

/// The batches' sizes in records, and all records with their offsets checked.
fn read(bytes: Bytes) -> (Vec<usize>, Vec<Record>) {
    let (mut sizes, mut found) = (Vec::new(), Vec::new());
    for batch in batches_of(bytes) {
        let batch = batch.unwrap();
        assert_eq!(batch.header().partition_leader_epoch, LeaderEpoch(3));
        let records = records_of(&batch).unwrap();
        sizes.push(records.len());
        for (offset, record) in records {
            assert_eq!(offset, Offset(7 + found.len() as i64));
            found.push(record);
        }
    }
    (sizes, found)
}

#[test]
fn what_fits_is_one_batch() {
    for atomic in [false, true] {
        let records = topics(10_000);
        let (sizes, found) = read(batches(&records, atomic, target("4.4")).unwrap());
        assert_eq!((sizes, found), (vec![10_000], records));
    }
}

#[test]
fn what_may_take_effect_in_parts_is_in_several_batches() {
    let records = topics(25_000);
    let (sizes, found) = read(batches(&records, false, target("3.3")).unwrap());
    assert_eq!((sizes, found), (vec![10_000, 10_000, 5_000], records));
}

#[test]
fn what_must_take_effect_together_is_in_a_transaction_where_it_is_long() {
    let records = topics(10_001);
    let (sizes, found) = read(batches(&records, true, target("3.6-IV1")).unwrap());
    assert_eq!(sizes, [10_000, 3]);
    assert!(matches!(found[0], Record::BeginTransaction(_)));
    assert!(matches!(found[10_002], Record::EndTransaction(_)));
    assert_eq!(found[1..10_002], records);
    let refused = batches(&records, true, target("3.6-IV0"));
    assert!(matches!(
        refused,
        Err(BatchError::NoTransactions { records: 10_001 })
    ));
}

#[test]
fn no_batch_of_several_records_is_longer_than_allowed() {
    let records = topics(10);
    let long = |max_batch_bytes| Target {
        max_batch_bytes,
        ..target("4.4")
    };
    let (sizes, found) = read(batches(&records, false, long(1)).unwrap());
    assert_eq!((sizes, &found), (vec![1; 10], &records));
    let (sizes, found) = read(batches(&records, true, long(1)).unwrap());
    assert_eq!((sizes, &found[1..11]), (vec![1; 12], &records[..]));
    let whole = batches(&records, true, long(1_000)).unwrap();
    assert_eq!(read(whole).0, [10]);
}

#[test]
fn records_after_a_new_metadata_version_are_written_in_it() {
    let level = |feature_level| {
        Record::from(FeatureLevelRecord {
            name: MetadataVersion::FEATURE.into(),
            feature_level,
            ..FeatureLevelRecord::default()
        })
    };
    let records = [level(33), NoOpRecord::default().into()];
    let empty = Target {
        version: None,
        ..target("4.4")
    };
    let (_, found) = read(batches(&records, true, empty).unwrap());
    assert_eq!(found, records);
}
