use alloc::string::String;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::SmallVec;
use crate::wire::{Reader, Segments};

/// What `write` writes after `before` bytes, without those.
fn written<'m>(
    before: usize,
    write: impl FnOnce(&mut Writer<'_, 'm>),
) -> Result<Bytes, EncodeError> {
    let bytes = Segments::write_joined(|mut writer| {
        (0..before).for_each(|_| writer.i8(7));
        write(&mut writer);
        writer
    })?;
    assert!(bytes[..before].iter().all(|byte| *byte == 7));
    Ok(bytes.slice(before..))
}

/// Positions from which the end of the block is far, near, or just reached.
const BEFORE: [usize; 7] = [0, 1, BLOCK - 64, BLOCK - 39, BLOCK - 4, BLOCK - 1, BLOCK];

#[test]
fn strings_of_every_length_come_back() {
    for (compact, before) in [true, false]
        .into_iter()
        .flat_map(|c| BEFORE.map(|b| (c, b)))
    {
        for len in 0..300 {
            let text: String = (0..len).map(|i| char::from(b'!' + i as u8 % 90)).collect();
            let text = SmallString::from(text);
            for after in [0, 1, 60] {
                let bytes = written(before, |writer| {
                    writer.string("text", compact, &text);
                    writer.raw(&vec![7; after]);
                })
                .unwrap();
                let mut reader = Reader::new(&bytes);
                let mut read = SmallString::new();
                let result = reader.required_string("text", compact, &mut read);
                assert_eq!(result, Ok(()), "{len}");
                assert_eq!(read, text);
                let position = reader.position();
                assert_eq!(bytes[position..], vec![7; after], "{len}");
            }
        }
    }
}

#[test]
fn strings_end_at_the_same_length_in_both_directions() {
    for (len, is_fine) in [(32_767, true), (32_768, false)] {
        let text = "x".repeat(len);
        let string = SmallString::from(text.as_str());
        let result = written(0, |writer| writer.string("text", true, &string));
        let refused = EncodeError::TooLong {
            what: "text",
            len,
            limit: 32_767,
        };
        assert_eq!(result.err(), (!is_fine).then_some(refused));
        let bytes = written(0, |writer| {
            writer.unsigned_varint(len as u32 + 1);
            writer.raw(text.as_bytes());
        })
        .unwrap();
        let read = Reader::new(&bytes).required_string("text", true, &mut SmallString::new());
        assert_eq!(read.is_ok(), is_fine);
    }
}

#[test]
fn integers_of_every_count_come_back() {
    for (compact, before) in [true, false]
        .into_iter()
        .flat_map(|c| BEFORE.map(|b| (c, b)))
    {
        for count in (0..40).chain([127, 128, 129, 300, 1_000]) {
            let values: Vec<i32> = (0..count)
                .map(|i: i32| i.wrapping_mul(0x0102_0304) - 7)
                .collect();
            for after in [0, 3, 60] {
                let bytes = written(before, |writer| {
                    writer.i32_array("values", compact, &values);
                    writer.raw(&vec![7; after]);
                })
                .unwrap();
                let mut reader = Reader::new(&bytes);
                let mut again = reader_of(&bytes, compact, values.len());
                assert_eq!(reader.required_len("values", compact), Ok(values.len()));
                let mut read = SmallVec::<[i32; 4]>::new();
                assert_eq!(reader.i32s(values.len(), &mut read), Ok(()));
                assert_eq!(read.as_slice(), values);
                assert_eq!(reader.remaining(), after);
                let mut read = SmallVec::<[i32; 14]>::new();
                assert_eq!(again.i32s(values.len(), &mut read), Ok(()));
                assert_eq!(read.as_slice(), values);
                assert_eq!(again.remaining(), after);
            }
        }
    }
}

/// A reader behind the count of an array.
fn reader_of(bytes: &Bytes, compact: bool, count: usize) -> Reader<'_> {
    let mut reader = Reader::new(bytes);
    assert_eq!(reader.required_len("values", compact), Ok(count));
    reader
}

#[test]
fn a_tagged_field_has_its_size_before_it() {
    for before in BEFORE {
        for len in [0, 1, 100, 127, 128, 900, 1_020, 16_383, 16_384, 40_000] {
            let data = Bytes::from(vec![0x5a; len]);
            let segments = Segments::write(|mut writer| {
                (0..before).for_each(|_| writer.i8(7));
                // Long as it may be, nothing in a tagged field is shared.
                let mut writer = writer.tagged(300, |mut writer| {
                    writer.bytes("field", true, &data);
                    writer
                });
                writer.i32(9);
                writer
            })
            .unwrap();
            assert_eq!(segments.iter().count(), 1);

            let bytes = segments.into_bytes();
            assert!(bytes[..before].iter().all(|byte| *byte == 7));
            let bytes = bytes.slice(before..);
            let mut reader = Reader::new(&bytes);
            assert_eq!(reader.unsigned_varint(), Ok(300));
            let size = reader.unsigned_varint().unwrap() as usize;
            assert_eq!(reader.remaining(), size + 4);
            let mut read = Bytes::new();
            assert_eq!(reader.required_bytes("field", true, &mut read), Ok(()));
            assert_eq!(read, data);
            assert_eq!(reader.i32(), Ok(9));
        }
    }
}

#[test]
fn segments_share_what_is_long_and_keep_the_order() {
    let long = Bytes::from(vec![1; Sink::SHARE_MIN]);
    let short = Bytes::from(vec![2; Sink::SHARE_MIN - 1]);
    let parts = [&long, &short, &long];
    let write = |writer: &mut Writer<'_, '_>| {
        for bytes in parts {
            writer.i32(bytes.len() as i32);
            writer.raw(bytes);
        }
    };
    let segments = Segments::write(|mut writer| {
        for bytes in parts {
            writer.bytes("part", false, bytes);
        }
        writer
    })
    .unwrap();
    let lens: Vec<usize> = segments.iter().map(<[u8]>::len).collect();
    let (long_len, short_len) = (long.len(), short.len());
    assert_eq!(lens, [4, long_len, 4 + short_len + 4, long_len]);
    assert_eq!(segments.len(), lens.iter().sum::<usize>());
    let shared = segments.iter().nth(1).map(<[u8]>::as_ptr);
    assert_eq!(shared, Some(long.as_ptr()));
    assert_eq!(written(0, write), Ok(segments.into_bytes()));
    assert_eq!(Segments::default().iter().count(), 0);
}

#[test]
fn a_frame_says_how_long_it_is_with_what_is_shared() {
    let long = Bytes::from(vec![1; Sink::SHARE_MIN]);
    for short in [0, 1, BLOCK - 5, BLOCK - 4, BLOCK, 10 * BLOCK] {
        for shared in [0, 1, 20] {
            let segments = Segments::write_framed(|mut writer| {
                (0..short).for_each(|_| writer.i8(7));
                (0..shared).for_each(|_| writer.bytes("part", true, &long));
                writer
            })
            .unwrap();
            let bytes = segments.into_bytes();
            assert_eq!(bytes.len(), 4 + short + shared * (2 + long.len()));
            assert_eq!(Reader::new(&bytes).i32(), Ok(bytes.len() as i32 - 4));
        }
    }
}

#[test]
fn a_guess_of_what_comes_changes_nothing() {
    for count in [0, 1, 100, usize::MAX] {
        let bytes = Segments::write_joined(|mut writer| {
            let start = writer.position();
            writer.uuid(Uuid::ZERO);
            writer.expect(count, start);
            (0..500).for_each(|value| writer.i64(value));
            writer
        });
        assert_eq!(bytes.map(|bytes| bytes.len()), Ok(16 + 4_000));
    }
}

#[test]
fn only_the_first_refusal_is_said() {
    let result = written(0, |writer| {
        writer.refuse(EncodeError::Tag(1));
        writer.i64(1);
        writer.refuse(EncodeError::Tag(2));
    });
    assert_eq!(result, Err(EncodeError::Tag(1)));
}
