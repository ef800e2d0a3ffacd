use core::mem::take;

use bytes::Bytes;

use super::varint::unsigned_varint_len;
use super::{Fixed, Shares};
use crate::{SmallString, Uuid};

/// Writes primitive types from the front of a buffer that was sized before.
///
/// It is handed on by value: where the buffer goes on is then kept in registers, and no store waits
/// for the one before it. A method panics where the buffer ends too early, which is the sizer's
/// fault and never the message's.
#[derive(Debug)]
pub struct Writer<'a> {
    rest: &'a mut [u8],
}

impl<'a> Writer<'a> {
    /// A writer at the start of `buf`.
    #[inline]
    pub fn new(buf: &'a mut [u8]) -> Self {
        Self { rest: buf }
    }

    /// How many bytes are left to write.
    #[inline]
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        match take(&mut self.rest).split_first_chunk_mut::<N>() {
            Some((chunk, rest)) => {
                *chunk = bytes;
                self.rest = rest;
            }
            None => too_small(),
        }
    }

    #[inline(always)]
    fn advance(&mut self, len: usize) {
        match take(&mut self.rest).split_at_mut_checked(len) {
            Some((_, rest)) => self.rest = rest,
            None => too_small(),
        }
    }

    /// Writes bytes as they are.
    #[inline]
    pub fn raw(&mut self, bytes: &[u8]) {
        match take(&mut self.rest).split_at_mut_checked(bytes.len()) {
            Some((chunk, rest)) => {
                chunk.copy_from_slice(bytes);
                self.rest = rest;
            }
            None => too_small(),
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
            self.rest = long_varint(take(&mut self.rest), value);
        }
    }

    /// Writes a string with its length, which a [`Sizer`](super::Sizer) has checked.
    #[inline(always)]
    pub fn string(&mut self, compact: bool, value: &SmallString) {
        match value.inline_chunk() {
            Some((chunk, len)) => {
                if compact {
                    self.put([len as u8 + 1]);
                } else {
                    self.i16(len as i16);
                }
                // A copy of known length is a few instructions. What comes after the string is
                // written over by what comes next.
                match self.rest.first_chunk_mut() {
                    Some(into) => *into = *chunk,
                    None => self.rest = last_string(take(&mut self.rest), &chunk[..len]),
                }
                self.advance(len);
            }
            None => {
                let value = value.as_bytes();
                if compact {
                    self.unsigned_varint(value.len() as u32 + 1);
                } else {
                    self.i16(value.len() as i16);
                }
                match value.len() {
                    32..=64 => self.ends::<32>(value),
                    _ => self.raw(value),
                }
            }
        }
    }

    /// Writes `N` to `2 * N` bytes as their first and last `N`, which may overlap: copies of known
    /// length are a few stores.
    #[inline(always)]
    fn ends<const N: usize>(&mut self, bytes: &[u8]) {
        let Some((into, rest)) = take(&mut self.rest).split_at_mut_checked(bytes.len()) else {
            too_small()
        };
        if let (Some(first), Some(last)) = (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) {
            if let Some(into) = into.first_chunk_mut() {
                *into = *first;
            }
            if let Some(into) = into.last_chunk_mut() {
                *into = *last;
            }
        }
        self.rest = rest;
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

    /// Writes a byte array, or records, with the length. Long ones are shared.
    #[inline(always)]
    pub fn bytes<'m>(&mut self, compact: bool, value: &'m Bytes, shares: &mut Shares<'m>) {
        self.len(compact, value.len());
        if !shares.take(value, self.left()) {
            self.raw(value);
        }
    }

    /// Writes a tagged field: its tag, its size, and what `field` writes. Nothing in it is shared.
    #[inline]
    pub fn tagged<'m>(
        &mut self,
        tag: u32,
        field: impl for<'w> FnOnce(Writer<'w>, &mut Shares<'m>) -> Writer<'w>,
    ) {
        self.unsigned_varint(tag);
        let rest = take(&mut self.rest);
        // The size is known afterwards. One byte is kept for it, which is nearly always enough.
        let Some((_, after)) = rest.split_first_mut() else {
            too_small()
        };
        let before = after.len();
        let left = field(Writer::new(after), &mut Shares::none()).left();
        let size = before - left;
        let size_len = unsigned_varint_len(size as u32);
        if size_len > left + 1 {
            too_small();
        }
        if size_len > 1 {
            rest.copy_within(1..=size, size_len);
        }
        self.rest = rest;
        self.unsigned_varint(size as u32);
        self.advance(size);
    }

    /// Writes the length of a byte array or the count of an array.
    #[inline(always)]
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
            self.put([0]);
        } else {
            self.i32(-1);
        }
    }

    /// Writes an array of 32-bit integers with its count.
    #[inline(always)]
    pub fn i32_array(&mut self, compact: bool, values: &[i32]) {
        // A replica list is short. Its count and values are put together first and written at once:
        // a copy of known length is a store or two, one of any length a call.
        match *values {
            _ if !compact => self.long_i32_array(false, values),
            [] => self.put([1]),
            [a] => self.short_array::<5>(&[a]),
            [a, b] => self.short_array::<9>(&[a, b]),
            [a, b, c] => self.short_array::<13>(&[a, b, c]),
            [a, b, c, d] => self.short_array::<17>(&[a, b, c, d]),
            _ => self.long_i32_array(true, values),
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
    fn long_i32_array(&mut self, compact: bool, values: &[i32]) {
        self.len(compact, values.len());
        self.rest = many_i32s(take(&mut self.rest), values);
    }
}

#[inline(never)]
fn many_i32s<'a>(rest: &'a mut [u8], values: &[i32]) -> &'a mut [u8] {
    let Some((into, rest)) = rest.split_at_mut_checked(4 * values.len()) else {
        too_small()
    };
    let (chunks, _) = into.as_chunks_mut::<4>();
    for (chunk, value) in chunks.iter_mut().zip(values) {
        *chunk = value.to_be_bytes();
    }
    rest
}

#[inline(never)]
fn long_varint(rest: &mut [u8], mut value: u32) -> &mut [u8] {
    let Some((into, rest)) = rest.split_at_mut_checked(unsigned_varint_len(value)) else {
        too_small()
    };
    if let Some((last, groups)) = into.split_last_mut() {
        for group in groups {
            *group = value as u8 | 0x80;
            value >>= 7;
        }
        *last = value as u8;
    }
    rest
}

/// Writes a string near the end of the buffer, without going on after it.
#[inline(never)]
fn last_string<'a>(rest: &'a mut [u8], text: &[u8]) -> &'a mut [u8] {
    match rest.get_mut(..text.len()) {
        Some(into) => into.copy_from_slice(text),
        None => too_small(),
    }
    rest
}

#[cold]
#[inline(never)]
fn too_small() -> ! {
    panic!("the sizer has added up every byte that is written");
}

#[cfg(test)]
mod tests;
