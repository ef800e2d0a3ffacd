use alloc::vec::Vec;

use bytes::Bytes;

use super::sink::Sink;
use super::{EncodeError, Writer};

/// A message as a list of buffers, to be written one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    /// What was written, without the shared bytes.
    buf: Bytes,
    /// Shared bytes, each with the position in `buf` that it goes before, in order.
    shared: Vec<(usize, Bytes)>,
}

impl Segments {
    /// What `write` writes.
    pub fn write<'m>(
        write: impl for<'w> FnOnce(Writer<'w, 'm>) -> Writer<'w, 'm>,
    ) -> Result<Self, EncodeError> {
        let mut sink = Sink::new();
        let at = write(sink.writer()).at();
        Self::finish(&mut sink, at)
    }

    /// What `write` writes, with its length as an int32 before it.
    pub fn write_framed<'m>(
        write: impl for<'w> FnOnce(Writer<'w, 'm>) -> Writer<'w, 'm>,
    ) -> Result<Self, EncodeError> {
        let mut sink = Sink::new();
        let mut writer = sink.writer();
        writer.i32(0);
        let at = write(writer).at();
        let len = sink.len(at) - 4;
        match i32::try_from(len) {
            Ok(len) => sink.set_start(len.to_be_bytes()),
            Err(_) => sink.refuse(EncodeError::TooLong {
                what: "frame",
                len,
                limit: i32::MAX as usize,
            }),
        }
        Self::finish(&mut sink, at)
    }

    #[inline(always)]
    fn finish(sink: &mut Sink<'_>, at: usize) -> Result<Self, EncodeError> {
        sink.check()?;
        let (buf, shares) = sink.finish(at);
        let shared = shares.into_iter().map(|(at, bytes)| (at, bytes.clone()));
        Ok(Self {
            buf,
            shared: shared.collect(),
        })
    }

    /// What `write` writes, as one buffer.
    #[inline(always)]
    pub(crate) fn write_joined<'m>(
        write: impl for<'w> FnOnce(Writer<'w, 'm>) -> Writer<'w, 'm>,
    ) -> Result<Bytes, EncodeError> {
        let mut sink = Sink::new();
        let at = write(sink.writer()).at();
        sink.check()?;
        let (buf, shares) = sink.finish(at);
        if shares.is_empty() {
            return Ok(buf);
        }
        Ok(joined(&buf, &shares))
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

/// One buffer of `buf` and what goes in between.
#[inline(never)]
fn joined(buf: &[u8], shares: &[(usize, &Bytes)]) -> Bytes {
    let shared: usize = shares.iter().map(|(_, bytes)| bytes.len()).sum();
    let mut whole = Vec::with_capacity(buf.len() + shared);
    let mut taken = 0;
    for (at, bytes) in shares {
        whole.extend_from_slice(&buf[taken..*at]);
        whole.extend_from_slice(bytes);
        taken = *at;
    }
    whole.extend_from_slice(&buf[taken..]);
    Bytes::from(whole)
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
