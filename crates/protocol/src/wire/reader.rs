use alloc::vec::Vec;

use bytes::Bytes;
use smallvec::SmallVec;

use super::sizer::STRING_MAX;
use super::{DecodeError, Fixed};
use crate::{SmallString, Uuid};

/// Reads primitive types from the front of a frame.
///
/// Byte arrays and long strings come out as views on the frame. An array allocates only after
/// `Reader::begin_array` has promised its elements bytes of the frame that nothing else was
/// promised; so all allocations of one decode together are bounded by the frame's length times the
/// largest ratio of an element's size in memory to its least size on the wire.
#[derive(Debug)]
pub struct Reader<'a> {
    frame: &'a Bytes,
    rest: &'a [u8],
    /// Bytes of `rest` that elements of arrays begun, but not yet read, need at the least.
    promised: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `frame`.
    #[inline]
    pub fn new(frame: &'a Bytes) -> Self {
        Self {
            frame,
            rest: frame,
            promised: 0,
        }
    }

    /// How many bytes are left.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// How many bytes were read.
    #[inline]
    pub fn position(&self) -> usize {
        self.frame.len() - self.rest.len()
    }

    #[inline(always)]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        match self.rest.split_first_chunk::<N>() {
            Some((chunk, rest)) => {
                self.rest = rest;
                Ok(*chunk)
            }
            None => Err(truncated(N, self.rest.len())),
        }
    }

    /// Reads neighbouring fields of fixed size.
    #[inline(always)]
    pub fn fixed<const N: usize>(&mut self) -> Result<Fixed<N>, DecodeError> {
        Ok(Fixed::from_bytes(self.take()?))
    }

    /// Passes over a byte if it is 0, and says whether it was.
    #[inline(always)]
    pub(super) fn skip_zero(&mut self) -> bool {
        match self.rest {
            [0, rest @ ..] => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// Reads a byte that is 0 for false and anything else for true.
    #[inline]
    pub fn bool(&mut self) -> Result<bool, DecodeError> {
        Ok(self.take::<1>()?[0] != 0)
    }

    /// Reads an 8-bit integer.
    #[inline]
    pub fn i8(&mut self) -> Result<i8, DecodeError> {
        Ok(i8::from_be_bytes(self.take()?))
    }

    /// Reads a big-endian 16-bit integer.
    #[inline]
    pub fn i16(&mut self) -> Result<i16, DecodeError> {
        Ok(i16::from_be_bytes(self.take()?))
    }

    /// Reads a big-endian unsigned 16-bit integer.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, DecodeError> {
        Ok(u16::from_be_bytes(self.take()?))
    }

    /// Reads a big-endian 32-bit integer.
    #[inline]
    pub fn i32(&mut self) -> Result<i32, DecodeError> {
        Ok(i32::from_be_bytes(self.take()?))
    }

    /// Reads a big-endian unsigned 32-bit integer.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_be_bytes(self.take()?))
    }

    /// Reads a big-endian 64-bit integer.
    #[inline]
    pub fn i64(&mut self) -> Result<i64, DecodeError> {
        Ok(i64::from_be_bytes(self.take()?))
    }

    /// Reads a big-endian IEEE 754 double.
    #[inline]
    pub fn f64(&mut self) -> Result<f64, DecodeError> {
        Ok(f64::from_be_bytes(self.take()?))
    }

    /// Reads a UUID: 16 bytes.
    #[inline]
    pub fn uuid(&mut self) -> Result<Uuid, DecodeError> {
        Ok(Uuid::from_bytes(self.take()?))
    }

    /// Reads an unsigned varint of at most 5 bytes.
    #[inline]
    pub fn unsigned_varint(&mut self) -> Result<u32, DecodeError> {
        match self.rest {
            [byte, rest @ ..] if *byte < 0x80 => {
                self.rest = rest;
                Ok(u32::from(*byte))
            }
            _ => {
                let value = self.long_varint(5)?;
                u32::try_from(value).map_err(|_| DecodeError::VarintTooLong(5))
            }
        }
    }

    /// Reads a zigzag-encoded varint of at most 5 bytes.
    #[inline]
    pub fn varint(&mut self) -> Result<i32, DecodeError> {
        let value = self.unsigned_varint()?;
        Ok((value >> 1) as i32 ^ -((value & 1) as i32))
    }

    /// Reads a zigzag-encoded varint of at most 10 bytes.
    #[inline]
    pub fn varlong(&mut self) -> Result<i64, DecodeError> {
        let value = self.long_varint(10)?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn long_varint(&mut self, max_len: u8) -> Result<u64, DecodeError> {
        let mut value = 0u64;
        for index in 0..max_len {
            let [byte] = self.take::<1>()?;
            let group = u64::from(byte & 0x7f);
            let shift = u32::from(index) * 7;
            // The tenth group has room for one bit only.
            if shift == 63 && group > 1 {
                return Err(DecodeError::VarintTooLong(max_len));
            }
            value |= group << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(DecodeError::VarintTooLong(max_len))
    }

    /// Reads `len` bytes as a view on the frame.
    #[inline]
    pub fn bytes(&mut self, len: usize) -> Result<Bytes, DecodeError> {
        let start = self.position();
        self.skip(len)?;
        Ok(self.frame.slice(start..start + len))
    }

    /// Reads `len` bytes of UTF-8.
    #[inline]
    pub fn string(&mut self, len: usize) -> Result<SmallString, DecodeError> {
        if len > SmallString::INLINE_MAX {
            return self.long_string(len);
        }
        let text = self.rest;
        self.skip(len)?;
        SmallString::short(text, len).ok_or(DecodeError::Utf8)
    }

    fn long_string(&mut self, len: usize) -> Result<SmallString, DecodeError> {
        if len > STRING_MAX {
            return Err(DecodeError::StringTooLong(len));
        }
        SmallString::try_from(self.bytes(len)?).map_err(|_| DecodeError::Utf8)
    }

    /// Passes over `len` bytes.
    #[inline]
    pub fn skip(&mut self, len: usize) -> Result<(), DecodeError> {
        match self.rest.split_at_checked(len) {
            Some((_, rest)) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(truncated(len, self.rest.len())),
        }
    }

    /// Reads a string's length: `None` for null. `compact` lengths are n+1 as a varint, others int16.
    #[inline]
    pub fn string_len(&mut self, compact: bool) -> Result<Option<usize>, DecodeError> {
        if compact {
            self.compact_len()
        } else {
            length(i64::from(self.i16()?))
        }
    }

    /// Reads the length of a byte array or the count of an array: `None` for null.
    /// `compact` ones are n+1 as a varint, others int32.
    #[inline]
    pub fn len(&mut self, compact: bool) -> Result<Option<usize>, DecodeError> {
        if compact {
            self.compact_len()
        } else {
            length(i64::from(self.i32()?))
        }
    }

    #[inline]
    fn compact_len(&mut self) -> Result<Option<usize>, DecodeError> {
        Ok((self.unsigned_varint()? as usize).checked_sub(1))
    }

    /// Reads a string that is not null. `what` names the field in the error.
    #[inline]
    pub fn required_string(
        &mut self,
        what: &'static str,
        compact: bool,
    ) -> Result<SmallString, DecodeError> {
        match self.string_len(compact)? {
            Some(len) => self.string(len),
            None => Err(DecodeError::Null(what)),
        }
    }

    /// Reads a string that may be null.
    #[inline]
    pub fn nullable_string(&mut self, compact: bool) -> Result<Option<SmallString>, DecodeError> {
        match self.string_len(compact)? {
            Some(len) => self.string(len).map(Some),
            None => Ok(None),
        }
    }

    /// Reads a byte array, or records, that is not null. `what` names the field in the error.
    #[inline]
    pub fn required_bytes(
        &mut self,
        what: &'static str,
        compact: bool,
    ) -> Result<Bytes, DecodeError> {
        let len = self.required_len(what, compact)?;
        self.bytes(len)
    }

    /// Reads a byte array, or records, that may be null.
    #[inline]
    pub fn nullable_bytes(&mut self, compact: bool) -> Result<Option<Bytes>, DecodeError> {
        match self.len(compact)? {
            Some(len) => self.bytes(len).map(Some),
            None => Ok(None),
        }
    }

    /// Reads the length of a byte array or the count of an array that is not null.
    #[inline]
    pub fn required_len(
        &mut self,
        what: &'static str,
        compact: bool,
    ) -> Result<usize, DecodeError> {
        self.len(compact)?.ok_or(DecodeError::Null(what))
    }

    /// Reads the marker before a struct that may be null: whether the struct follows.
    #[inline]
    pub fn marker(&mut self) -> Result<bool, DecodeError> {
        Ok(self.i8()? >= 0)
    }

    /// Reads the marker before a tagged struct that may be null: whether the struct follows.
    #[inline]
    pub fn tagged_marker(&mut self) -> Result<bool, DecodeError> {
        Ok(self.unsigned_varint()? > 0)
    }

    /// Reads `count` elements that take at least `least` bytes each.
    #[inline]
    pub fn array<T>(
        &mut self,
        count: usize,
        least: usize,
        mut element: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        self.begin_array(count, least)?;
        let mut elements = Vec::with_capacity(count);
        for _ in 0..count {
            self.begin_element(least);
            elements.push(element(self)?);
        }
        Ok(elements)
    }

    /// Claims room for `count` elements that take at least `least` bytes each, so that the caller
    /// may allocate for all of them. `Reader::begin_element` gives the claim of one back.
    #[inline]
    pub(super) fn begin_array(&mut self, count: usize, least: usize) -> Result<(), DecodeError> {
        let left = self.rest.len().saturating_sub(self.promised);
        match count.checked_mul(least) {
            Some(bytes) if bytes <= left => {
                self.promised += bytes;
                Ok(())
            }
            _ => Err(DecodeError::ImpossibleCount {
                count,
                element: least,
                left,
            }),
        }
    }

    /// Gives back what `Reader::begin_array` claimed for an element that is read next.
    #[inline]
    pub(super) fn begin_element(&mut self, least: usize) {
        self.promised = self.promised.saturating_sub(least);
    }

    /// Reads an array of `count` 32-bit integers.
    #[inline(always)]
    pub fn i32s(&mut self, count: usize) -> Result<SmallVec<[i32; 4]>, DecodeError> {
        let bytes = count.saturating_mul(4);
        let Some((head, rest)) = self.rest.split_at_checked(bytes) else {
            return Err(truncated(bytes, self.rest.len()));
        };
        self.rest = rest;
        let (chunks, _) = head.as_chunks::<4>();
        if count <= 4 {
            let mut values = [0; 4];
            for (value, chunk) in values.iter_mut().zip(chunks) {
                *value = i32::from_be_bytes(*chunk);
            }
            return Ok(SmallVec::from_buf_and_len(values, count));
        }
        Ok(SmallVec::from_vec(many_i32s(chunks)))
    }
}

#[inline(never)]
fn many_i32s(chunks: &[[u8; 4]]) -> Vec<i32> {
    let values = chunks.iter().map(|chunk| i32::from_be_bytes(*chunk));
    values.collect()
}

#[cold]
fn truncated(needed: usize, left: usize) -> DecodeError {
    DecodeError::Truncated { needed, left }
}

#[inline]
fn length(value: i64) -> Result<Option<usize>, DecodeError> {
    match value {
        -1 => Ok(None),
        0.. => Ok(Some(value as usize)),
        _ => Err(DecodeError::NegativeLength(value)),
    }
}
