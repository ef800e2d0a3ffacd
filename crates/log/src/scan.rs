use std::io;
use std::sync::Arc;

use klamm_protocol::records::BatchHeader;
use klamm_protocol::{LeaderEpoch, Offset};

use crate::error::Damage;
use crate::storage::File;

/// Where the bytes start that a batch's length field counts.
const LENGTH_COUNTS_FROM: u64 = 12;
/// Where the bytes start that a batch's CRC covers.
const CRC_COVERS_FROM: u64 = 21;
/// Where the magic byte is.
const MAGIC_AT: usize = 16;

/// A batch in a segment's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Where it begins.
    pub(crate) position: u64,
    /// All its bytes.
    pub(crate) len: u64,
    pub(crate) header: BatchHeader,
}

impl Found {
    /// Where the next batch begins.
    pub(crate) fn end(&self) -> u64 {
        self.position + self.len
    }
}

/// What is at a position of a segment's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Batch(Found),
    End,
    Bad(Damage),
}

/// What a batch has to fit to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// The segment's base offset: other offsets are at most 2^31 - 1 from it.
    pub(crate) base: Offset,
    /// Whether every offset is there, as in a log that is never compacted.
    pub(crate) contiguous: bool,
}

impl Rules {
    /// Compares a batch's header with what came before it.
    pub(crate) fn check(
        &self,
        header: &BatchHeader,
        next: Offset,
        epoch: LeaderEpoch,
    ) -> Result<(), Damage> {
        let said = header.base_offset;
        if said < next || self.contiguous && said != next {
            return Err(Damage::BaseOffset {
                said,
                expected: next,
            });
        }
        let last = header.last_offset();
        let in_reach = last.0.checked_sub(self.base.0);
        let in_reach = in_reach.is_some_and(|delta| delta <= i64::from(i32::MAX));
        if header.last_offset_delta < 0 || last.0 == i64::MAX || !in_reach {
            return Err(Damage::LastOffset(last));
        }
        if header.partition_leader_epoch < epoch {
            return Err(Damage::Epoch {
                said: header.partition_leader_epoch,
                previous: epoch,
            });
        }
        Ok(())
    }
}

/// Walks over the batches of a segment's file with a buffer of bounded size, however long a batch
/// is, or says to be.
#[derive(Debug)]
pub(crate) struct Scanner {
    file: Arc<dyn File>,
    end: u64,
    position: u64,
    buf: Vec<u8>,
    buf_at: u64,
    window: usize,
}

impl Scanner {
    /// From `position` to `end`, reading about `window` bytes at a time.
    pub(crate) fn new(file: Arc<dyn File>, position: u64, end: u64, window: usize) -> Self {
        Self {
            file,
            end,
            position,
            buf: Vec::new(),
            buf_at: 0,
            window: window.max(BatchHeader::LEN),
        }
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    pub(crate) fn seek(&mut self, position: u64) {
        self.position = position;
    }

    /// The header at the position, and steps over its batch. Its records are not looked at.
    pub(crate) fn step(&mut self) -> io::Result<Step> {
        let at = self.position;
        let there = self.end - at;
        if there == 0 {
            return Ok(Step::End);
        }
        let bytes = self.bytes(at, BatchHeader::LEN)?;
        // A bad length or magic tells more than that the rest is missing.
        if let Some(length) = bytes.get(8..12) {
            let length = i32::from_be_bytes(length.try_into().expect("these are 4 bytes"));
            if i64::from(length) < BatchHeader::LEN as i64 - LENGTH_COUNTS_FROM as i64 {
                return Ok(Step::Bad(Damage::Length(length)));
            }
        }
        if let Some(&magic) = bytes.get(MAGIC_AT).filter(|&&magic| magic != 2) {
            return Ok(Step::Bad(Damage::Magic(magic as i8)));
        }
        let Some(header) = bytes.first_chunk() else {
            return Ok(Step::Bad(Damage::Incomplete { there }));
        };
        let header = BatchHeader::from_bytes(header);
        let len = LENGTH_COUNTS_FROM + header.batch_length as u64;
        if len > there {
            return Ok(Step::Bad(Damage::Incomplete { there }));
        }
        self.position = at + len;
        Ok(Step::Batch(Found {
            position: at,
            len,
            header,
        }))
    }

    /// Like [`Scanner::step`], with the CRC compared.
    pub(crate) fn step_verified(&mut self) -> io::Result<Step> {
        let step = self.step()?;
        let Step::Batch(found) = step else {
            return Ok(step);
        };
        let mut computed = 0;
        let mut at = found.position + CRC_COVERS_FROM;
        while at < found.end() {
            let left = usize::try_from(found.end() - at).unwrap_or(usize::MAX);
            let bytes = self.bytes(at, left.min(self.window))?;
            if bytes.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            computed = crc32c::crc32c_append(computed, bytes);
            at += bytes.len() as u64;
        }
        let said = found.header.crc;
        if said != computed {
            self.position = found.position;
            return Ok(Step::Bad(Damage::Crc { said, computed }));
        }
        Ok(Step::Batch(found))
    }

    /// At most `len` bytes from a position, fewer at the end.
    pub(crate) fn bytes(&mut self, at: u64, len: usize) -> io::Result<&[u8]> {
        let left = usize::try_from(self.end.saturating_sub(at)).unwrap_or(usize::MAX);
        let len = len.min(left);
        let buffered = self.buf_at..self.buf_at + self.buf.len() as u64;
        let is_there = buffered.contains(&at) && at + len as u64 <= buffered.end;
        if !is_there && len > 0 {
            self.buf.clear();
            self.buf_at = at;
            let window = self.window.max(len).min(left);
            self.file.read_full(&mut self.buf, window, at)?;
        }
        let start = usize::try_from(at - self.buf_at.min(at)).unwrap_or(usize::MAX);
        let bytes = self.buf.get(start..).unwrap_or_default();
        Ok(&bytes[..len.min(bytes.len())])
    }
}
