use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::io::{Read, Write};

use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::{Fault, broken, buffer};

/// Reads one or more members, as Java's `GZIPInputStream` does.
pub(super) fn decompress(input: &[u8], limit: usize) -> Result<Vec<u8>, Fault> {
    let mut output = Vec::with_capacity(input.len().saturating_mul(3).min(limit));
    // One byte past the limit tells "too much" from "just enough".
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    MultiGzDecoder::new(input)
        .take(most)
        .read_to_end(&mut output)
        .map_err(broken)?;
    if output.len() > limit {
        Err(Fault::Limit)
    } else {
        Ok(output)
    }
}

/// Writes one member.
pub(super) fn compress(input: &[u8], level: Option<i32>, head: usize) -> Result<Vec<u8>, String> {
    let level = level.map_or_else(flate2::Compression::default, |level| {
        flate2::Compression::new(level.unsigned_abs())
    });
    // Deflate stores what it cannot compress: 5 bytes a block of at least 16 KiB.
    let room = input.len() + input.len() / 1024 + 64;
    let mut encoder = GzEncoder::new(buffer(head, room), level);
    encoder
        .write_all(input)
        .and_then(|()| encoder.finish())
        .map_err(|e| e.to_string())
}
