use alloc::vec::Vec;
use core::mem::take;

use bytes::Bytes;

use super::{EncodeError, Writer};

/// Length of a sink's block: most messages fit. It is on the stack and made anew for each message.
pub(super) const BLOCK: usize = 512;

/// The most that is reserved on a guess, in bytes.
const EXPECT_MAX: usize = 1 << 20;

/// Where a [`Writer`] writes: a message in the making.
///
/// What is written goes into a block of fixed length first, which is emptied into a buffer when it is
/// full. Every position in the block is checked against a constant, no memory is set to zero only
/// to be written over, and nobody needs to know the message's length before.
#[derive(Debug)]
pub struct Sink<'m> {
    pub(super) block: [u8; BLOCK],
    /// What came before the bytes in the block.
    buf: Vec<u8>,
    error: Option<EncodeError>,
    /// The least length at which bytes are shared now.
    share_min: usize,
    /// Byte arrays and records that are not copied, each with its position in the buffer.
    shares: Vec<(usize, &'m Bytes)>,
}

impl<'m> Sink<'m> {
    /// The least length at which bytes are shared: below it a copy is cheaper than a segment.
    pub const SHARE_MIN: usize = 1024;

    #[inline(always)]
    pub(super) const fn new() -> Self {
        Self {
            block: [0; BLOCK],
            buf: Vec::new(),
            error: None,
            share_min: Self::SHARE_MIN,
            shares: Vec::new(),
        }
    }

    #[inline(always)]
    pub(super) fn writer(&mut self) -> Writer<'_, 'm> {
        Writer::new(self)
    }

    /// Keeps why the message cannot be encoded. Writing goes on, without a branch for it.
    #[cold]
    #[inline(never)]
    pub(super) fn refuse(&mut self, error: EncodeError) {
        self.error.get_or_insert(error);
    }

    /// The first thing that was refused.
    pub(super) fn check(&self) -> Result<(), EncodeError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Moves the first `at` bytes of the block into the buffer.
    #[cold]
    #[inline(never)]
    pub(super) fn flush(&mut self, at: usize) {
        if self.buf.capacity() == 0 {
            self.buf.reserve(4 * BLOCK);
        }
        self.buf.extend_from_slice(&self.block[..at]);
    }

    /// Reserves memory for `len` bytes after the first `at` of the block.
    pub(super) fn expect(&mut self, at: usize, len: usize) {
        let len = at + len.min(EXPECT_MAX);
        if len > BLOCK {
            // Elements are of much the same length, not of the same.
            self.buf.reserve(len + len / 8);
        }
    }

    /// Writes bytes after the first `at` of the block, which is empty then.
    #[cold]
    #[inline(never)]
    pub(super) fn append(&mut self, at: usize, bytes: &[u8]) {
        self.flush(at);
        self.buf.extend_from_slice(bytes);
    }

    /// How many bytes came before those in the block.
    #[inline]
    pub(super) fn flushed(&self) -> usize {
        self.buf.len()
    }

    /// Makes the byte at `start` a gap of `gap` bytes; everything is in the buffer.
    pub(super) fn widen(&mut self, start: usize, gap: usize) -> &mut [u8] {
        let end = self.buf.len();
        self.buf.resize(end + gap - 1, 0);
        self.buf.copy_within(start + 1..end, start + gap);
        &mut self.buf[start..start + gap]
    }

    /// Whether bytes of such a length are shared.
    #[inline(always)]
    pub(super) fn shares(&self, len: usize) -> bool {
        len >= self.share_min
    }

    /// Takes bytes over that go after the first `at` in the block.
    #[inline(never)]
    pub(super) fn share(&mut self, at: usize, bytes: &'m Bytes) {
        if self.shares.len() == self.shares.capacity() {
            // Who shares more than a few shares many: a batch for each partition.
            self.shares.reserve(8 * self.shares.len().max(2));
        }
        self.shares.push((self.buf.len() + at, bytes));
    }

    /// Sets from which length on bytes are shared, and says what held before.
    pub(super) fn set_share_min(&mut self, len: usize) -> usize {
        core::mem::replace(&mut self.share_min, len)
    }

    /// The length with everything that is shared, where `at` bytes are in the block.
    pub(super) fn len(&self, at: usize) -> usize {
        let shared = self.shares.iter().map(|(_, bytes)| bytes.len());
        self.buf.len() + at + shared.sum::<usize>()
    }

    /// Writes over the first bytes.
    pub(super) fn set_start(&mut self, bytes: [u8; 4]) {
        let start = match self.buf.first_chunk_mut() {
            Some(start) => Some(start),
            None => self.block.first_chunk_mut(),
        };
        if let Some(start) = start {
            *start = bytes;
        }
    }

    /// What was written, of which the last `at` bytes are in the block, and what is shared.
    #[inline(always)]
    pub(super) fn finish(&mut self, at: usize) -> (Bytes, Vec<(usize, &'m Bytes)>) {
        let bytes = if self.buf.is_empty() {
            Bytes::copy_from_slice(&self.block[..at])
        } else {
            self.finish_long(at)
        };
        (bytes, take(&mut self.shares))
    }

    #[inline(never)]
    fn finish_long(&mut self, at: usize) -> Bytes {
        let end = &self.block[..at];
        let len = self.buf.len() + at;
        if len <= 4 * BLOCK {
            // A short copy costs less than giving back what the buffer has too much.
            let mut bytes = Vec::with_capacity(len);
            bytes.extend_from_slice(&self.buf);
            bytes.extend_from_slice(end);
            return Bytes::from(bytes);
        }
        let mut buf = take(&mut self.buf);
        buf.reserve_exact(at);
        buf.extend_from_slice(end);
        buf.shrink_to_fit();
        Bytes::from(buf)
    }
}
