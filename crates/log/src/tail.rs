//! Is it the torn end of what was written last, or was something good destroyed?
//!
//! After a crash the end of a log may be anything: bytes that were written but not flushed are
//! there, or not, or are there in part. The file may be too short. Where a later page reached the
//! disk and an earlier one did not, there are zeros between. All of that is cut off, since nobody
//! was promised that it stays.
//!
//! A bit that flipped, or a block that was overwritten, must not be taken for that: cutting there
//! would lose records that were promised to stay. Two things tell the one from the other:
//!
//! - Where no whole batch follows, there is nothing to lose behind the damage: a torn end.
//! - Where one follows, it is a torn end only if the damage has the shape that a crash leaves: a
//!   sector of the disk that was never written, and reads as zeros.
//!
//! What the caller knows to be flushed is never cut.

use std::io;
use std::sync::Arc;

use klamm_protocol::Offset;
use klamm_protocol::records::BatchHeader;

use crate::error::{After, Damage};
use crate::scan::{Rules, Scanner, Step};
use crate::segment::SCAN_WINDOW;
use crate::storage::File;

/// What disks write at once. File systems write more, in multiples of it.
const SECTOR_LEN: u64 = 512;
/// A batch's base offset, which it begins with.
const BASE_OFFSET_LEN: u64 = 8;
/// A batch's base offset and length field: not all of these can be zero.
const FRAME_LEN: u64 = 12;

/// What shows that a bad batch is no torn end, if anything does.
///
/// The batch is at position `bad` of a file of `len` bytes, where the offset `next` is expected.
pub(crate) fn not_torn(
    file: &Arc<dyn File>,
    bad: u64,
    len: u64,
    damage: Damage,
    rules: Rules,
    next: Offset,
) -> io::Result<Option<After>> {
    let mut scanner = Scanner::new(Arc::clone(file), bad, len, SCAN_WINDOW);
    // Base offset and leader epoch are not covered by the CRC: the batch itself may be whole.
    let (follows, damaged_to) = match scanner.step_verified()? {
        Step::Batch(found) => {
            let offset = found.header.base_offset;
            let position = bad;
            (After::Batch { position, offset }, bad + FRAME_LEN)
        }
        _ => match next_whole_batch(file, bad, len, rules, next)? {
            // It may begin in the missing sector, with the zeros of its base offset.
            Some((position, offset)) => (
                After::Batch { position, offset },
                position + BASE_OFFSET_LEN,
            ),
            None => return Ok(None),
        },
    };
    let is_torn = has_hole(file, bad, damaged_to, damage)?;
    Ok((!is_torn).then_some(follows))
}

/// Looks for a whole batch after a bad one: its position and base offset.
fn next_whole_batch(
    file: &Arc<dyn File>,
    bad: u64,
    len: u64,
    rules: Rules,
    next: Offset,
) -> io::Result<Option<(u64, Offset)>> {
    // A batch that was skipped is a gap.
    let rules = Rules {
        contiguous: false,
        ..rules
    };
    let mut window = Scanner::new(Arc::clone(file), bad, len, SCAN_WINDOW);
    let mut candidates = Scanner::new(Arc::clone(file), bad, len, SCAN_WINDOW);
    for position in bad + 1..(len + 1).saturating_sub(BatchHeader::LEN as u64) {
        let bytes = window.bytes(position, BatchHeader::LEN)?;
        let Some(header) = bytes.first_chunk().map(BatchHeader::from_bytes) else {
            return Ok(None);
        };
        if rules
            .check(&header, next, header.partition_leader_epoch)
            .is_err()
        {
            continue;
        }
        candidates.seek(position);
        if let Step::Batch(found) = candidates.step_verified()? {
            return Ok(Some((found.position, found.header.base_offset)));
        }
    }
    Ok(None)
}

/// Whether some sector between two positions was never written.
///
/// `damage` is that of the batch at `start`. The start of its sector was written together with the
/// batch before, so the first sector to look at begins in the middle.
fn has_hole(file: &Arc<dyn File>, start: u64, end: u64, damage: Damage) -> io::Result<bool> {
    let mut bytes = Scanner::new(Arc::clone(file), start, end, SCAN_WINDOW);
    let mut at = start;
    loop {
        let sector_end = (at / SECTOR_LEN + 1) * SECTOR_LEN;
        if sector_end > end {
            return Ok(false);
        }
        let len = sector_end - at;
        let is_zero = bytes.bytes(at, len as usize)?.iter().all(|&byte| byte == 0);
        // A few zeros at the start of a batch are the upper half of its base offset; where they
        // are more than that, the base offset is not the one that comes next.
        let may_be_written = len < FRAME_LEN && !matches!(damage, Damage::BaseOffset { .. });
        if is_zero && !may_be_written {
            return Ok(true);
        }
        at = sector_end;
    }
}
