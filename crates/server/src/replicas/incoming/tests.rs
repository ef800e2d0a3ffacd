use std::collections::BTreeMap;
use std::time::Duration;

use klamm_metadata::Image;
use klamm_protocol::records::{Codec, NewRecord};
use klamm_protocol::{BrokerId, Offset};

use super::super::topic::NodeConfigs;
use super::*;

const NOW: i64 = 1_000_000_000;

fn topic() -> TopicSettings {
    let node = NodeConfigs {
        broker: BrokerId(1),
        file: &BTreeMap::new(),
        lag_time_max: Duration::from_secs(30),
    };
    TopicSettings::new(&Image::new(), "t", node)
}

fn batch(options: BatchOptions, timestamps: &[i64]) -> RecordBatch {
    let mut builder = BatchBuilder::new(options);
    for timestamp in timestamps {
        let record = NewRecord {
            timestamp: *timestamp,
            value: Some(b"value"),
            ..NewRecord::default()
        };
        builder.append(&record).unwrap();
    }
    builder.finish().unwrap()
}

fn plain(timestamps: &[i64]) -> Bytes {
    batch(BatchOptions::default(), timestamps).into_bytes()
}

fn refused(records: Option<Bytes>, topic: &TopicSettings, version: i16) -> (ErrorCode, Vec<i32>) {
    let invalid = check(records, topic, version, NOW).unwrap_err();
    assert!(!invalid.to_string().is_empty());
    (invalid.code(), invalid.records().to_vec())
}

/// A batch whose header is changed, with the right checksum.
fn forged(bytes: &Bytes, change: impl FnOnce(&mut [u8])) -> Bytes {
    let mut bytes = bytes.to_vec();
    change(&mut bytes);
    let crc = crc32c::crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    bytes.into()
}

#[test]
fn a_good_batch_is_written_as_it_is() {
    let sent = plain(&[NOW, NOW + 5]);
    let taken = check(Some(sent.clone()), &topic(), 13, NOW).unwrap();
    assert_eq!(taken.bytes(), &sent);
}

#[test]
fn records_are_one_whole_batch() {
    let one = plain(&[NOW]);
    let two = [&one[..], &one[..]].concat().into();
    let cut = one.slice(..one.len() - 1);
    let more = [&one[..], &one[..20]].concat().into();
    for records in [None, Some(Bytes::new()), Some(two), Some(cut), Some(more)] {
        assert_eq!(refused(records, &topic(), 13).0, ErrorCode::INVALID_RECORD);
    }
    let mut damaged = one.to_vec();
    damaged[70] ^= 1;
    let damaged = Some(damaged.into());
    assert_eq!(refused(damaged, &topic(), 13).0, ErrorCode::CORRUPT_MESSAGE);
}

#[test]
fn headers_are_held_to_what_they_say() {
    let one = plain(&[NOW, NOW]);
    let set = |at: usize, bytes: &'static [u8]| {
        forged(&one, move |batch| {
            batch[at..at + bytes.len()].copy_from_slice(bytes);
        })
    };
    for (what, records) in [
        ("control", set(21, &[0, 0x20])),
        ("no records", set(57, &[0, 0, 0, 0])),
        ("other count", set(57, &[0, 0, 0, 3])),
        ("other last offset", set(23, &[0, 0, 0, 7])),
        (
            "fewer records than both say",
            forged(&one, |batch| {
                batch[26] = 2;
                batch[60] = 3;
            }),
        ),
        (
            "a producer without an epoch",
            set(43, &[0, 0, 0, 0, 0, 0, 0, 1]),
        ),
    ] {
        let (code, _) = refused(Some(records), &topic(), 13);
        let codes = [ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE];
        assert!(codes.contains(&code), "{what}: {code}");
    }
    let transactional = BatchOptions {
        producer_id: 3,
        producer_epoch: 0,
        base_sequence: 0,
        transactional: true,
        ..BatchOptions::default()
    };
    let records = batch(transactional, &[NOW]).into_bytes();
    assert_eq!(
        refused(Some(records), &topic(), 13).0,
        ErrorCode::INVALID_TXN_STATE
    );
}

#[test]
fn a_batch_has_its_limits() {
    let mut small = topic();
    small.max_batch_bytes = 80;
    assert_eq!(
        refused(Some(plain(&[NOW; 5])), &small, 13).0,
        ErrorCode::MESSAGE_TOO_LARGE
    );
    let zstd = BatchOptions {
        codec: Codec::new(Compression::Zstd),
        ..BatchOptions::default()
    };
    let records = batch(zstd, &[NOW]).into_bytes();
    let code = ErrorCode::UNSUPPORTED_COMPRESSION_TYPE;
    assert_eq!(refused(Some(records.clone()), &topic(), 6).0, code);
    assert!(check(Some(records), &topic(), 7, NOW).is_ok());
}

#[test]
fn wrong_records_are_named() {
    let mut late = topic();
    late.timestamps.before_max_ms = 100;
    late.timestamps.after_max_ms = 10;
    let sent = plain(&[NOW, NOW - 101, NOW - 100, NOW + 11, NOW + 10, NO_TIMESTAMP]);
    let code = ErrorCode::INVALID_TIMESTAMP;
    assert_eq!(refused(Some(sent.clone()), &late, 13), (code, vec![1, 3]));
    late.append_time = true;
    assert!(check(Some(sent), &late, 13, NOW).is_ok());
    let mut compacted = topic();
    compacted.compacts = true;
    let code = ErrorCode::INVALID_RECORD;
    assert_eq!(
        refused(Some(plain(&[NOW, NOW])), &compacted, 13),
        (code, vec![0, 1])
    );
}

#[test]
fn topics_say_which_time_and_compression_batches_have() {
    let mut topic = topic();
    topic.append_time = true;
    let taken = check(Some(plain(&[5, 9])), &topic, 13, NOW).unwrap();
    taken.verify_crc().unwrap();
    assert_eq!(taken.header().append_time(), Some(NOW));
    // With a timestamp in the header that its records do not have.
    topic.append_time = false;
    let wrong = forged(&plain(&[NOW, NOW + 9]), |batch| batch[42] ^= 0x40);
    let taken = check(Some(wrong), &topic, 13, NOW).unwrap();
    taken.verify_crc().unwrap();
    assert_eq!(taken.header().max_timestamp, NOW + 9);
    topic.codec = Some(Codec::new(Compression::Gzip));
    let options = BatchOptions {
        producer_id: 7,
        producer_epoch: 1,
        base_sequence: 4,
        ..BatchOptions::default()
    };
    let sent = batch(options, &[NOW; 3]);
    let taken = check(Some(sent.bytes().clone()), &topic, 13, NOW).unwrap();
    taken.verify_crc().unwrap();
    let header = taken.header();
    assert_eq!(header.compression(), Ok(Compression::Gzip));
    assert_eq!(
        (
            header.producer_id,
            header.base_sequence,
            header.last_offset()
        ),
        (7, 4, Offset(2))
    );
    let records = taken.records(DecompressLimit::DEFAULT).unwrap();
    assert_eq!(records.iter().count(), 3);
}
