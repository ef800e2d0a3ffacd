//! Random histories: every kind of record, in any order, also such that do not fit.

mod history;

use fastrand::Rng;
use klamm_protocol::BrokerId;
use klamm_protocol::data::metadata::*;

use super::*;
use history::{any_record, uuid};

const SEEDS: u64 = 60;
const STEPS: usize = 300;

fn at_level(level: i16) -> Image {
    let mut image = Image::new();
    let version = FeatureLevelRecord {
        name: "metadata.version".into(),
        feature_level: level,
        ..Default::default()
    };
    image.apply(&version.into()).unwrap();
    image
}

/// Applies a random history. Gives the image and the records that fit.
fn history(seed: u64) -> (Image, Vec<Record>) {
    let mut rng = Rng::with_seed(seed);
    let mut image = at_level(MetadataVersion::LATEST_PRODUCTION.level());
    let mut fitting = Vec::new();
    for _ in 0..STEPS {
        let record = any_record(&mut rng);
        let before = image.clone();
        match image.apply(&record) {
            Ok(()) => fitting.push(record),
            Err(error) => assert_eq!(image, before, "seed {seed}: {error}"),
        }
        image.topics.assert_indexes_equal_a_full_scan();
    }
    (image, fitting)
}

#[test]
fn a_snapshot_recreates_the_image() {
    for seed in 0..SEEDS {
        let (image, _) = history(seed);
        let mut recreated = Image::new();
        for record in image.snapshot() {
            let value = record
                .encode(record.version(MetadataVersion::LATEST_PRODUCTION))
                .unwrap();
            let read = Record::decode(&value).unwrap();
            assert_eq!(read, record);
            recreated.apply(&read).unwrap();
        }
        assert_eq!(recreated, image, "seed {seed}");
        recreated.topics.assert_indexes_equal_a_full_scan();
    }
}

#[test]
fn what_is_frozen_stays_as_it_was() {
    for seed in 0..SEEDS {
        let (mut image, _) = history(seed);
        let frozen = image.freeze();
        let records: Vec<Record> = image.snapshot().collect();
        let mut rng = Rng::with_seed(SEEDS + seed);
        for _ in 0..STEPS {
            // What does not fit changes nothing.
            let _ = image.apply(&any_record(&mut rng));
        }
        assert!(frozen.records().eq(records), "seed {seed}");
        image.topics.assert_indexes_equal_a_full_scan();
    }
}

#[test]
fn a_change_after_a_copy_copies_little() {
    const PARTITIONS: i32 = 20_000;
    let mut image = at_level(33);
    fill(&mut image, PARTITIONS);
    let change = PartitionChangeRecord {
        partition_id: PARTITIONS / 2,
        topic_id: uuid(1),
        leader: 0,
        ..Default::default()
    };
    let frozen = allocation_counter::measure(|| {
        let frozen = image.freeze();
        image.apply(&Record::from(change)).unwrap();
        drop(frozen);
    });
    assert!(frozen.bytes_total < 50_000, "{} bytes", frozen.bytes_total);
}

#[test]
fn replay_gives_the_same_image() {
    let mut kinds = std::collections::BTreeSet::new();
    for seed in 0..SEEDS {
        let (image, records) = history(seed);
        let mut replayed = at_level(MetadataVersion::LATEST_PRODUCTION.level());
        for record in &records {
            kinds.insert(record.kind());
            let value = record
                .encode(record.version(MetadataVersion::LATEST_PRODUCTION))
                .unwrap();
            replayed.apply(&Record::decode(&value).unwrap()).unwrap();
        }
        assert_eq!(replayed, image, "seed {seed}");
    }
    // All but those of transactions, and the two that change nothing.
    assert_eq!(kinds.len(), 22, "{kinds:?}");
}

#[test]
fn a_snapshot_can_be_written_at_every_metadata_version() {
    for version in MetadataVersion::all() {
        for seed in 0..3 {
            let (mut image, _) = history(seed);
            image
                .features
                .set(&FeatureLevelRecord {
                    name: "metadata.version".into(),
                    feature_level: version.level(),
                    ..Default::default()
                })
                .unwrap();
            for record in image.snapshot() {
                let encoded = record.encode(record.version(version));
                assert!(encoded.is_ok(), "{version}: {record:?}: {encoded:?}");
            }
        }
    }
}

#[test]
fn a_snapshot_begins_with_the_metadata_version() {
    let (image, _) = history(1);
    let Some(Record::FeatureLevel(first)) = image.snapshot().next() else {
        panic!("no feature level first");
    };
    assert_eq!(&*first.name, MetadataVersion::FEATURE);
}

#[test]
fn a_leader_in_a_change_raises_the_leader_epoch() {
    let mut image = at_level(33);
    let topic = TopicRecord {
        name: "t".into(),
        topic_id: uuid(1),
        ..Default::default()
    };
    image.apply(&topic.into()).unwrap();
    let created = PartitionRecord {
        partition_id: 0,
        topic_id: uuid(1),
        replicas: [1, 2][..].into(),
        isr: [1, 2][..].into(),
        leader: 1,
        leader_epoch: 0,
        partition_epoch: 0,
        ..Default::default()
    };
    image.apply(&created.into()).unwrap();
    let place = crate::Place::of(uuid(1), 0);
    let epochs = |image: &Image| {
        let partition = image.topics().partition(place).unwrap();
        (
            partition.leader(),
            partition.leader_epoch().0,
            partition.partition_epoch().0,
        )
    };
    let change = |leader, isr: &[i32]| {
        Record::from(PartitionChangeRecord {
            partition_id: 0,
            topic_id: uuid(1),
            leader,
            isr: Some(isr.into()),
            ..Default::default()
        })
    };
    image.apply(&change(crate::NO_LEADER_CHANGE, &[1])).unwrap();
    assert_eq!(epochs(&image), (BrokerId(1), 0, 1));
    image.apply(&change(1, &[1])).unwrap();
    assert_eq!(epochs(&image), (BrokerId(1), 1, 2));
    image.apply(&change(-1, &[])).unwrap();
    assert_eq!(epochs(&image), (BrokerId::NONE, 2, 3));
    assert_eq!(image.topics().leaderless().count(), 1);
}

#[test]
fn a_removed_topic_takes_its_configs_along() {
    let mut image = at_level(33);
    let topic = TopicRecord {
        name: "t".into(),
        topic_id: uuid(1),
        ..Default::default()
    };
    let config = ConfigRecord {
        resource_type: 2,
        resource_name: "t".into(),
        name: "retention.ms".into(),
        value: Some("1".into()),
        ..Default::default()
    };
    let remove = RemoveTopicRecord {
        topic_id: uuid(1),
        ..Default::default()
    };
    let empty = image.clone();
    for record in [topic.into(), config.into(), Record::from(remove)] {
        image.apply(&record).unwrap();
    }
    assert_eq!(image, empty);
}

/// Adds a topic with partitions on three brokers.
fn fill(image: &mut Image, partitions: i32) {
    let topic = TopicRecord {
        name: "t".into(),
        topic_id: uuid(1),
        ..Default::default()
    };
    image.apply(&topic.into()).unwrap();
    for partition_id in 0..partitions {
        let replicas = [0, 1, 2].map(|turn| (partition_id + turn) % 3);
        let record = PartitionRecord {
            partition_id,
            topic_id: uuid(1),
            replicas: replicas[..].into(),
            isr: replicas[..].into(),
            leader: replicas[0],
            directories: vec![uuid(1); 3],
            ..Default::default()
        };
        image.apply(&record.into()).unwrap();
    }
}

#[test]
fn a_partition_with_its_indexes_takes_little_memory() {
    const PARTITIONS: i32 = 20_000;
    let mut image = at_level(33);
    let allocated = allocation_counter::measure(|| fill(&mut image, PARTITIONS));
    // Its state, the directories of its replicas, and a bit for each replica.
    let each = allocated.bytes_current / i64::from(PARTITIONS);
    assert!((100..150).contains(&each), "{each} bytes");
}

#[test]
fn names_that_metrics_do_not_tell_apart_collide() {
    let mut image = at_level(33);
    for (number, name) in [(1, "a.b_c"), (2, "plain")] {
        let topic = TopicRecord {
            name: name.into(),
            topic_id: uuid(number),
            ..Default::default()
        };
        image.apply(&topic.into()).unwrap();
    }
    let colliding = |image: &Image, name: &str| image.topics().colliding(name).map(str::to_owned);
    for name in ["a.b_c", "a_b.c", "a_b_c", "a.b.c"] {
        assert_eq!(colliding(&image, name).as_deref(), Some("a.b_c"));
    }
    for name in ["a.b", "a.b_cd", "plain", "a-b-c", "", "_"] {
        assert_eq!(colliding(&image, name), None);
    }
    let remove = RemoveTopicRecord {
        topic_id: uuid(1),
        ..Default::default()
    };
    image.apply(&remove.into()).unwrap();
    assert_eq!(colliding(&image, "a.b_c"), None);
}
