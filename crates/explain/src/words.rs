//! Numbers with their nouns.

use std::fmt::Display;

/// `1 byte`, `2 bytes`; `1 batch`, `2 batches`; `1 entry`, `2 entries`.
pub(crate) fn count<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    if count == N::from(1) {
        return format!("1 {noun}");
    }
    match noun.strip_suffix('y') {
        Some(stem) => format!("{count} {stem}ies"),
        None if noun.ends_with("ch") => format!("{count} {noun}es"),
        None => format!("{count} {noun}s"),
    }
}

/// `1 byte`, `2 bytes`.
pub(crate) fn bytes<N: Display + PartialEq + From<u8>>(len: N) -> String {
    count(len, "byte")
}

/// What so many are said to be: `is` of one, else `are`.
pub(crate) fn are<N: PartialEq + From<u8>>(count: N) -> &'static str {
    if count == N::from(1) { "is" } else { "are" }
}

/// The ending of what so many do: `s` of one, else nothing.
pub(crate) fn does<N: PartialEq + From<u8>>(count: N) -> &'static str {
    if count == N::from(1) { "s" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!(count(1u64, "batch"), "1 batch");
        assert_eq!(count(0usize, "batch"), "0 batches");
        assert_eq!(count(2i64, "entry"), "2 entries");
        assert_eq!(bytes(1usize), "1 byte");
        assert_eq!(bytes(-1i32), "-1 bytes");
        assert_eq!((are(1usize), are(0usize)), ("is", "are"));
        assert_eq!((does(1usize), does(2usize)), ("s", ""));
    }
}
