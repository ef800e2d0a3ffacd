use std::vec;

use super::*;
use crate::wire::Reader;

#[test]
fn strings_of_every_length_come_back() {
    for compact in [true, false] {
        for len in 0..300 {
            let text: std::string::String =
                (0..len).map(|i| char::from(b'!' + i as u8 % 90)).collect();
            let mut sizer = Sizer::new();
            assert_eq!(sizer.string("text", compact, len), Ok(()));
            let mut writer = Writer::one_buffer(sizer.total());
            writer.string(compact, &text.as_str().into());
            let bytes = writer.into_bytes();
            assert_eq!(bytes.len(), sizer.total(), "{len}");
            let read = Reader::new(&bytes).required_string("text", compact);
            assert_eq!(read.as_deref(), Ok(text.as_str()), "{len}");
        }
    }
}

#[test]
fn strings_end_at_the_same_length_in_both_directions() {
    for (len, is_fine) in [(32_767, true), (32_768, false)] {
        let text = "x".repeat(len);
        let mut sizer = Sizer::new();
        assert_eq!(sizer.string("text", true, len).is_ok(), is_fine);
        let mut writer = Writer::one_buffer(0);
        writer.string(true, &text.into());
        let bytes = writer.into_bytes();
        let read = Reader::new(&bytes).required_string("text", true);
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
            let mut writer = Writer::one_buffer(0);
            writer.i32_array(compact, &values);
            let bytes = writer.into_bytes();
            let mut reader = Reader::new(&bytes);
            assert_eq!(reader.required_len("values", compact), Ok(values.len()));
            let read = reader.i32s(values.len()).map(|read| read.to_vec());
            assert_eq!(read, Ok(values));
            assert_eq!(reader.remaining(), 0);
        }
    }
}

#[test]
fn a_tagged_field_has_its_size_before_it() {
    for len in [0, 1, 127, 128, 16_383, 16_384, 40_000] {
        let mut writer = Writer::segmented(0);
        writer.i32(7);
        // Long as it may be, nothing in a tagged field is shared.
        writer.tagged(300, |writer| {
            writer.bytes(true, &Bytes::from(vec![0x5a; len]))
        });
        writer.i32(9);
        let segments = writer.into_segments();
        assert_eq!(segments.iter().count(), 1);

        let bytes = segments.into_bytes();
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.i32(), Ok(7));
        assert_eq!(reader.unsigned_varint(), Ok(300));
        let size = reader.unsigned_varint().unwrap() as usize;
        assert_eq!(reader.remaining(), size + 4);
        assert_eq!(
            reader.required_bytes("field", true).map(|b| b.len()),
            Ok(len)
        );
        assert_eq!(reader.i32(), Ok(9));
    }
}

#[test]
fn segments_share_what_is_long_and_keep_the_order() {
    let long = Bytes::from(vec![1; Writer::SHARE_MIN]);
    let short = Bytes::from(vec![2; Writer::SHARE_MIN - 1]);
    let mut writer = Writer::segmented(0);
    writer.bytes(false, &long);
    writer.bytes(false, &short);
    writer.bytes(false, &long);
    let segments = writer.into_segments();
    let lens: Vec<usize> = segments.iter().map(<[u8]>::len).collect();
    let (long_len, short_len) = (long.len(), short.len());
    assert_eq!(lens, [4, long_len, 4 + short_len + 4, long_len]);
    assert_eq!(segments.len(), lens.iter().sum::<usize>());
    let shared = segments.iter().nth(1).map(<[u8]>::as_ptr);
    assert_eq!(shared, Some(long.as_ptr()));

    let mut writer = Writer::one_buffer(0);
    for bytes in [&long, &short, &long] {
        writer.bytes(false, bytes);
    }
    assert_eq!(writer.into_bytes(), segments.into_bytes());
    assert_eq!(Segments::default().iter().count(), 0);
}
