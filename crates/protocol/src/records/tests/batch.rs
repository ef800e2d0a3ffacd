//! Batches of magic 2: walking over them, their headers, building and stamping.

use super::*;
use crate::LeaderEpoch;

fn options() -> BatchOptions {
    BatchOptions {
        base_offset: Offset(7),
        ..BatchOptions::default()
    }
}

fn built(options: BatchOptions, values: &[&[u8]]) -> RecordBatch {
    let mut builder = BatchBuilder::new(options);
    for (index, value) in values.iter().enumerate() {
        let record = NewRecord {
            timestamp: 1000 + index as i64,
            value: Some(value),
            ..NewRecord::default()
        };
        builder.append(&record).unwrap();
    }
    builder.finish().unwrap()
}

#[test]
fn batches_come_one_by_one_and_the_tail_is_no_error() {
    let one = built(options(), &[b"a", b"b"]);
    let two = built(
        BatchOptions {
            base_offset: Offset(9),
            ..options()
        },
        &[b"c"],
    );
    let field = [&one.bytes()[..], two.bytes()].concat();
    for cut in 0..=field.len() {
        let mut batches = Batches::new(Bytes::copy_from_slice(&field[..cut]));
        let whole: Vec<_> = batches.by_ref().map(Result::unwrap).collect();
        let (len_one, all) = (
            one.bytes().len(),
            [Batch::V2(one.clone()), Batch::V2(two.clone())],
        );
        let expected = usize::from(cut >= len_one) + usize::from(cut == field.len());
        assert_eq!(whole, all[..expected], "{cut}");
        let position = [0, len_one, field.len()][expected];
        assert_eq!(batches.position(), position);
        let needed = (cut >= position + 17).then(|| all[expected].bytes().len());
        let tail = IncompleteTail {
            position,
            len: cut - position,
            needed,
        };
        assert_eq!(
            batches.incomplete_tail(),
            (cut > position).then_some(tail),
            "{cut}"
        );
        assert!(batches.next().is_none());
    }
}

#[test]
fn exactly_one_batch_is_parsed() {
    let batch = built(options(), &[b"a"]);
    let bytes = batch.bytes();
    assert_eq!(RecordBatch::parse(bytes.clone()), Ok(batch.clone()));
    let len = bytes.len();
    for wrong in [0, 5, 16, 17, 60, len - 1] {
        let error = RecordBatch::parse(bytes.slice(..wrong)).unwrap_err();
        assert!(
            matches!(error, RecordsError::NotOneBatch { len, .. } if len == wrong),
            "{error}"
        );
    }
    let longer = Bytes::from([bytes, &b"x"[..]].concat());
    let error = RecordsError::NotOneBatch {
        needed: len,
        len: len + 1,
    };
    assert_eq!(RecordBatch::parse(longer), Err(error));
}

#[test]
fn a_wrong_length_or_magic_is_an_error_with_its_place() {
    let good = built(options(), &[b"a"]).into_bytes();
    let second = |at: usize, with: &[u8]| {
        let mut bytes = good.to_vec();
        bytes[at..at + with.len()].copy_from_slice(with);
        let mut batches = Batches::new([&good[..], &bytes].concat().into());
        assert!(batches.next().unwrap().is_ok());
        let error = batches.next().unwrap().unwrap_err();
        assert!(batches.next().is_none());
        error
    };
    let at = good.len();
    for said in [i32::MIN, -1, 0, 13] {
        let error = RecordsError::BatchLength {
            at,
            said,
            least: 14,
        };
        assert_eq!(second(8, &said.to_be_bytes()), error);
    }
    let error = RecordsError::BatchLength {
        at,
        said: 48,
        least: 49,
    };
    assert_eq!(second(8, &48i32.to_be_bytes()), error);
    for magic in [-1, 3] {
        assert_eq!(
            second(16, &[magic as u8]),
            RecordsError::Magic { at, magic }
        );
    }
}

#[test]
fn views_share_the_batchs_bytes() {
    let batch = built(options(), &[b"value"]);
    let records = batch.records(DecompressLimit::DEFAULT).unwrap();
    assert_eq!(records.declared_count(), Some(1));
    let record = records.iter().next().unwrap().unwrap();
    let value = record.value_bytes().unwrap();
    let range = batch.bytes().as_ptr_range();
    assert!(range.contains(&value.as_ptr()));
    assert_eq!(records.share(&value[1..3]).as_ptr(), value[1..].as_ptr());
    assert_eq!(records.share(b"from elsewhere"), b"from elsewhere"[..]);
    assert!(records.share(&[]).is_empty());
}

#[test]
fn a_stamp_changes_what_it_names_and_keeps_the_checksum_right() {
    for codec in CODECS {
        let batch = built(
            BatchOptions {
                codec: codec.into(),
                ..options()
            },
            &[b"a", b"b"],
        );
        let crc = batch.header().crc;
        let moved = Stamp {
            base_offset: Some(Offset(500)),
            partition_leader_epoch: Some(LeaderEpoch(3)),
            max_timestamp: Some((TimestampType::CreateTime, 1001)),
        };
        let (shared, bytes) = (batch.clone(), batch.bytes().clone());
        let stamped = shared.restamped(&moved);
        assert_eq!(
            bytes,
            batch.bytes(),
            "bytes that others hold stay as they are"
        );
        assert_eq!(
            stamped.header().crc,
            crc,
            "nothing that the CRC covers has changed"
        );
        assert_eq!(stamped.verify_crc(), Ok(()));
        let records = owned(&stamped.records(DecompressLimit::DEFAULT).unwrap()).unwrap();
        let offsets: Vec<_> = records.iter().map(|r| (r.offset, r.timestamp)).collect();
        assert_eq!(offsets, [(500, 1000), (501, 1001)]);

        let appended = Stamp {
            max_timestamp: Some((TimestampType::LogAppendTime, 77)),
            ..Stamp::default()
        };
        let header = stamped.stamped_header(&appended);
        drop((bytes, batch));
        let stamped = stamped.restamped(&appended);
        assert_eq!(stamped.bytes()[..BatchHeader::LEN], header);
        assert_ne!(stamped.header().crc, crc);
        assert_eq!(stamped.verify_crc(), Ok(()));
        assert_eq!(stamped.header().base_offset, Offset(500));
        let records = owned(&stamped.records(DecompressLimit::DEFAULT).unwrap()).unwrap();
        assert!(records.iter().all(|record| record.timestamp == 77));
    }
}

#[test]
fn a_stamp_is_written_in_place_when_nothing_else_holds_the_bytes() {
    let batch = built(options(), &[b"a"]);
    let at = batch.bytes().as_ptr();
    let stamp = Stamp {
        base_offset: Some(Offset(9)),
        ..Stamp::default()
    };
    assert_eq!(batch.restamped(&stamp).bytes().as_ptr(), at);
}

#[test]
fn an_uncompressed_batch_takes_one_allocation() {
    let value = [7u8; 100];
    let info = allocation_counter::measure(|| {
        let mut builder = BatchBuilder::with_capacity(options(), 1090);
        let record = NewRecord {
            value: Some(&value),
            ..NewRecord::default()
        };
        for _ in 0..10 {
            builder.append(&record).unwrap();
        }
        let batch = builder.finish().unwrap();
        assert_eq!(batch.bytes().len(), BatchHeader::LEN + 1090);
    });
    assert_eq!(info.count_total, 1);
}

#[test]
fn the_builder_refuses_what_a_batch_cannot_say() {
    let record = NewRecord::default();
    let refused = |options: &BatchOptions, before: usize, offset: i64| {
        let mut builder = BatchBuilder::new(options.clone());
        for _ in 0..before {
            builder.append(&record).unwrap();
        }
        builder.append_at(Offset(offset), &record).unwrap_err()
    };
    let base = Offset(7);
    let error = |offset, previous| BuildError::Offset {
        offset: Offset(offset),
        previous,
        base,
    };
    assert_eq!(refused(&options(), 0, 6), error(6, 6));
    assert_eq!(refused(&options(), 2, 8), error(8, 8));
    assert_eq!(
        refused(&options(), 0, 8 + i64::from(i32::MAX)),
        error(2_147_483_655, 6)
    );
    assert_eq!(refused(&options(), 0, i64::MIN), error(i64::MIN, 6));
    let control = BatchOptions {
        control: true,
        ..options()
    };
    assert_eq!(refused(&control, 0, 7), BuildError::ControlMix);
    let mut builder = BatchBuilder::new(options());
    assert_eq!(
        builder.append_control(ControlType::Commit, 0, b""),
        Err(BuildError::ControlMix)
    );
    assert_eq!(builder.finish(), Err(BuildError::Empty));

    let finished = |options: BatchOptions| {
        let mut builder = BatchBuilder::new(options);
        builder.append(&record).unwrap();
        builder.append(&record).unwrap();
        builder
            .finish()
            .map(|batch| batch.header().last_offset_delta)
    };
    let last = |offset| BatchOptions {
        last_offset: Some(Offset(offset)),
        ..options()
    };
    assert_eq!(finished(last(7)), Err(error(7, 8)));
    assert_eq!(finished(last(8)), Ok(1));
    assert_eq!(finished(last(100)), Ok(93));
    for (compression, levels) in [
        (Compression::None, &[0, 1][..]),
        (Compression::Gzip, &[-1, 0, 10]),
        (Compression::Snappy, &[1]),
        (Compression::Lz4, &[0, 18]),
        (Compression::Zstd, &[-131_073, 23]),
    ] {
        for &level in levels {
            let codec = Codec::with_level(compression, level);
            let error = BuildError::Level { compression, level };
            assert_eq!(finished(BatchOptions { codec, ..options() }), Err(error));
        }
    }
}

#[test]
fn sequences_wrap_after_the_largest() {
    let mut header = *built(options(), &[b"a"]).header();
    assert_eq!(header.sequence(0), None);
    header.base_sequence = i32::MAX - 1;
    let sequences = [0, 1, 2, 3].map(|delta| header.sequence(delta).unwrap());
    assert_eq!(sequences, [i32::MAX - 1, i32::MAX, 0, 1]);
}

#[cfg(not(feature = "compression"))]
#[test]
fn without_codecs_a_compressed_batch_is_a_clear_error() {
    let bytes = built(options(), &[b"a"]).into_bytes();
    for compression in &Compression::ALL[1..] {
        let mut bytes = bytes.to_vec();
        bytes[22] = compression.code();
        let batch = RecordBatch::parse(bytes.into()).unwrap();
        let error = batch.records(DecompressLimit::DEFAULT).unwrap_err();
        assert_eq!(error, RecordsError::NotBuiltIn(*compression));
        let mut builder = BatchBuilder::new(BatchOptions {
            codec: (*compression).into(),
            ..options()
        });
        builder.append(&NewRecord::default()).unwrap();
        assert_eq!(builder.finish(), Err(BuildError::NotBuiltIn(*compression)));
    }
}
