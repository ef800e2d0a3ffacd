use alloc::vec;
use alloc::vec::Vec;
use core::iter;

use bytes::Bytes;

use super::{Sizer, Writer};

/// Byte arrays and records of a message that are not copied into the buffer, each with its position
/// there.
#[derive(Debug)]
pub struct Shares<'m> {
    /// Length of the whole buffer.
    end: usize,
    /// The least length at which bytes are shared.
    min: usize,
    list: Vec<(usize, &'m Bytes)>,
}

impl<'m> Shares<'m> {
    /// The least length at which bytes are shared: below it a copy is cheaper than a segment.
    pub const MIN: usize = 1024;

    /// No bytes are shared, however long.
    pub(super) const fn none() -> Self {
        Self {
            end: 0,
            min: usize::MAX,
            list: Vec::new(),
        }
    }

    /// Takes `bytes` over if they are long enough. `left` is what the writer has left.
    #[inline(always)]
    pub(super) fn take(&mut self, bytes: &'m Bytes, left: usize) -> bool {
        let is_long = bytes.len() >= self.min;
        if is_long {
            self.push(bytes, left);
        }
        is_long
    }

    #[inline(never)]
    fn push(&mut self, bytes: &'m Bytes, left: usize) {
        self.list.push((self.end - left, bytes));
    }
}

/// A message as a list of buffers, to be written one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    /// What was written, without the shared bytes.
    buf: Bytes,
    /// Shared bytes, each with the position in `buf` that it goes before, in order.
    shared: Vec<(usize, Bytes)>,
}

impl Segments {
    /// What `write` writes, which takes `len` bytes, of which `sizer` says how many are shared.
    ///
    /// # Panics
    ///
    /// If it takes another number of bytes.
    pub fn write<'m>(
        len: usize,
        sizer: &Sizer,
        write: impl for<'w> FnOnce(Writer<'w>, &mut Shares<'m>) -> Writer<'w>,
    ) -> Self {
        let (buf, list) = written(len, sizer, write);
        let shared = list.into_iter().map(|(at, bytes)| (at, bytes.clone()));
        Self {
            buf: Bytes::from(buf),
            shared: shared.collect(),
        }
    }

    /// The same as one buffer.
    pub(crate) fn write_joined<'m>(
        len: usize,
        sizer: &Sizer,
        write: impl for<'w> FnOnce(Writer<'w>, &mut Shares<'m>) -> Writer<'w>,
    ) -> Bytes {
        let (buf, list) = written(len, sizer, write);
        if list.is_empty() {
            return Bytes::from(buf);
        }
        let mut whole = Vec::with_capacity(len);
        let mut taken = 0;
        for (at, bytes) in list {
            whole.extend_from_slice(&buf[taken..at]);
            whole.extend_from_slice(bytes);
            taken = at;
        }
        whole.extend_from_slice(&buf[taken..]);
        Bytes::from(whole)
    }

    /// The whole length, in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a frame is never empty")]
    pub fn len(&self) -> usize {
        let shared = self.shared.iter().map(|(_, bytes)| bytes.len());
        self.buf.len() + shared.sum::<usize>()
    }

    /// The buffers, in order. None of them is empty.
    pub fn iter(&self) -> SegmentsIter<'_> {
        SegmentsIter {
            buf: &self.buf,
            taken: 0,
            shared: &self.shared,
        }
    }

    /// One buffer: the only one as it is, several copied together.
    pub fn into_bytes(self) -> Bytes {
        if self.shared.is_empty() {
            return self.buf;
        }
        let mut whole = Vec::with_capacity(self.len());
        for segment in &self {
            whole.extend_from_slice(segment);
        }
        Bytes::from(whole)
    }
}

/// The buffer that `write` writes, and what goes in between.
#[inline(always)]
fn written<'m>(
    len: usize,
    sizer: &Sizer,
    write: impl for<'w> FnOnce(Writer<'w>, &mut Shares<'m>) -> Writer<'w>,
) -> (Vec<u8>, Vec<(usize, &'m Bytes)>) {
    let len = len - sizer.shared();
    let mut shares = Shares {
        end: len,
        min: Shares::MIN,
        list: Vec::with_capacity(sizer.shares()),
    };
    let mut buf = zeros(len);
    let left = write(Writer::new(&mut buf), &mut shares).left();
    assert_eq!(left, 0, "the sizer has added up what the writer writes");
    (buf, shares.list)
}

/// Memory to write over. What comes zeroed from the allocator comes late where it is little.
#[inline(always)]
fn zeros(len: usize) -> Vec<u8> {
    if len < 1024 {
        iter::repeat_n(0, len).collect()
    } else {
        vec![0; len]
    }
}

impl<'a> IntoIterator for &'a Segments {
    type Item = &'a [u8];
    type IntoIter = SegmentsIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The buffers of [`Segments`], in order.
#[derive(Clone, Debug)]
pub struct SegmentsIter<'a> {
    buf: &'a [u8],
    /// How much of `buf` came out.
    taken: usize,
    /// What did not come out yet.
    shared: &'a [(usize, Bytes)],
}

impl<'a> Iterator for SegmentsIter<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<Self::Item> {
        let end = self.shared.first().map_or(self.buf.len(), |(at, _)| *at);
        if self.taken < end {
            let segment = &self.buf[self.taken..end];
            self.taken = end;
            return Some(segment);
        }
        let ((_, segment), rest) = self.shared.split_first()?;
        self.shared = rest;
        Some(segment)
    }
}
