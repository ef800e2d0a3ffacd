//! Message sets, written by a small model of the formats 0 and 1.

use super::super::codec;
use super::*;

pub(super) struct Message<'a> {
    pub(super) timestamp: i64,
    pub(super) key: Option<&'a [u8]>,
    pub(super) value: Option<&'a [u8]>,
}

impl<'a> Message<'a> {
    fn value(value: &'a [u8]) -> Self {
        Self {
            timestamp: 5,
            key: None,
            value: Some(value),
        }
    }
}

const APPEND_TIME: u8 = 1 << 3;

/// One message with its offset and length.
fn message(magic: i8, attributes: u8, offset: i64, message: &Message<'_>) -> Vec<u8> {
    let mut covered = vec![magic as u8, attributes];
    if magic > 0 {
        covered.extend(message.timestamp.to_be_bytes());
    }
    for field in [message.key, message.value] {
        covered.extend(field.map_or(-1, |field| field.len() as i32).to_be_bytes());
        covered.extend(field.unwrap_or_default());
    }
    let mut out = offset.to_be_bytes().to_vec();
    out.extend((covered.len() as i32 + 4).to_be_bytes());
    out.extend(crc32fast::hash(&covered).to_be_bytes());
    out.extend(covered);
    out
}

/// A set from offset `base` on; a compressed one is one message.
pub(super) fn message_set(
    magic: i8,
    compression: Compression,
    base: i64,
    append_time: Option<i64>,
    messages: &[Message<'_>],
) -> Bytes {
    let flag = append_time.map_or(0, |_| APPEND_TIME);
    if compression == Compression::None {
        let stamped = |m: &Message<'_>| append_time.unwrap_or(m.timestamp);
        let write = |(m, offset)| {
            message(
                magic,
                flag,
                offset,
                &Message {
                    timestamp: stamped(m),
                    ..*m
                },
            )
        };
        return messages.iter().zip(base..).flat_map(write).collect();
    }
    let first = if magic == 0 { base } else { 0 };
    let inner: Vec<u8> = messages
        .iter()
        .zip(first..)
        .flat_map(|(m, o)| message(magic, 0, o, m))
        .collect();
    let value = compressed(magic, compression, &inner);
    let last = base + messages.len() as i64 - 1;
    let largest = messages
        .iter()
        .map(|m| m.timestamp)
        .max()
        .unwrap_or(NO_TIMESTAMP);
    let timestamp = append_time.unwrap_or(largest);
    let wrapper = Message {
        timestamp,
        key: None,
        value: Some(&value),
    };
    message(magic, flag | compression.code(), last, &wrapper).into()
}

fn compressed(magic: i8, compression: Compression, inner: &[u8]) -> Vec<u8> {
    let mut value = codec::compress(compression.into(), inner, 0).unwrap();
    if (magic, compression) == (0, Compression::Lz4) {
        // Kafka's checksum of a frame header in format 0 is wrong: it covers the magic as well.
        value[6] = value[6].wrapping_add(1);
    }
    value
}

#[cfg(feature = "compression")]
/// A compressed message around bytes, with an outer offset.
fn wrapper(magic: i8, offset: i64, inner: &[u8]) -> Bytes {
    let value = compressed(magic, Compression::Gzip, inner);
    let code = Compression::Gzip.code();
    message(magic, code, offset, &Message::value(&value)).into()
}

#[test]
fn checksums_are_compared() {
    let field = message_set(1, Compression::None, 3, None, &[Message::value(b"x")]);
    for bit in 8 * 12..8 * field.len() {
        let mut flipped = field.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        // A flip in the magic byte makes it another format, or none.
        let batch = Batches::new(flipped.into()).next();
        assert!(
            batch.is_none_or(|b| b.and_then(|b| b.verify_crc()).is_err()),
            "bit {bit}"
        );
    }
}

#[cfg(feature = "compression")]
#[test]
fn inner_checksums_are_compared() {
    let mut inner = message(1, 0, 0, &Message::value(b"x"));
    inner.extend(message(1, 0, 1, &Message::value(b"y")));
    *inner.last_mut().unwrap() ^= 1;
    let batch = Batches::new(wrapper(1, 9, &inner)).next().unwrap().unwrap();
    batch.verify_crc().unwrap();
    let records = batch.records(DecompressLimit::DEFAULT).unwrap();
    let mut records = records.iter();
    assert_eq!(records.next().unwrap().unwrap().offset(), Offset(8));
    let error = records.next().unwrap().unwrap_err();
    assert!(
        matches!(
            error,
            RecordsError::Crc {
                offset: Offset(1),
                ..
            }
        ),
        "{error}"
    );
    assert!(records.next().is_none());
}

#[cfg(feature = "compression")]
#[test]
fn relative_offsets_end_at_the_outer_one() {
    let inner = |offsets: &[i64]| -> Vec<u8> {
        offsets
            .iter()
            .flat_map(|o| message(1, 0, *o, &Message::value(b"x")))
            .collect()
    };
    let offsets = |outer, offsets: &[i64]| {
        read_all(wrapper(1, outer, &inner(offsets))).map(|records| {
            records
                .iter()
                .map(|record| record.offset)
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(offsets(12, &[0, 1, 2]), Ok(vec![10, 11, 12]));
    // Compaction leaves gaps.
    assert_eq!(offsets(12, &[1, 5]), Ok(vec![8, 12]));
    // Some clients wrote absolute offsets, some an outer offset of 0.
    assert_eq!(offsets(12, &[10, 11, 12]), Ok(vec![10, 11, 12]));
    assert_eq!(offsets(0, &[0, 1, 2]), Ok(vec![0, 1, 2]));
    assert_eq!(
        offsets(1, &[0, 2]),
        Err(RecordsError::InnerOffset { outer: 1, last: 2 })
    );
    let far = Err(RecordsError::InnerOffset {
        outer: i64::MAX,
        last: -1,
    });
    assert_eq!(offsets(i64::MAX, &[-1]), far);
}

#[cfg(feature = "compression")]
#[test]
fn broken_wrappers_are_errors() {
    let x = message(1, 0, 0, &Message::value(b"x"));
    let none = Err(RecordsError::NoInnerMessage { offset: Offset(4) });
    assert_eq!(read_all(wrapper(1, 4, b"")), none);
    assert_eq!(read_all(wrapper(1, 4, &x[..x.len() - 1])), none);
    let null = Message {
        timestamp: 1,
        key: None,
        value: None,
    };
    assert_eq!(read_all(message(1, 1, 4, &null).into()), none);
    let other = message(0, 0, 0, &Message::value(b"x"));
    let error = RecordsError::InnerMagic {
        index: 0,
        inner: 0,
        outer: 1,
    };
    assert_eq!(read_all(wrapper(1, 4, &other)), Err(error));
    let nested = wrapper(1, 0, &x);
    let error = RecordsError::NestedCompression { index: 0 };
    assert_eq!(read_all(wrapper(1, 4, &nested)), Err(error));
    let mut short = x.clone();
    short[8..12].copy_from_slice(&13i32.to_be_bytes());
    let error = RecordsError::BatchLength {
        at: 0,
        said: 13,
        least: 14,
    };
    assert_eq!(read_all(wrapper(1, 4, &short)), Err(error));
    // A whole message and the start of one: Apache's readers stop there.
    let cut = [&x[..], &x[..20]].concat();
    assert_eq!(
        read_all(wrapper(1, 4, &cut)).map(|records| records.len()),
        Ok(1)
    );
}

#[test]
fn fields_that_do_not_fill_the_message_are_errors() {
    let good = message(
        1,
        0,
        3,
        &Message {
            timestamp: 1,
            key: Some(b"k"),
            value: Some(b"v"),
        },
    );
    let mut wrong = good.clone();
    wrong[29] = 0;
    let batch = Batches::new(wrong.into()).next().unwrap().unwrap();
    let records = batch.records(DecompressLimit::DEFAULT).unwrap();
    assert!(records.iter().next().unwrap().is_err());
    assert!(records.declared_count().is_none());
}
