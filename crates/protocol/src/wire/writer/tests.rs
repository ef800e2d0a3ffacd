use alloc::string::String;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::SmallVec;
use crate::wire::{Reader, Segments, Sizer};

/// What `write` writes into a buffer of `len` bytes.
fn written(len: usize, write: impl FnOnce(&mut Writer<'_>)) -> Bytes {
    // Whatever is not written shows.
    let mut buf = vec![0xee; len];
    let mut writer = Writer::new(&mut buf);
    write(&mut writer);
    assert_eq!(writer.left(), 0);
    Bytes::from(buf)
}

#[test]
fn strings_of_every_length_come_back() {
    for compact in [true, false] {
        for len in 0..300 {
            let text: String = (0..len).map(|i| char::from(b'!' + i as u8 % 90)).collect();
            let text = SmallString::from(text);
            let size = Sizer::new().string("text", compact, &text);
            // A string may be followed by much, by little or by nothing.
            for after in [0, 1, 20, 40, 60] {
                let bytes = written(size + after, |writer| {
                    writer.string(compact, &text);
                    writer.raw(&vec![7; after]);
                });
                let mut reader = Reader::new(&bytes);
                let mut read = SmallString::new();
                let result = reader.required_string("text", compact, &mut read);
                assert_eq!(result, Ok(()), "{len}");
                assert_eq!(read, text);
                assert_eq!(bytes[size..], vec![7; after], "{len}");
            }
        }
    }
}

#[test]
fn strings_end_at_the_same_length_in_both_directions() {
    for (len, is_fine) in [(32_767, true), (32_768, false)] {
        let text = SmallString::from("x".repeat(len));
        let mut sizer = Sizer::new();
        let size = sizer.string("text", true, &text);
        assert_eq!(sizer.check().is_ok(), is_fine);
        let bytes = written(size, |writer| writer.string(true, &text));
        let read = Reader::new(&bytes).required_string("text", true, &mut SmallString::new());
        assert_eq!(read.is_ok(), is_fine);
    }
}

#[test]
fn integers_of_every_count_come_back() {
    for compact in [true, false] {
        for count in 0..200i32 {
            let values: Vec<i32> = (0..count)
                .map(|i| i.wrapping_mul(0x0102_0304) - 7)
                .collect();
            let size = Sizer::new().len("values", compact, values.len()) + 4 * values.len();
            for after in [0, 3, 20] {
                let bytes = written(size + after, |writer| {
                    writer.i32_array(compact, &values);
                    writer.raw(&vec![7; after]);
                });
                let mut reader = Reader::new(&bytes);
                assert_eq!(reader.required_len("values", compact), Ok(values.len()));
                let mut read = SmallVec::<[i32; 4]>::new();
                assert_eq!(reader.i32s(values.len(), &mut read), Ok(()));
                assert_eq!(read.as_slice(), values);
                assert_eq!(reader.remaining(), after);
            }
        }
    }
}

#[test]
fn a_tagged_field_has_its_size_before_it() {
    for len in [0, 1, 127, 128, 16_383, 16_384, 40_000] {
        let data = Bytes::from(vec![0x5a; len]);
        let mut sizer = Sizer::new();
        let size = sizer.tagged(300, |sizer| sizer.bytes("field", true, len));
        let segments = Segments::write(8 + size, &sizer, |mut writer, _| {
            writer.i32(7);
            // Long as it may be, nothing in a tagged field is shared.
            writer.tagged(300, |mut writer, shares| {
                writer.bytes(true, &data, shares);
                writer
            });
            writer.i32(9);
            writer
        });
        assert_eq!(segments.iter().count(), 1);

        let bytes = segments.into_bytes();
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.i32(), Ok(7));
        assert_eq!(reader.unsigned_varint(), Ok(300));
        let size = reader.unsigned_varint().unwrap() as usize;
        assert_eq!(reader.remaining(), size + 4);
        let mut read = Bytes::new();
        assert_eq!(reader.required_bytes("field", true, &mut read), Ok(()));
        assert_eq!(read, data);
        assert_eq!(reader.i32(), Ok(9));
    }
}

#[test]
fn segments_share_what_is_long_and_keep_the_order() {
    let long = Bytes::from(vec![1; Shares::MIN]);
    let short = Bytes::from(vec![2; Shares::MIN - 1]);
    let mut sizer = Sizer::new();
    let parts = [&long, &short, &long];
    let len = parts
        .iter()
        .map(|bytes| sizer.bytes("part", false, bytes.len()))
        .sum();
    let segments = Segments::write(len, &sizer, |mut writer, shares| {
        for bytes in parts {
            writer.bytes(false, bytes, shares);
        }
        writer
    });
    let lens: Vec<usize> = segments.iter().map(<[u8]>::len).collect();
    let (long_len, short_len) = (long.len(), short.len());
    assert_eq!(lens, [4, long_len, 4 + short_len + 4, long_len]);
    assert_eq!(segments.len(), len);
    let shared = segments.iter().nth(1).map(<[u8]>::as_ptr);
    assert_eq!(shared, Some(long.as_ptr()));

    let whole = written(len, |writer| {
        for bytes in parts {
            writer.bytes(false, bytes, &mut Shares::none());
        }
    });
    assert_eq!(whole, segments.into_bytes());
    assert_eq!(Segments::default().iter().count(), 0);
}

/// The least buffer that `write` does not panic in.
fn needed(write: impl Fn(&mut Writer<'_>)) -> usize {
    let is_enough = |len: &usize| {
        let mut buf = vec![0; *len];
        let writing = core::panic::AssertUnwindSafe(|| write(&mut Writer::new(&mut buf)));
        std::panic::catch_unwind(writing).is_ok()
    };
    (0..200).find(is_enough).expect("200 bytes are enough")
}

#[test]
fn a_buffer_that_is_too_small_is_not_written_past() {
    let long = SmallString::from("long".repeat(12));
    assert_eq!(needed(|writer| writer.i64(1)), 8);
    assert_eq!(needed(|writer| writer.uuid(Uuid::ZERO)), 16);
    assert_eq!(needed(|writer| writer.string(true, &"short".into())), 6);
    assert_eq!(needed(|writer| writer.string(true, &long)), 49);
    assert_eq!(needed(|writer| writer.raw(long.as_bytes())), 48);
    assert_eq!(needed(|writer| writer.unsigned_varint(300)), 2);
    assert_eq!(needed(|writer| writer.i32_array(true, &[1, 2])), 9);
    assert_eq!(needed(|writer| writer.i32_array(false, &[1; 9])), 40);
    let tagged = needed(|writer| {
        writer.tagged(1, |mut writer, _| {
            writer.raw(&[0; 130]);
            writer
        });
    });
    assert_eq!(tagged, 1 + 2 + 130);
}
