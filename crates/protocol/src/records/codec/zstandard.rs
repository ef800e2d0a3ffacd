use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::cell::Cell;
use std::io::Cursor;

use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall;
use zstd::zstd_safe::{CCtx, DCtx, compress_bound, get_error_name, get_frame_content_size};

use super::{Fault, broken, buffer};

/// A size that a frame states is believed up to this many times its own length.
const BELIEVED_RATIO: usize = 64;
/// What is allocated for any frame at the least, in bytes.
const LEAST_ROOM: usize = 4 << 10;

/// A compression context that has grown beyond this many bytes (at the highest levels) is not kept.
const KEPT_ENCODER_LEN: usize = 4 << 20;

std::thread_local! {
    // Making a context takes twice as long as using it on a batch of the usual size. Each thread
    // keeps one; nothing of a batch stays in it.
    static DECODER: Cell<Option<DCtx<'static>>> = const { Cell::new(None) };
    static ENCODER: Cell<Option<CCtx<'static>>> = const { Cell::new(None) };
}

/// Reads one or more frames in single passes.
///
/// A single pass uses the output as its window. A streaming decoder would allocate the window that
/// a frame's header asks for, up to 128 MiB for a batch of a few bytes, and refusing large windows
/// would refuse honest producers with a high `compression.zstd.level`. So the output is sized by a
/// guess, and a guess that was too small is enlarged fourfold: all failed passes together cost a
/// third of the last one.
pub(super) fn decompress(input: &[u8], limit: usize) -> Result<Vec<u8>, Fault> {
    let most = input
        .len()
        .saturating_mul(BELIEVED_RATIO)
        .saturating_add(LEAST_ROOM);
    let guess = match get_frame_content_size(input) {
        Ok(Some(size)) => usize::try_from(size).unwrap_or(usize::MAX).min(most),
        // Apache's Java client streams, so its frames do not state their size.
        _ => input.len().saturating_mul(8).saturating_add(LEAST_ROOM),
    };
    let context = DECODER.take().or_else(DCtx::try_create);
    let mut context = context.ok_or_else(|| broken("out of memory"))?;
    let result = decompress_guessing(&mut context, input, guess, limit);
    DECODER.set(Some(context));
    result
}

fn decompress_guessing(
    context: &mut DCtx<'_>,
    input: &[u8],
    guess: usize,
    limit: usize,
) -> Result<Vec<u8>, Fault> {
    let mut room = guess.min(limit);
    let mut output = Vec::new();
    loop {
        output.reserve_exact(room);
        let Err(code) = context.decompress(&mut output, input) else {
            break;
        };
        if code.wrapping_neg() != ZSTD_error_dstSize_tooSmall as usize {
            return Err(broken(get_error_name(code)));
        }
        if room >= limit {
            return Err(Fault::Limit);
        }
        output = Vec::new();
        room = room.saturating_mul(4).max(LEAST_ROOM).min(limit);
    }
    // The allocator may have given more room than was asked for.
    if output.len() > limit {
        Err(Fault::Limit)
    } else {
        Ok(output)
    }
}

/// Writes one frame that states its size.
pub(super) fn compress(input: &[u8], level: Option<i32>, head: usize) -> Result<Vec<u8>, String> {
    let context = ENCODER.take().or_else(CCtx::try_create);
    let mut context = context.ok_or_else(|| "out of memory".to_string())?;
    let mut out = Cursor::new(buffer(head, compress_bound(input.len())));
    out.set_position(head as u64);
    context
        .compress(
            &mut out,
            input,
            level.unwrap_or(zstd::DEFAULT_COMPRESSION_LEVEL),
        )
        .map_err(|code| get_error_name(code).to_string())?;
    if context.sizeof() <= KEPT_ENCODER_LEN {
        ENCODER.set(Some(context));
    }
    Ok(out.into_inner())
}
