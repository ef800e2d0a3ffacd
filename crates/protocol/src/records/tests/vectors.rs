//! What Apache's Java client writes is read, and written again byte for byte where it is not
//! compressed.

use std::string::String;

use super::*;
use crate::LeaderEpoch;

const LONG: &[u8] =
    b"the quick brown fox, the quick brown fox, the quick brown fox, the quick brown fox";

fn vector(name: &str) -> Bytes {
    let line = include_str!("kafka-clients-4.4.0.txt")
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .unwrap_or_else(|| panic!("no vector {name}"));
    let digits: Vec<_> = line
        .chars()
        .map(|c| c.to_digit(16).unwrap() as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

fn one_batch(name: &str) -> RecordBatch {
    let batch = RecordBatch::parse(vector(name)).unwrap();
    batch.verify_crc().unwrap();
    batch
}

fn v2_records(append_time: Option<i64>) -> Vec<Owned> {
    let mut first = Owned::new(100, 1_700_000_000_000, Some(b"key"), Some(b"value"));
    first.headers = [("h1", Some("one")), ("h2", None)]
        .map(|(key, value): (&str, Option<&str>)| (key.into(), value.map(Vec::from)))
        .into();
    let mut records = Vec::from([
        first,
        Owned::new(101, 1_700_000_000_500, None, Some(LONG)),
        Owned::new(102, 1_699_999_999_000, Some(b""), None),
        Owned::new(110, 1_700_000_000_001, Some(b"gap"), Some(b"")),
    ]);
    for record in &mut records {
        record.timestamp = append_time.unwrap_or(record.timestamp);
    }
    records
}

fn v2_options() -> BatchOptions {
    BatchOptions {
        base_offset: Offset(100),
        partition_leader_epoch: LeaderEpoch(5),
        producer_id: 4000,
        producer_epoch: 7,
        base_sequence: 41,
        transactional: true,
        ..BatchOptions::default()
    }
}

#[test]
fn batches_of_every_codec_are_read() {
    for codec in CODECS {
        for (suffix, append_time) in [("", None), ("-append", Some(1_700_000_009_999))] {
            let batch = one_batch(&std::format!("v2-{codec}{suffix}"));
            let header = batch.header();
            assert_eq!(header.compression(), Ok(codec));
            assert_eq!(header.append_time(), append_time);
            assert_eq!(header.last_offset(), Offset(110));
            assert_eq!(header.last_sequence(), Some(51));
            assert_eq!(header.record_count, 4);
            assert_eq!(
                header.max_timestamp,
                append_time.unwrap_or(1_700_000_000_500)
            );
            assert!(header.attributes.is_transactional() && !header.attributes.is_control());
            let mut options = BatchOptions::like(header).unwrap();
            assert_eq!(options.last_offset.take(), Some(Offset(110)));
            assert_eq!(
                options,
                BatchOptions {
                    append_time,
                    codec: codec.into(),
                    ..v2_options()
                }
            );

            let records = batch.records(DecompressLimit::DEFAULT).unwrap();
            assert_eq!(owned(&records).unwrap(), v2_records(append_time), "{codec}");
            let sequences: Vec<_> = records.iter().map(|r| r.unwrap().sequence()).collect();
            assert_eq!(sequences, [Some(41), Some(42), Some(43), Some(51)]);
        }
    }
}

#[test]
fn what_is_not_compressed_is_written_as_java_writes_it() {
    for (name, append_time) in [
        ("v2-none", None),
        ("v2-none-append", Some(1_700_000_009_999)),
    ] {
        let mut builder = BatchBuilder::new(BatchOptions {
            append_time,
            ..v2_options()
        });
        for record in v2_records(None) {
            record.append_to(&mut builder).unwrap();
        }
        assert_eq!(
            builder.finish().unwrap().into_bytes(),
            vector(name),
            "{name}"
        );
    }
}

#[test]
fn message_sets_are_read() {
    for codec in CODECS
        .into_iter()
        .filter(|codec| *codec != Compression::Zstd)
    {
        for (name, magic, append) in [("v0", 0, false), ("v1", 1, false), ("v1", 1, true)] {
            let suffix = if append { "-append" } else { "" };
            let field = vector(&std::format!("{name}-{codec}{suffix}"));
            for batch in Batches::new(field.clone()) {
                let Batch::Legacy(batch) = batch.unwrap() else {
                    panic!("{name} is no message")
                };
                assert_eq!((batch.magic(), batch.compression()), (magic, Ok(codec)));
            }
            let timestamp = |timestamp| match (magic, append) {
                (0, _) => NO_TIMESTAMP,
                (_, true) => 1_700_000_009_999,
                _ => timestamp,
            };
            let records = [
                Owned::new(
                    20,
                    timestamp(1_700_000_000_000),
                    Some(b"key"),
                    Some(b"value"),
                ),
                Owned::new(21, timestamp(1_700_000_000_500), None, Some(LONG)),
                Owned::new(22, timestamp(1_699_999_999_000), Some(b"gone"), None),
            ];
            assert_eq!(read_all(field).unwrap(), records, "{name}-{codec}{suffix}");
        }
    }
}

/// The frame asks for a window of 128 MiB.
#[cfg(feature = "compression")]
#[test]
fn zstd_of_the_highest_level_is_read_in_little_memory() {
    let batch = one_batch("zstd22");
    let records = batch.records(DecompressLimit(1000)).unwrap();
    assert_eq!(
        owned(&records).unwrap(),
        [Owned::new(0, 1, Some(b"k"), Some(LONG))]
    );
}

#[test]
fn control_batches_are_read_and_written() {
    let marker = |epoch: i32| [&0i16.to_be_bytes()[..], &epoch.to_be_bytes()].concat();
    let transactional = BatchOptions {
        base_offset: Offset(12),
        partition_leader_epoch: LeaderEpoch(3),
        producer_id: 4000,
        producer_epoch: 7,
        transactional: true,
        control: true,
        ..BatchOptions::default()
    };
    let raft = BatchOptions {
        partition_leader_epoch: LeaderEpoch(1),
        control: true,
        ..BatchOptions::default()
    };
    // Version 0 of a LeaderChangeMessage with leader 3 and no voters.
    let leader_change = b"\0\0\0\0\0\x03\x01\x01\0".to_vec();
    for (name, options, kind, value) in [
        ("commit", &transactional, ControlType::Commit, marker(9)),
        ("abort", &transactional, ControlType::Abort, marker(9)),
        ("leader", &raft, ControlType::LeaderChange, leader_change),
    ] {
        let batch = one_batch(name);
        assert!(Batch::V2(batch.clone()).is_control());
        let records = batch.records(DecompressLimit::DEFAULT).unwrap();
        let record = records.iter().next().unwrap().unwrap();
        assert_eq!(ControlKey::parse(record.key()), Ok(ControlKey::new(kind)));
        assert_eq!(record.value(), Some(&value[..]));

        let mut builder = BatchBuilder::new(options.clone());
        builder
            .append_control(kind, 1_700_000_000_000, &value)
            .unwrap();
        assert_eq!(builder.finish().unwrap().bytes(), batch.bytes(), "{name}");

        let mut builder = BatchBuilder::new(BatchOptions::like(batch.header()).unwrap());
        builder.append_record(&record).unwrap();
        assert_eq!(builder.finish().unwrap(), batch, "{name}");
    }
}

#[cfg(feature = "compression")]
#[test]
fn compacted_batches_keep_their_offset_range() {
    let source = one_batch("v2-gzip");
    let empty = source.without_records();
    assert_eq!(empty.bytes(), &vector("compact-empty"));
    assert_eq!(read_all(empty.into_bytes()), Ok(Vec::new()));

    let some = one_batch("compact-some");
    assert_eq!(some.header().delete_horizon(), Some(1_700_000_001_000));
    assert_eq!(
        read_all(some.bytes().clone()).unwrap(),
        v2_records(None)[1..3]
    );

    let mut options = BatchOptions::like(source.header()).unwrap();
    options.delete_horizon = Some(1_700_000_001_000);
    let mut builder = BatchBuilder::new(options);
    for record in source
        .records(DecompressLimit::DEFAULT)
        .unwrap()
        .iter()
        .skip(1)
        .take(2)
    {
        builder.append_record(&record.unwrap()).unwrap();
    }
    let ours = builder.finish().unwrap();
    // Where deflate decides otherwise than Java's, the length and the CRC differ.
    let same = |header: &BatchHeader| BatchHeader {
        crc: 0,
        batch_length: 0,
        ..*header
    };
    assert_eq!(same(ours.header()), same(some.header()));
    assert_eq!(read_all(ours.into_bytes()), read_all(some.into_bytes()));
}

#[test]
fn control_types_have_apaches_names() {
    let names: Vec<_> = (0..8)
        .map(|code| std::string::ToString::to_string(&ControlType::from_code(code)))
        .collect();
    let names: String = names.join(" ");
    assert_eq!(
        names,
        "ABORT COMMIT LEADER_CHANGE SNAPSHOT_HEADER SNAPSHOT_FOOTER KRAFT_VERSION KRAFT_VOTERS \
         UNKNOWN(7)"
    );
    for code in [i16::MIN, -1, 0, 6, 7, i16::MAX] {
        assert_eq!(ControlType::from_code(code).code(), code);
    }
    assert_eq!(
        ControlKey::parse(None),
        Err(RecordsError::ControlKeyLength(0))
    );
    assert_eq!(
        ControlKey::parse(Some(b"\0\0\0")),
        Err(RecordsError::ControlKeyLength(3))
    );
    assert_eq!(
        ControlKey::parse(Some(b"\xff\xff\0\0")),
        Err(RecordsError::ControlKeyVersion(-1))
    );
    let later = ControlKey {
        version: 3,
        kind: ControlType::Commit,
    };
    assert_eq!(ControlKey::parse(Some(b"\0\x03\0\x01more")), Ok(later));
}
