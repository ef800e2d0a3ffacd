//! The LZ4 frame format around the block codec of `lz4_flex`.
//!
//! That crate's own frame decoder is not used: it allocates the block size that a header claims
//! (up to 4 MiB, several times) before it has seen a block, and it cannot be told to accept the
//! header checksum of Kafka's old message sets.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use lz4_flex::block::{
    CompressTable, DecompressError, compress_into_with_table, decompress_into_with_dict,
    get_maximum_output_size,
};
use twox_hash::XxHash32;

use super::{Fault, broken, buffer, grow};

const MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
/// Version 1 in the two highest bits of the flags.
const VERSION_MASK: u8 = 0xc0;
const VERSION: u8 = 0x40;
const BLOCK_CHECKSUM: u8 = 0x10;
const CONTENT_SIZE: u8 = 0x08;
const DICTIONARY: u8 = 0x01;
/// Set in a block's length when its bytes are not compressed.
const UNCOMPRESSED: u32 = 1 << 31;
/// How far back a block may refer.
const WINDOW_LEN: usize = 64 << 10;
/// A length byte of 255 is the densest that a block can be.
const MAX_RATIO: usize = 255;

/// What Apache Kafka writes: version 1, independent blocks, no checksums; blocks of at most 64 KiB;
/// and the checksum of these two bytes.
const FRAME_HEADER: [u8; 7] = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82];
const BLOCK_LEN: usize = 64 << 10;
const END_MARK: [u8; 4] = [0; 4];

/// Reads one frame; Apache Kafka too ignores what follows it.
///
/// `any_header_checksum` is for messages of magic 0: Kafka computed their header checksum over too
/// many bytes, so its readers never look at it (KAFKA-3160).
pub(super) fn decompress(
    input: &[u8],
    any_header_checksum: bool,
    limit: usize,
) -> Result<Vec<u8>, Fault> {
    let mut input = Input(input);
    if input.take(4)? != MAGIC {
        return Err(broken("no LZ4 frame starts here"));
    }
    let descriptor = input.0;
    let [flags, block_descriptor] = input.array()?;
    if flags & VERSION_MASK != VERSION {
        return Err(broken("the LZ4 frame's version is not 1"));
    }
    if flags & DICTIONARY != 0 {
        return Err(broken("the LZ4 frame needs a dictionary"));
    }
    let block_max = match block_descriptor >> 4 & 7 {
        code @ 4..=7 => 1usize << (2 * u32::from(code) + 8),
        _ => return Err(broken("the LZ4 block size does not exist")),
    };
    if flags & CONTENT_SIZE != 0 {
        // A claim that nothing depends on.
        input.take(8)?;
    }
    let descriptor = &descriptor[..descriptor.len() - input.0.len()];
    let [checksum] = input.array()?;
    if !any_header_checksum && (XxHash32::oneshot(0, descriptor) >> 8) as u8 != checksum {
        return Err(broken("the LZ4 header checksum is wrong"));
    }

    let mut output = Vec::with_capacity(input.0.len().saturating_mul(2).min(limit));
    loop {
        let word = u32::from_le_bytes(input.array()?);
        if word == 0 {
            return Ok(output);
        }
        let len = (word & !UNCOMPRESSED) as usize;
        if len > block_max {
            return Err(broken("an LZ4 block is larger than the frame's block size"));
        }
        let block = input.take(len)?;
        if flags & BLOCK_CHECKSUM != 0
            && u32::from_le_bytes(input.array()?) != XxHash32::oneshot(0, block)
        {
            return Err(broken("an LZ4 block's checksum is wrong"));
        }
        if word & UNCOMPRESSED == 0 {
            decompress_block(block, &mut output, block_max, limit)?;
        } else if len > limit - output.len() {
            return Err(Fault::Limit);
        } else {
            grow(&mut output, len, limit);
            output.extend_from_slice(block);
        }
    }
}

fn decompress_block(
    block: &[u8],
    output: &mut Vec<u8>,
    block_max: usize,
    limit: usize,
) -> Result<(), Fault> {
    let start = output.len();
    let most = block_max.min(block.len().saturating_mul(MAX_RATIO));
    let room = most.min(limit - start);
    grow(output, room, limit);
    output.resize(start + room, 0);
    let (before, block_out) = output.split_at_mut(start);
    // Kafka's blocks are independent. Reading linked ones as well costs nothing.
    let window = &before[start.saturating_sub(WINDOW_LEN)..];
    match decompress_into_with_dict(block, block_out, window) {
        Ok(len) => {
            output.truncate(start + len);
            Ok(())
        }
        Err(DecompressError::OutputTooSmall { .. }) if room < most => Err(Fault::Limit),
        Err(error) => Err(broken(error)),
    }
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Fault> {
        let (head, rest) = self.0.split_at_checked(len).ok_or_else(cut)?;
        self.0 = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or_else(cut)?;
        self.0 = rest;
        Ok(*head)
    }
}

#[cold]
fn cut() -> Fault {
    broken("the LZ4 frame ends too early")
}

pub(super) fn compress(input: &[u8], head: usize) -> Result<Vec<u8>, String> {
    let last = get_maximum_output_size(input.len().min(BLOCK_LEN));
    let blocks = input.len().div_ceil(BLOCK_LEN);
    // A block that would grow is stored as it is, so only the last needs room for the worst case.
    let room = FRAME_HEADER.len() + blocks * 4 + input.len() + last + END_MARK.len();
    let mut out = buffer(head, room);
    out.extend_from_slice(&FRAME_HEADER);
    let mut table = CompressTable::default();
    for block in input.chunks(BLOCK_LEN) {
        let start = out.len();
        out.resize(start + 4 + get_maximum_output_size(block.len()), 0);
        let len = compress_into_with_table(block, &mut out[start + 4..], &mut table)
            .map_err(|e| e.to_string())?;
        let word = if len < block.len() {
            out.truncate(start + 4 + len);
            len as u32
        } else {
            out.truncate(start + 4);
            out.extend_from_slice(block);
            block.len() as u32 | UNCOMPRESSED
        };
        out[start..start + 4].copy_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(&END_MARK);
    Ok(out)
}
