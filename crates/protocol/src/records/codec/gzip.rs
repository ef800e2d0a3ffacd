use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::io::{Read, Write};

use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::{Fault, broken, buffer, grow};

/// Reads one or more members, as Java's `GZIPInputStream` does.
pub(super) fn decompress(input: &[u8], limit: usize) -> Result<Vec<u8>, Fault> {
    // One byte past the limit tells "too much" from "just enough".
    let most = limit.saturating_add(1);
    let mut decoder = MultiGzDecoder::new(input);
    let mut output = Vec::new();
    grow(
        &mut output,
        input.len().saturating_mul(3).clamp(1, most),
        most,
    );
    loop {
        let room = output.capacity() - output.len();
        // `read_to_end` alone would double the buffer past the limit.
        let mut part = decoder.by_ref().take(room as u64);
        let len = part.read_to_end(&mut output).map_err(broken)?;
        if output.len() > limit {
            return Err(Fault::Limit);
        }
        if len < room {
            return Ok(output);
        }
        grow(&mut output, 1, most);
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
