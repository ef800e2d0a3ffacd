use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The longest file that is read. A list of a million partitions has less; a device never ends.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Reads a file that a person names.
pub(crate) fn file(path: &Path) -> io::Result<Vec<u8>> {
    limited(File::open(path)?, MAX_BYTES)
}

/// Reads standard input to its end.
pub(crate) fn standard() -> io::Result<Vec<u8>> {
    limited(io::stdin(), MAX_BYTES)
}

/// Bytes that have to be UTF-8.
pub(crate) fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::other(format!("it is not UTF-8: byte {at} begins no character"))
    })
}

/// Reads a source to its end, unless that is more than `most` bytes away.
pub(crate) fn limited(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
        return Err(too_long(most));
    }
    Ok(bytes)
}

/// There are more than `most` bytes.
pub(crate) fn too_long(most: u64) -> io::Error {
    io::Error::other(format!("it is longer than {most} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_not_read_to_the_end() {
        let error = limited(io::repeat(b'x'), 1_000).expect_err("too long");
        assert_eq!(error.to_string(), "it is longer than 1000 bytes");
        assert_eq!(limited(&b"1234"[..], 4).expect("just fits"), b"1234");
    }

    #[test]
    fn what_is_not_utf_8_is_told_where() {
        let error = text(vec![b'a', 0xFF]).expect_err("not UTF-8");
        assert_eq!(
            error.to_string(),
            "it is not UTF-8: byte 1 begins no character"
        );
    }
}
