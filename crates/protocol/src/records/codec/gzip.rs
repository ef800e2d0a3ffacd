use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::io::{Read, Write};

use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;

use super::{Fault, broken, buffer, grow};

/// Reads one or more members, as Java's `GZIPInputStream` does.
pub(super) fn decompress(input: &[u8], limit: usize) -> Result<Vec<u8>, Fault> {
    // One byte past the limit tells "too much" from "just enough".
    let most = limit.saturating_add(1);
    let mut input = input;
    let mut output = Vec::new();
    grow(
        &mut output,
        input.len().saturating_mul(3).clamp(1, most),
        most,
    );
    loop {
        check_extra_field(input)?;
        let mut decoder = GzDecoder::new(&mut input);
        loop {
            let room = output.capacity() - output.len();
            // `read_to_end` alone would double the buffer past the limit.
            let mut part = decoder.by_ref().take(room as u64);
            let len = part.read_to_end(&mut output).map_err(broken)?;
            if output.len() > limit {
                return Err(Fault::Limit);
            }
            if len < room {
                break;
            }
            grow(&mut output, 1, most);
        }
        if input.is_empty() {
            return Ok(output);
        }
    }
}

/// Refuses a member whose header claims a longer extra field than there are bytes: the decoder
/// allocates what is claimed, up to 64 KiB, before it looks.
fn check_extra_field(member: &[u8]) -> Result<(), Fault> {
    const FLAGS_AT: usize = 3;
    const HAS_EXTRA: u8 = 4;
    let [.., low, high] = match member.first_chunk::<12>() {
        Some(header) if header[FLAGS_AT] & HAS_EXTRA != 0 => header,
        _ => return Ok(()),
    };
    if usize::from(u16::from_le_bytes([*low, *high])) > member.len() {
        return Err(broken(
            "the gzip header's extra field is longer than the data",
        ));
    }
    Ok(())
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
