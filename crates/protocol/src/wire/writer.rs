use alloc::vec::Vec;

use bytes::Bytes;

use super::varint::{put_unsigned, unsigned_varint_len};
use super::{Fixed, Sizer};
use crate::{SmallString, Uuid};

/// Writes primitive types at the end of a buffer that was sized before.
///
/// A segmented writer takes byte arrays and records of [`Writer::SHARE_MIN`] bytes and more over as
/// they are, without a copy: what it makes is a list of [`Segments`] for a vectored write.
#[derive(Debug)]
pub struct Writer {
    buf: Vec<u8>,
    /// Shared bytes, each with the position in `buf` that it goes before.
    shared: Vec<(usize, Bytes)>,
    share_min: usize,
}

impl Writer {
    /// The least length at which bytes are shared: below it a copy is cheaper than a segment.
    pub const SHARE_MIN: usize = 1024;

    /// A writer into one buffer, with room for `len` bytes.
    pub fn one_buffer(len: usize) -> Self {
        Self {
            buf: Vec::with_capacity(len),
            shared: Vec::new(),
            share_min: usize::MAX,
        }
    }

    /// A writer into segments, with room for `len` bytes that are not shared.
    pub fn segmented(len: usize) -> Self {
        Self {
            buf: Vec::with_capacity(len),
            shared: Vec::new(),
            share_min: Self::SHARE_MIN,
        }
    }

    /// A writer into segments, with room for `prefix` bytes and what `sizer` has added up.
    pub(crate) fn segmented_for(prefix: usize, sizer: &Sizer) -> Self {
        let mut writer = Self::segmented(prefix + sizer.total() - sizer.shared());
        writer.shared.reserve_exact(sizer.shares());
        writer
    }

    /// What was written, as one buffer. Shared bytes are copied, if there are any.
    pub fn into_bytes(self) -> Bytes {
        if self.shared.is_empty() {
            return Bytes::from(self.buf);
        }
        self.into_segments().into_bytes()
    }

    /// What was written, as segments in order.
    pub fn into_segments(self) -> Segments {
        Segments {
            buf: Bytes::from(self.buf),
            shared: self.shared,
        }
    }

    /// Writes bytes as they are.
    #[inline(always)]
    pub fn raw(&mut self, bytes: &[u8]) {
        self.buf.extend_from_slice(bytes);
    }

    /// Writes neighbouring fields of fixed size.
    #[inline(always)]
    pub fn fixed<const N: usize>(&mut self, fields: Fixed<N>) {
        self.buf.extend_from_slice(&fields.into_bytes());
    }

    /// Writes 1 for true, 0 for false.
    #[inline(always)]
    pub fn bool(&mut self, value: bool) {
        self.buf.push(u8::from(value));
    }

    /// Writes an 8-bit integer.
    #[inline(always)]
    pub fn i8(&mut self, value: i8) {
        self.buf.push(value as u8);
    }

    /// Writes a big-endian 16-bit integer.
    #[inline(always)]
    pub fn i16(&mut self, value: i16) {
        self.raw(&value.to_be_bytes());
    }

    /// Writes a big-endian unsigned 16-bit integer.
    #[inline(always)]
    pub fn u16(&mut self, value: u16) {
        self.raw(&value.to_be_bytes());
    }

    /// Writes a big-endian 32-bit integer.
    #[inline(always)]
    pub fn i32(&mut self, value: i32) {
        self.raw(&value.to_be_bytes());
    }

    /// Writes a big-endian unsigned 32-bit integer.
    #[inline(always)]
    pub fn u32(&mut self, value: u32) {
        self.raw(&value.to_be_bytes());
    }

    /// Writes a big-endian 64-bit integer.
    #[inline(always)]
    pub fn i64(&mut self, value: i64) {
        self.raw(&value.to_be_bytes());
    }

    /// Writes a big-endian IEEE 754 double.
    #[inline(always)]
    pub fn f64(&mut self, value: f64) {
        self.raw(&value.to_be_bytes());
    }

    /// Writes a UUID.
    #[inline(always)]
    pub fn uuid(&mut self, value: Uuid) {
        self.raw(value.as_bytes());
    }

    /// Writes an unsigned varint.
    #[inline]
    pub fn unsigned_varint(&mut self, value: u32) {
        if value < 0x80 {
            self.buf.push(value as u8);
        } else {
            put_unsigned(&mut self.buf, u64::from(value));
        }
    }

    /// Writes a string with its length, which a [`Sizer`](super::Sizer) has checked.
    #[inline(always)]
    pub fn string(&mut self, compact: bool, value: &SmallString) {
        if compact {
            self.unsigned_varint(value.len() as u32 + 1);
        } else {
            self.i16(value.len() as i16);
        }
        let value = value.as_bytes();
        match value.len() {
            8..16 => self.ends::<8>(value),
            16..32 => self.ends::<16>(value),
            _ => self.raw(value),
        }
    }

    /// Writes `N` to `2 * N` bytes as their first and last `N`, which may overlap: copies of known
    /// length are a few stores, and names are too short to pay for a call.
    #[inline(always)]
    fn ends<const N: usize>(&mut self, bytes: &[u8]) {
        let (Some(first), Some(last)) = (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) else {
            return self.raw(bytes);
        };
        let start = self.buf.len();
        self.buf.extend_from_slice(first);
        self.buf.truncate(start + bytes.len() - N);
        self.buf.extend_from_slice(last);
    }

    /// Writes a null string.
    #[inline]
    pub fn null_string(&mut self, compact: bool) {
        if compact {
            self.unsigned_varint(0);
        } else {
            self.i16(-1);
        }
    }

    /// Writes a byte array, or records, with the length.
    #[inline]
    pub fn bytes(&mut self, compact: bool, value: &Bytes) {
        self.len(compact, value.len());
        if value.len() >= self.share_min {
            self.shared.push((self.buf.len(), value.clone()));
        } else {
            self.raw(value);
        }
    }

    /// Writes a tagged field: its tag, its size, and what `field` writes. Nothing in it is shared.
    pub fn tagged(&mut self, tag: u32, field: impl FnOnce(&mut Self)) {
        self.unsigned_varint(tag);
        // The size is known afterwards. One byte is kept for it, which is nearly always enough.
        let start = self.buf.len();
        self.buf.push(0);
        let share_min = core::mem::replace(&mut self.share_min, usize::MAX);
        field(self);
        self.share_min = share_min;
        let size = self.buf.len() - start - 1;
        let more = unsigned_varint_len(size as u32) - 1;
        if more > 0 {
            let end = self.buf.len();
            self.buf.resize(end + more, 0);
            self.buf.copy_within(start + 1..end, start + 1 + more);
        }
        let mut value = size as u32;
        for byte in &mut self.buf[start..start + more] {
            *byte = value as u8 | 0x80;
            value >>= 7;
        }
        self.buf[start + more] = value as u8;
    }

    /// Writes the length of a byte array or the count of an array.
    #[inline]
    pub fn len(&mut self, compact: bool, len: usize) {
        if compact {
            self.unsigned_varint(len as u32 + 1);
        } else {
            self.i32(len as i32);
        }
    }

    /// Writes a null byte array or array.
    #[inline]
    pub fn null(&mut self, compact: bool) {
        if compact {
            self.unsigned_varint(0);
        } else {
            self.i32(-1);
        }
    }

    /// Writes an array of 32-bit integers with its count.
    #[inline(always)]
    pub fn i32_array(&mut self, compact: bool, values: &[i32]) {
        if !compact {
            self.len(false, values.len());
            return self.i32s(values);
        }
        // A replica list is short. Its count and values are put together first and written at once:
        // a copy of known length is a store or two, one of any length a call.
        match *values {
            [] => self.buf.push(1),
            [a] => self.short_array::<5>(&[a]),
            [a, b] => self.short_array::<9>(&[a, b]),
            [a, b, c] => self.short_array::<13>(&[a, b, c]),
            [a, b, c, d] => self.short_array::<17>(&[a, b, c, d]),
            _ => {
                self.len(true, values.len());
                self.i32s(values);
            }
        }
    }

    #[inline(always)]
    fn short_array<const N: usize>(&mut self, values: &[i32]) {
        let mut fixed = Fixed::<N>::ZERO;
        fixed.set_i8(0, values.len() as i8 + 1);
        for (index, value) in values.iter().enumerate() {
            fixed.set_i32(1 + 4 * index, *value);
        }
        self.fixed(fixed);
    }

    fn i32s(&mut self, values: &[i32]) {
        let start = self.buf.len();
        self.buf.resize(start + 4 * values.len(), 0);
        let (chunks, _) = self.buf[start..].as_chunks_mut::<4>();
        for (chunk, value) in chunks.iter_mut().zip(values) {
            *chunk = value.to_be_bytes();
        }
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

#[cfg(test)]
mod tests;
