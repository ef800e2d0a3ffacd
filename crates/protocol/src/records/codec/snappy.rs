use alloc::string::{String, ToString};
use alloc::vec::Vec;

use snap::raw::{Decoder, Encoder, decompress_len, max_compress_len};

use super::{Fault, broken, buffer, grow};

/// What every stream of snappy-java starts with; Apache's Java client writes those, several other
/// clients one raw block.
const MAGIC: [u8; 8] = *b"\x82SNAPPY\0";
/// The magic, then the version and the oldest version that can read it, both 1.
const STREAM_HEADER: [u8; 16] = *b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01";
/// The most that snappy-java puts in a block, before compression.
const BLOCK_LEN: usize = 32 << 10;
/// Snappy's densest element makes 64 bytes of 3.
const MAX_RATIO: usize = 22;

pub(super) fn decompress(input: &[u8], limit: usize) -> Result<Vec<u8>, Fault> {
    let mut output = Vec::new();
    let Some(mut rest) = after_stream_header(input) else {
        block(input, &mut output, limit)?;
        return Ok(output);
    };
    while !rest.is_empty() {
        // Streams that were joined have a header between blocks. Its start is no possible length.
        if let Some(after) = after_stream_header(rest) {
            rest = after;
            continue;
        }
        let (len, after) = rest
            .split_first_chunk::<4>()
            .ok_or_else(|| broken("cut length"))?;
        let len = u32::from_be_bytes(*len) as usize;
        let (compressed, after) = after
            .split_at_checked(len)
            .ok_or_else(|| broken("a block goes past the end"))?;
        block(compressed, &mut output, limit)?;
        rest = after;
    }
    Ok(output)
}

fn after_stream_header(input: &[u8]) -> Option<&[u8]> {
    // The versions are not looked at: only one was ever written, and snappy-java reads on too.
    (input.starts_with(&MAGIC) && input.len() >= STREAM_HEADER.len())
        .then(|| &input[STREAM_HEADER.len()..])
}

fn block(compressed: &[u8], output: &mut Vec<u8>, limit: usize) -> Result<(), Fault> {
    let claimed = decompress_len(compressed).map_err(broken)?;
    // The claim is checked before it is believed: memory grows with what was sent, not with it.
    if claimed > compressed.len().saturating_mul(MAX_RATIO) {
        return Err(broken("a block claims more than it can hold"));
    }
    let start = output.len();
    if claimed > limit - start {
        return Err(Fault::Limit);
    }
    grow(output, claimed, limit);
    output.resize(start + claimed, 0);
    Decoder::new()
        .decompress(compressed, &mut output[start..])
        .map_err(broken)?;
    Ok(())
}

pub(super) fn compress(input: &[u8], head: usize) -> Result<Vec<u8>, String> {
    let block_room = 4 + max_compress_len(input.len().min(BLOCK_LEN));
    let room = STREAM_HEADER.len() + input.len().div_ceil(BLOCK_LEN) * block_room;
    let mut out = buffer(head, room);
    out.extend_from_slice(&STREAM_HEADER);
    let mut encoder = Encoder::new();
    for chunk in input.chunks(BLOCK_LEN) {
        let start = out.len();
        out.resize(start + 4 + max_compress_len(chunk.len()), 0);
        let len = encoder
            .compress(chunk, &mut out[start + 4..])
            .map_err(|e| e.to_string())?;
        out[start..start + 4].copy_from_slice(&(len as u32).to_be_bytes());
        out.truncate(start + 4 + len);
    }
    Ok(out)
}
