//! Random batches and message sets come back as they were.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::legacy::{Message, message_set};
use super::*;
use crate::LeaderEpoch;

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..80),
        (any::<u8>(), 0..3000usize).prop_map(|(b, n)| vec![b; n])
    ]
}

/// Records with growing offsets, as gaps.
fn records() -> impl Strategy<Value = Vec<(u8, Owned)>> {
    let header = (vec(any::<u8>(), 0..10), option::of(vec(any::<u8>(), 0..10)));
    let record = (
        any::<i64>(),
        option::of(bytes()),
        option::of(bytes()),
        vec(header, 0..3),
    )
        .prop_map(|(timestamp, key, value, headers)| Owned {
            offset: 0,
            timestamp,
            key,
            value,
            headers,
        });
    vec((any::<u8>(), record), 1..20)
}

fn codec() -> impl Strategy<Value = Codec> {
    (0..CODECS.len(), 1..=9).prop_map(|(index, level)| match CODECS[index] {
        compression @ (Compression::Gzip | Compression::Zstd) => {
            Codec::with_level(compression, level)
        }
        compression => compression.into(),
    })
}

prop_compose! {
    fn options()(
        base_offset in prop_oneof![0..100i64, 0..i64::MAX / 2],
        epoch in any::<i32>(),
        codec in codec(),
        (producer_id, producer_epoch, base_sequence) in any::<(i64, i16, i32)>(),
        transactional in any::<bool>(),
        append_time in option::of(any::<i64>()),
        delete_horizon in option::of(any::<i64>()),
        past_the_last in option::of(0..1000i64),
    ) -> (BatchOptions, Option<i64>) {
        let options = BatchOptions {
            base_offset: Offset(base_offset),
            partition_leader_epoch: LeaderEpoch(epoch),
            codec,
            producer_id,
            producer_epoch,
            base_sequence,
            transactional,
            append_time,
            delete_horizon,
            ..BatchOptions::default()
        };
        (options, past_the_last)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_batch_comes_back(records in records(), (mut options, past) in options()) {
        let mut offset = options.base_offset.0 - 1;
        let mut expected = Vec::new();
        for (gap, mut record) in records {
            offset += 1 + i64::from(gap);
            record.offset = offset;
            expected.push(record);
        }
        let last = offset + past.unwrap_or(0);
        options.last_offset = past.map(|_| Offset(last));
        let mut builder = BatchBuilder::new(options.clone());
        for record in &expected {
            record.append_to(&mut builder).unwrap();
        }
        prop_assert_eq!(builder.count(), expected.len());
        let max_timestamp = expected.iter().map(|record| record.timestamp).max();
        let uncompressed = builder.len();
        let batch = builder.finish().unwrap();
        if options.codec.compression == Compression::None {
            prop_assert_eq!(batch.bytes().len(), uncompressed);
        }

        let header = batch.header();
        prop_assert_eq!(header.last_offset(), Offset(last));
        let max_timestamp = max_timestamp.unwrap().max(NO_TIMESTAMP);
        prop_assert_eq!(header.max_timestamp, options.append_time.unwrap_or(max_timestamp));
        let like = BatchOptions::like(header).unwrap();
        options.last_offset = Some(Offset(last));
        options.codec.level = None;
        prop_assert_eq!(&like, &options);
        for record in &mut expected {
            record.timestamp = options.append_time.unwrap_or(record.timestamp);
        }
        prop_assert_eq!(read_all(batch.bytes().clone()).unwrap(), &expected[..]);

        // Taken apart and put together again it says the same.
        let mut builder = BatchBuilder::new(like);
        for record in &batch.records(DecompressLimit::DEFAULT).unwrap() {
            builder.append_record(&record.unwrap()).unwrap();
        }
        let again = builder.finish().unwrap();
        prop_assert_eq!(read_all(again.into_bytes()).unwrap(), expected);
    }

    #[test]
    fn the_size_is_known_before(records in records(), (options, _) in options()) {
        let mut builder = BatchBuilder::new(options);
        for (_, record) in &records {
            let headers: Vec<_> = record
                .headers
                .iter()
                .map(|(key, value)| Header { key, value: value.as_deref() })
                .collect();
            let (key, value) = (record.key.as_deref(), record.value.as_deref());
            let new = NewRecord { timestamp: record.timestamp, key, value, headers: &headers };
            let expected = builder.len_with(&new);
            builder.append(&new).unwrap();
            prop_assert_eq!(builder.len(), expected);
        }
    }

    #[test]
    fn a_message_set_comes_back(
        records in vec((any::<i64>(), option::of(bytes()), option::of(bytes())), 1..10),
        base in 0..i64::MAX / 2,
        magic in 0..2i8,
        codec in codec(),
        append_time in option::of(any::<i64>()),
    ) {
        let append_time = append_time.filter(|_| magic == 1);
        let messages: Vec<_> = records
            .iter()
            .map(|(timestamp, key, value)| Message {
                timestamp: *timestamp,
                key: key.as_deref(),
                value: value.as_deref(),
            })
            .collect();
        let expected: Vec<_> = messages
            .iter()
            .zip(base..)
            .map(|(message, offset)| {
                let timestamp = match magic {
                    0 => NO_TIMESTAMP,
                    _ => append_time.unwrap_or(message.timestamp),
                };
                Owned::new(offset, timestamp, message.key, message.value)
            })
            .collect();
        let set = message_set(magic, codec.compression, base, append_time, &messages);
        prop_assert_eq!(read_all(set).unwrap(), expected);
    }
}
