//! Bytes as texts that are written piece by piece.

use std::fmt;
use std::io;
use std::ops::Range;

use serde::ser::{Serialize, Serializer};

use crate::text::{base64_url, hex};

/// Bytes that become text at once: a multiple of 3, so that base64 pads the last ones only.
const STEP: usize = 3 << 10;

/// Lower-case hexadecimal digits, `**` for each byte of a secret.
pub(super) struct Hex<'a> {
    bytes: &'a [u8],
    hidden: Vec<Range<usize>>,
}

impl<'a> Hex<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self::without(bytes, Vec::new())
    }

    /// Leaves out the bytes in `hidden`, which is in order.
    pub(super) fn without(bytes: &'a [u8], hidden: Vec<Range<usize>>) -> Self {
        Self { bytes, hidden }
    }
}

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = |range: Range<usize>, f: &mut fmt::Formatter<'_>| {
            let mut steps = self.bytes[range].chunks(STEP);
            steps.try_for_each(|step| f.write_str(&hex(step)))
        };
        let mut at = 0;
        for range in &self.hidden {
            digits(at..range.start, f)?;
            range.clone().try_for_each(|_| f.write_str("**"))?;
            at = range.end;
        }
        digits(at..self.bytes.len(), f)
    }
}

impl Serialize for Hex<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Base64 with padding.
pub(crate) struct Base64<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Base64<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in self.0.chunks(STEP) {
            let text = base64_url(step).replace('-', "+").replace('_', "/");
            f.write_str(&text)?;
            f.write_str(match step.len() % 3 {
                0 => "",
                1 => "==",
                _ => "=",
            })?;
        }
        Ok(())
    }
}

impl Serialize for Base64<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A JSON object on one line.
pub(super) struct Line<T>(pub(super) T);

impl<T: Serialize> fmt::Display for Line<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        serde_json::to_writer(Pieces(f), &self.0).map_err(|_| fmt::Error)?;
        f.write_str("\n")
    }
}

/// Takes JSON for a formatter.
struct Pieces<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl io::Write for Pieces<'_, '_> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        // Between two calls there is always a whole character.
        let text = std::str::from_utf8(piece).map_err(io::Error::other)?;
        self.0.write_str(text).map_err(io::Error::other)?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_whole() {
        let bytes: Vec<u8> = (0..=255).cycle().take(2 * STEP + 2).collect();
        for len in (0..10).chain(STEP - 2..STEP + 3).chain([2 * STEP + 2]) {
            let bytes = &bytes[..len];
            assert_eq!(Hex::of(bytes).to_string(), hex(bytes), "{len}");
            let base64 = Base64(bytes).to_string();
            assert_eq!(base64.len(), len.div_ceil(3) * 4, "{len}");
            assert_eq!(crate::input::base64(&base64).as_deref(), Ok(bytes), "{len}");
            assert_eq!(base64.matches('=').count(), (3 - len % 3) % 3, "{len}");
        }
        let hidden = vec![0..1, 2..3];
        assert_eq!(Hex::without(b"abc", hidden).to_string(), "**62**");
    }
}
