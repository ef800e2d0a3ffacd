//! Whatever comes in: no panic, no memory out of proportion, and no change goes unnoticed.

use proptest::collection::vec;
use proptest::prelude::*;

use super::legacy::{Message, message_set};
use super::*;

const LIMIT: DecompressLimit = DecompressLimit(1 << 20);

fn batch(compression: Compression) -> RecordBatch {
    let mut builder = BatchBuilder::new(BatchOptions {
        codec: compression.into(),
        base_offset: Offset(1000),
        ..BatchOptions::default()
    });
    let headers = [
        Header::new("key", b"value"),
        Header {
            key: b"\xff",
            value: None,
        },
    ];
    for timestamp in 0..5 {
        let value = b"value, value, value, value".repeat(timestamp as usize);
        let (key, value) = (Some(&b"key"[..]), Some(&value[..]));
        builder
            .append(&NewRecord {
                timestamp,
                key,
                value,
                headers: &headers,
            })
            .unwrap();
    }
    builder.append(&NewRecord::default()).unwrap();
    builder.finish().unwrap()
}

/// A field of every format and codec.
fn fields() -> Vec<Bytes> {
    let messages = [b"one", b"two"].map(|value| Message {
        timestamp: 5,
        key: Some(b"k"),
        value: Some(value),
    });
    let mut fields = Vec::new();
    for compression in CODECS {
        fields.push(batch(compression).into_bytes());
        for magic in 0..2 {
            fields.push(message_set(magic, compression, 7, None, &messages));
        }
    }
    fields
}

/// The batch with a body cut short or changed, its header made to fit.
fn with_body(batch: &RecordBatch, body: &[u8]) -> Bytes {
    let mut header = *batch.header();
    header.batch_length = (49 + body.len()) as i32;
    header.crc = crc32c::crc32c(&[&header.to_bytes()[21..], body].concat());
    [&header.to_bytes(), body].concat().into()
}

#[test]
fn every_cut_is_survived() {
    for field in fields() {
        for cut in 0..field.len() {
            read_anything(field.slice(..cut), LIMIT);
        }
    }
    for compression in CODECS {
        let batch = batch(compression);
        for cut in 0..batch.body().len() {
            let field = with_body(&batch, &batch.body()[..cut]);
            read_anything(field.clone(), LIMIT);
            // A gzip or LZ4 trailer may be missing unnoticed by none of the codecs.
            assert!(read_all(field).is_err(), "{compression} cut to {cut}");
        }
    }
}

#[test]
fn the_checksum_finds_every_flipped_bit() {
    for field in fields() {
        for bit in 0..8 * field.len() {
            let mut flipped = field.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let flipped = Bytes::from(flipped);
            read_anything(flipped.clone(), LIMIT);
            let mut batches = Batches::new(flipped);
            let found = batches
                .by_ref()
                .any(|batch| batch.and_then(|b| b.verify_crc()).is_err());
            // Offset, length and leader epoch are outside of what it covers. A changed length shows
            // as an incomplete tail, or as a wrong checksum of fewer bytes.
            let outside = bit / 8 < 16 || batches.incomplete_tail().is_some();
            assert!(found || outside || field[16] < 2, "bit {bit}");
        }
    }
}

#[test]
fn bit_flips_inside_of_a_right_checksum_are_survived() {
    for compression in CODECS {
        let batch = batch(compression);
        let body = batch.body();
        for bit in 0..8 * body.len() {
            let mut flipped = body.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let field = with_body(&batch, &flipped);
            let measured = allocation_counter::measure(|| read_anything(field.clone(), LIMIT));
            let most = 64 * field.len() + (64 << 10) + LIMIT.0;
            assert!(
                measured.bytes_max as usize <= most,
                "{compression} bit {bit}"
            );
        }
    }
}

#[test]
fn wrong_counts_and_lengths_are_named() {
    let batch = batch(Compression::None);
    let body = batch.body();
    let counted = |record_count| {
        let header = BatchHeader {
            record_count,
            ..*batch.header()
        };
        let bytes = [&header.to_bytes()[..], &body].concat();
        let batch = RecordBatch::parse(bytes.into()).unwrap();
        batch.records(LIMIT).and_then(|records| owned(&records))
    };
    let len = body.len();
    for count in [i32::MIN, -1, len as i32 / 7 + 1, i32::MAX] {
        assert_eq!(
            counted(count),
            Err(RecordsError::RecordCount { count, len })
        );
    }
    let error = RecordsError::BytesAfterRecords { count: 5, left: 7 };
    assert_eq!(counted(5), Err(error));
    assert!(matches!(
        counted(7),
        Err(RecordsError::Record { index: 6, .. })
    ));
    assert!(matches!(
        counted(0),
        Err(RecordsError::BytesAfterRecords { .. })
    ));

    // The first record's length, one more and one less.
    for (change, said) in [(2, 1), (-2i8, -1)] {
        let mut wrong = body.to_vec();
        let taken = usize::from(wrong[0]) / 2;
        wrong[0] = wrong[0].wrapping_add_signed(change);
        let said = taken as i32 + said;
        let error = RecordsError::RecordLength {
            index: 0,
            at: 0,
            said,
            taken,
        };
        assert_eq!(read_all(with_body(&batch, &wrong)), Err(error));
    }
}

#[test]
fn an_unknown_codec_is_named() {
    let mut bytes = batch(Compression::None).bytes().to_vec();
    for code in 5..8 {
        bytes[22] = code;
        let batch = RecordBatch::parse(bytes.clone().into()).unwrap();
        let error = batch.records(LIMIT).unwrap_err();
        assert_eq!(error, RecordsError::UnknownCompression(code));
        assert_eq!(BatchOptions::like(batch.header()), Err(error));
    }
}

/// Few bytes that claim or become many.
#[cfg(feature = "compression")]
#[test]
fn a_bomb_stops_at_the_limit() {
    let zeros = vec![0; 20 << 20];
    for compression in &CODECS[1..] {
        let mut builder = BatchBuilder::new(BatchOptions {
            codec: (*compression).into(),
            ..Default::default()
        });
        builder
            .append(&NewRecord {
                value: Some(&zeros),
                ..NewRecord::default()
            })
            .unwrap();
        let batch = builder.finish().unwrap();
        let measured = allocation_counter::measure(|| {
            let error = batch.records(LIMIT).unwrap_err();
            let limit = LIMIT.0;
            assert_eq!(
                error,
                RecordsError::Limit {
                    compression: *compression,
                    limit
                }
            );
        });
        // Growing holds an old and a new buffer for a moment.
        assert!(
            measured.bytes_max as usize <= 2 * LIMIT.0 + (64 << 10),
            "{compression}"
        );
    }
}

/// The densest field that there can be: what reading it takes depends on no claim in it.
#[test]
#[cfg(feature = "compression")]
fn a_gzip_header_allocates_nothing_for_what_it_claims() {
    let batch = batch(Compression::Gzip);
    let mut body = batch.body().to_vec();
    // An extra field of 65,535 bytes, of which none are there.
    body[3] |= 4;
    body.splice(10..10, [0xff, 0xff]);
    let field = with_body(&batch, &body);
    let measured = allocation_counter::measure(|| {
        let batch = Batches::new(field.clone()).next().unwrap().unwrap();
        let records = batch.records(LIMIT);
        assert!(matches!(records, Err(RecordsError::Decompress { .. })));
    });
    assert!(measured.bytes_max < 16 * 1024, "{}", measured.bytes_max);
}

#[test]
fn reading_uncompressed_records_allocates_next_to_nothing() {
    let mut builder = BatchBuilder::new(BatchOptions::default());
    for _ in 0..10_000 {
        builder.append(&NewRecord::default()).unwrap();
    }
    let field = builder.finish().unwrap().into_bytes();
    let measured = allocation_counter::measure(|| {
        assert_eq!(
            Batches::new(field.clone())
                .map(|b| count(&b.unwrap()))
                .sum::<usize>(),
            10_000
        );
    });
    assert!(measured.bytes_total < 1024, "{}", measured.bytes_total);
}

fn count(batch: &Batch) -> usize {
    batch
        .records(LIMIT)
        .unwrap()
        .iter()
        .map(Result::unwrap)
        .count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..300), magic in 0..3u8) {
        read_anything(bytes.clone().into(), LIMIT);
        // The same as one batch, whose length and magic are right.
        let mut bytes = bytes;
        if bytes.len() >= 61 {
            let len = bytes.len() as i32 - 12;
            bytes[8..12].copy_from_slice(&len.to_be_bytes());
            bytes[16] = magic;
            read_anything(bytes.into(), LIMIT);
        }
    }

    #[test]
    fn any_compressed_body_is_survived(
        body in vec(any::<u8>(), 0..300),
        keep in 0..40usize,
        index in 0..CODECS.len(),
    ) {
        let batch = batch(CODECS[index]);
        let head = batch.body();
        let body = [&head[..keep.min(head.len())], &body].concat();
        read_anything(with_body(&batch, &body), LIMIT);
    }
}
