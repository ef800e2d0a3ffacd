use std::collections::BTreeMap;
use std::format;
use std::string::ToString;
use std::vec::Vec;

use super::*;

/// Texts of every length about the limits, of ASCII and with a longer character at every place.
fn texts() -> Vec<String> {
    let mut texts = Vec::new();
    for len in 0..80usize {
        let ascii: String = (0..len).map(|i| char::from(b'!' + i as u8 % 90)).collect();
        for (at, _) in ascii.char_indices() {
            let (head, tail) = ascii.split_at(at);
            texts.push(format!("{head}ß{tail}"));
            texts.push(format!("{head}\u{1f980}{tail}"));
        }
        texts.push(ascii);
    }
    texts
}

#[test]
fn every_way_of_making_one_gives_the_same_string() {
    for text in texts() {
        let made = SmallString::from(text.as_str());
        assert_eq!(made.as_str(), text);
        assert_eq!(made.as_bytes(), text.as_bytes());
        assert_eq!(made.len(), text.len());
        assert_eq!(made.is_empty(), text.is_empty());
        assert_eq!(made, SmallString::from(text.clone()));
        assert_eq!(made, made.clone());
        assert_eq!(made, *text.as_str());
        assert_eq!(String::from(made.clone()), text);
        assert_eq!(SmallString::try_from(Bytes::from(text.clone())), Ok(made));
    }
    assert_eq!(SmallString::new(), SmallString::from_static(""));
    assert_eq!(SmallString::default(), "");
}

#[test]
fn what_follows_a_short_string_is_not_in_it() {
    for text in texts() {
        for after in [
            &[][..],
            &[0xff; 3],
            &[0xff; 60],
            b"more of the same, and even more",
        ] {
            let rest = [text.as_bytes(), after].concat();
            if text.len() <= SmallString::INLINE_MAX {
                let expected = SmallString::from(text.as_str());
                for before in ["", "short", &"long".repeat(20)] {
                    let mut string = SmallString::from(before);
                    assert!(string.set_short(&rest, text.len()));
                    assert_eq!(string, expected);
                }
            }
        }
    }
}

#[test]
fn no_string_is_made_of_what_is_not_utf_8() {
    for len in 1..80usize {
        for at in 0..len {
            let mut bytes = Vec::from_iter((0..len).map(|i| b'!' + i as u8 % 90));
            bytes[at] |= 0x80;
            if len <= SmallString::INLINE_MAX {
                let mut string = SmallString::new();
                assert!(!string.set_short(&bytes, len), "{len} {at}");
                assert!(!string.set_short(&bytes[..at], len), "{len} {at}");
                assert_eq!(string, "");
            }
            assert!(SmallString::try_from(Bytes::from(bytes)).is_err());
        }
    }
}

#[test]
fn they_are_keys_as_strings_are() {
    let texts = texts();
    let map: BTreeMap<SmallString, usize> = texts
        .iter()
        .map(|text| SmallString::from(text.as_str()))
        .zip(0..)
        .collect();
    let plain: BTreeMap<&str, usize> = texts.iter().map(String::as_str).zip(0..).collect();
    assert!(map.values().eq(plain.values()));
    for (text, index) in &plain {
        assert_eq!(map.get(*text), Some(index));
    }
    let set: std::collections::HashSet<_> = map.keys().cloned().collect();
    assert!(texts.iter().all(|text| set.contains(text.as_str())));
    assert!(!set.contains("\u{1f980}\u{1f980}"));
}

#[test]
fn they_are_shown_as_strings_are() {
    for text in ["", "orders", "say \"ä\"\n", &"long ".repeat(20)] {
        let made = SmallString::from(text);
        assert_eq!(made.to_string(), text);
        assert_eq!(format!("{made:?}"), format!("{text:?}"));
        assert_eq!(
            format!("{made:>9}|{made:<9}"),
            format!("{text:>9}|{text:<9}")
        );
    }
}

#[test]
fn an_option_takes_no_more() {
    assert_eq!(size_of::<SmallString>(), 40);
    assert_eq!(size_of::<Option<SmallString>>(), 40);
}
