use bytes::Bytes;

use super::sink::{BLOCK, Sink};
use super::varint::unsigned_varint_len;
use super::{EncodeError, Fixed, STRING_MAX};
use crate::{SmallString, Uuid};

/// The longest byte array and array: their length is an int32.
const LEN_MAX: usize = i32::MAX as usize - 1;

/// Writes primitive types, one after the other, into a [`Sink`].
///
/// It is handed on by value: where the block goes on is then kept in a register, and no store waits
/// for the one before it.
#[derive(Debug)]
pub struct Writer<'w, 'm> {
    sink: &'w mut Sink<'m>,
    /// How much of the sink's block is written.
    at: usize,
}

impl<'w, 'm> Writer<'w, 'm> {
    /// A writer at the start of a sink.
    #[inline(always)]
    pub(super) fn new(sink: &'w mut Sink<'m>) -> Self {
        Self { sink, at: 0 }
    }

    /// How much of the sink's block is written.
    #[inline(always)]
    pub(super) fn at(self) -> usize {
        self.at
    }

    /// How much was written in all, without what is shared.
    #[inline(always)]
    pub fn position(&self) -> usize {
        self.sink.flushed() + self.at
    }

    /// Makes room for `N` bytes in the block.
    #[inline(always)]
    fn room<const N: usize>(&mut self) {
        const { assert!(N <= BLOCK) }
        if self.at > BLOCK - N {
            self.sink.flush(self.at);
            self.at = 0;
        }
    }

    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.room::<N>();
        self.sink.block[self.at..self.at + N].copy_from_slice(&bytes);
        self.at += N;
    }

    /// Makes room for `count` elements like the one that was written since `start`, so that the buffer
    /// need not be moved as it grows. It is a guess, and only what is likely is reserved.
    #[inline(never)]
    pub fn expect(&mut self, count: usize, start: usize) {
        let len = (self.position() - start).saturating_mul(count);
        self.sink.expect(self.at, len);
    }

    /// Keeps why the message cannot be encoded, if nothing was refused before. Writing goes on.
    #[inline(always)]
    pub fn refuse(&mut self, error: EncodeError) {
        self.sink.refuse(error);
    }

    /// Writes bytes as they are.
    #[inline]
    pub fn raw(&mut self, bytes: &[u8]) {
        match self.sink.block[self.at..].get_mut(..bytes.len()) {
            Some(into) => {
                into.copy_from_slice(bytes);
                self.at += bytes.len();
            }
            None => {
                self.sink.append(self.at, bytes);
                self.at = 0;
            }
        }
    }

    /// Writes neighbouring fields of fixed size.
    #[inline(always)]
    pub fn fixed<const N: usize>(&mut self, fields: Fixed<N>) {
        self.put(fields.into_bytes());
    }

    /// Writes 1 for true, 0 for false.
    #[inline(always)]
    pub fn bool(&mut self, value: bool) {
        self.put([u8::from(value)]);
    }

    /// Writes an 8-bit integer.
    #[inline(always)]
    pub fn i8(&mut self, value: i8) {
        self.put(value.to_be_bytes());
    }

    /// Writes a big-endian 16-bit integer.
    #[inline(always)]
    pub fn i16(&mut self, value: i16) {
        self.put(value.to_be_bytes());
    }

    /// Writes a big-endian unsigned 16-bit integer.
    #[inline(always)]
    pub fn u16(&mut self, value: u16) {
        self.put(value.to_be_bytes());
    }

    /// Writes a big-endian 32-bit integer.
    #[inline(always)]
    pub fn i32(&mut self, value: i32) {
        self.put(value.to_be_bytes());
    }

    /// Writes a big-endian unsigned 32-bit integer.
    #[inline(always)]
    pub fn u32(&mut self, value: u32) {
        self.put(value.to_be_bytes());
    }

    /// Writes a big-endian 64-bit integer.
    #[inline(always)]
    pub fn i64(&mut self, value: i64) {
        self.put(value.to_be_bytes());
    }

    /// Writes a big-endian IEEE 754 double.
    #[inline(always)]
    pub fn f64(&mut self, value: f64) {
        self.put(value.to_be_bytes());
    }

    /// Writes a UUID.
    #[inline(always)]
    pub fn uuid(&mut self, value: Uuid) {
        self.put(*value.as_bytes());
    }

    /// Writes an unsigned varint.
    #[inline(always)]
    pub fn unsigned_varint(&mut self, value: u32) {
        if value < 0x80 {
            self.put([value as u8]);
        } else {
            self.at = long_varint(self.sink, self.at, value);
        }
    }

    /// Writes a string with its length. `what` names the field in the error.
    #[inline(always)]
    pub fn string(&mut self, what: &'static str, compact: bool, value: &SmallString) {
        let Some((chunk, len)) = value.inline_chunk() else {
            return self.long_string(what, compact, value.as_bytes());
        };
        self.room::<{ 2 + SmallString::INLINE_MAX }>();
        if compact {
            self.put([len as u8 + 1]);
        } else {
            self.i16(len as i16);
        }
        // A copy of known length is a few instructions. What comes after the string is written
        // over by what comes next.
        self.sink.block[self.at..self.at + chunk.len()].copy_from_slice(chunk);
        self.at += len;
    }

    #[inline(always)]
    fn long_string(&mut self, what: &'static str, compact: bool, text: &[u8]) {
        let len = text.len();
        if len > STRING_MAX {
            return refuse_len(self.sink, what, len, STRING_MAX);
        }
        if compact {
            self.unsigned_varint(len as u32 + 1);
        } else {
            self.i16(len as i16);
        }
        // The first and the last bytes, which may overlap: copies of known length are a few stores.
        const HALF: usize = 32;
        match (text.first_chunk::<HALF>(), text.last_chunk::<HALF>()) {
            (Some(first), Some(last)) if len <= 2 * HALF => {
                self.room::<{ 2 * HALF }>();
                self.sink.block[self.at..self.at + HALF].copy_from_slice(first);
                let at = self.at + (len - HALF);
                self.sink.block[at..at + HALF].copy_from_slice(last);
                self.at += len;
            }
            _ => self.raw(text),
        }
    }

    /// Writes a null string.
    #[inline]
    pub fn null_string(&mut self, compact: bool) {
        if compact {
            self.put([0]);
        } else {
            self.i16(-1);
        }
    }

    /// Writes a byte array, or records, with the length. Long ones are shared. `what` names the
    /// field in the error.
    #[inline(always)]
    pub fn bytes(&mut self, what: &'static str, compact: bool, value: &'m Bytes) {
        self.len(what, compact, value.len());
        if self.sink.shares(value.len()) {
            self.sink.share(self.at, value);
        } else {
            self.raw(value);
        }
    }

    /// Writes a tagged field: its tag, its size, and what `field` writes. Nothing in it is shared.
    #[inline]
    pub fn tagged(mut self, tag: u32, field: impl FnOnce(Self) -> Self) -> Self {
        self.unsigned_varint(tag);
        // The size is known afterwards. One byte is kept for it, which is nearly always enough.
        let start = self.position();
        self.put([0]);
        let share_min = self.sink.set_share_min(usize::MAX);
        let writer = field(self);
        writer.sink.set_share_min(share_min);
        writer.set_size(start)
    }

    /// Sets the size in the byte at `start` to the number of bytes that follow it.
    fn set_size(mut self, start: usize) -> Self {
        let size = self.position() - start - 1;
        let gap = unsigned_varint_len(size as u32);
        let end = self.at + gap - 1;
        match start.checked_sub(self.sink.flushed()) {
            Some(start) if end <= BLOCK => {
                let block = &mut self.sink.block;
                block.copy_within(start + 1..self.at, start + gap);
                put_varint(&mut block[start..], size as u32);
                self.at = end;
            }
            _ => {
                self.sink.flush(self.at);
                self.at = 0;
                put_varint(self.sink.widen(start, gap), size as u32);
            }
        }
        self
    }

    /// Writes the length of a byte array or the count of an array. `what` names the field in the
    /// error.
    #[inline(always)]
    pub fn len(&mut self, what: &'static str, compact: bool, len: usize) {
        if len > LEN_MAX {
            refuse_len(self.sink, what, len, LEN_MAX);
        }
        if compact {
            self.unsigned_varint((len as u32).wrapping_add(1));
        } else {
            self.i32(len as i32);
        }
    }

    /// Writes a null byte array or array.
    #[inline]
    pub fn null(&mut self, compact: bool) {
        if compact {
            self.put([0]);
        } else {
            self.i32(-1);
        }
    }

    /// Writes an array of 32-bit integers with its count. `what` names the field in the error.
    #[inline(always)]
    pub fn i32_array(&mut self, what: &'static str, compact: bool, values: &[i32]) {
        // A replica list is short. Its count and values are put together first and written at once:
        // a copy of known length is a store or two, one of any length a call.
        match *values {
            _ if !compact => self.long_i32_array(what, false, values),
            [] => self.put([1]),
            [a] => self.short_array::<5>(&[a]),
            [a, b] => self.short_array::<9>(&[a, b]),
            [a, b, c] => self.short_array::<13>(&[a, b, c]),
            [a, b, c, d] => self.short_array::<17>(&[a, b, c, d]),
            _ => self.long_i32_array(what, true, values),
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

    #[inline(always)]
    fn long_i32_array(&mut self, what: &'static str, compact: bool, values: &[i32]) {
        self.len(what, compact, values.len());
        self.at = many_i32s(self.sink, self.at, values);
    }
}

/// Writes integers after the first `at` bytes of the block, and says how many it has then.
#[inline(never)]
fn many_i32s(sink: &mut Sink<'_>, mut at: usize, values: &[i32]) -> usize {
    for values in values.chunks(BLOCK / 8) {
        if at > BLOCK - BLOCK / 2 {
            sink.flush(at);
            at = 0;
        }
        // Two at a time are one integer.
        let (pairs, last) = values.as_chunks::<2>();
        let into = &mut sink.block[at..at + BLOCK / 2];
        for (into, [first, second]) in into.as_chunks_mut::<8>().0.iter_mut().zip(pairs) {
            let pair = u64::from(*first as u32) << 32 | u64::from(*second as u32);
            *into = pair.to_be_bytes();
        }
        if let [last] = last {
            into[8 * pairs.len()..][..4].copy_from_slice(&last.to_be_bytes());
        }
        at += 4 * values.len();
    }
    at
}

/// Writes an unsigned varint after the first `at` bytes of the block, and says how many it has then.
#[inline(never)]
fn long_varint(sink: &mut Sink<'_>, mut at: usize, value: u32) -> usize {
    if at > BLOCK - 5 {
        sink.flush(at);
        at = 0;
    }
    at + put_varint(&mut sink.block[at..], value)
}

/// Writes an unsigned varint at the start of `into`, and says how long it is.
#[inline]
fn put_varint(into: &mut [u8], mut value: u32) -> usize {
    let len = unsigned_varint_len(value);
    if let Some((last, groups)) = into[..len].split_last_mut() {
        for group in groups {
            *group = value as u8 | 0x80;
            value >>= 7;
        }
        *last = value as u8;
    }
    len
}

#[cold]
#[inline(never)]
fn refuse_len(sink: &mut Sink<'_>, what: &'static str, len: usize, limit: usize) {
    sink.refuse(EncodeError::TooLong { what, len, limit });
}

#[cfg(test)]
mod tests;
