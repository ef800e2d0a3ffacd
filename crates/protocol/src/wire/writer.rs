use alloc::vec::Vec;

use bytes::Bytes;
use smallvec::SmallVec;

use super::varint::put_unsigned;
use crate::Uuid;

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

    /// What was written, as one buffer. Shared bytes are copied, if there are any.
    pub fn into_bytes(self) -> Bytes {
        if self.shared.is_empty() {
            return Bytes::from(self.buf);
        }
        let segments = self.into_segments();
        let mut whole = Vec::with_capacity(segments.len());
        for segment in segments.iter() {
            whole.extend_from_slice(segment);
        }
        Bytes::from(whole)
    }

    /// What was written, as segments in order.
    pub fn into_segments(self) -> Segments {
        let buf = Bytes::from(self.buf);
        let mut segments = SmallVec::with_capacity(2 * self.shared.len() + 1);
        let mut start = 0;
        for (end, shared) in self.shared {
            if start < end {
                segments.push(buf.slice(start..end));
            }
            segments.push(shared);
            start = end;
        }
        if start < buf.len() {
            segments.push(buf.slice(start..));
        }
        Segments(segments)
    }

    /// Writes bytes as they are.
    #[inline(always)]
    pub fn raw(&mut self, bytes: &[u8]) {
        self.buf.extend_from_slice(bytes);
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
    #[inline]
    pub fn string(&mut self, compact: bool, value: &str) {
        if compact {
            self.unsigned_varint(value.len() as u32 + 1);
        } else {
            self.i16(value.len() as i16);
        }
        self.raw(value.as_bytes());
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

    /// Writes a tagged field: its tag, its size, and what `field` writes.
    pub fn tagged(&mut self, tag: u32, field: impl FnOnce(&mut Self)) {
        let mut aside = Self::one_buffer(0);
        field(&mut aside);
        self.unsigned_varint(tag);
        self.unsigned_varint(aside.buf.len() as u32);
        self.raw(&aside.buf);
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

    /// Writes 32-bit integers without a count.
    #[inline]
    pub fn i32s(&mut self, values: &[i32]) {
        for value in values {
            self.i32(*value);
        }
    }
}

/// A message as a list of buffers, to be written one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segments(SmallVec<[Bytes; 1]>);

impl Segments {
    /// The whole length, in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a frame is never empty")]
    pub fn len(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }

    /// The buffers, in order.
    pub fn iter(&self) -> core::slice::Iter<'_, Bytes> {
        self.0.iter()
    }

    /// One buffer: the only one as it is, several copied together.
    pub fn into_bytes(mut self) -> Bytes {
        if let [_] = self.0.as_slice() {
            return self.0.remove(0);
        }
        Bytes::from(self.0.concat())
    }
}

impl<'a> IntoIterator for &'a Segments {
    type Item = &'a Bytes;
    type IntoIter = core::slice::Iter<'a, Bytes>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
