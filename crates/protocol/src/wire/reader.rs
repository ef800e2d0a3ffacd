use bytes::Bytes;

use super::{DecodeError, Fixed, STRING_MAX};
use crate::{SmallString, Uuid};

mod arrays;

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
    #[inline(always)]
    pub fn unsigned_varint(&mut self) -> Result<u32, DecodeError> {
        match self.rest {
            [byte, rest @ ..] if *byte < 0x80 => {
                self.rest = rest;
                Ok(u32::from(*byte))
            }
            _ => self.long_unsigned_varint(),
        }
    }

    #[inline(never)]
    fn long_unsigned_varint(&mut self) -> Result<u32, DecodeError> {
        let value = self.long_varint(5)?;
        u32::try_from(value).map_err(|_| DecodeError::VarintTooLong(5))
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
    #[inline(always)]
    pub fn bytes(&mut self, len: usize) -> Result<Bytes, DecodeError> {
        let start = self.position();
        self.skip(len)?;
        Ok(self.frame.slice(start..start + len))
    }

    #[inline(always)]
    fn string(&mut self, len: usize, into: &mut SmallString) -> Result<(), DecodeError> {
        if len > SmallString::INLINE_MAX {
            return self.long_string(len, into);
        }
        let text = self.rest;
        self.skip(len)?;
        if into.set_short(text, len) {
            Ok(())
        } else {
            Err(DecodeError::Utf8)
        }
    }

    #[inline(never)]
    fn long_string(&mut self, len: usize, into: &mut SmallString) -> Result<(), DecodeError> {
        if len > STRING_MAX {
            return Err(DecodeError::StringTooLong(len));
        }
        let text = self.bytes(len)?;
        *into = SmallString::try_from(text).map_err(|_| DecodeError::Utf8)?;
        Ok(())
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
    #[inline(always)]
    pub fn string_len(&mut self, compact: bool) -> Result<Option<usize>, DecodeError> {
        if compact {
            self.compact_len()
        } else {
            length(i64::from(self.i16()?))
        }
    }

    /// Reads the length of a byte array or the count of an array: `None` for null.
    /// `compact` ones are n+1 as a varint, others int32.
    #[inline(always)]
    pub fn len(&mut self, compact: bool) -> Result<Option<usize>, DecodeError> {
        if compact {
            self.compact_len()
        } else {
            length(i64::from(self.i32()?))
        }
    }

    #[inline(always)]
    fn compact_len(&mut self) -> Result<Option<usize>, DecodeError> {
        Ok((self.unsigned_varint()? as usize).checked_sub(1))
    }

    /// Reads a string that is not null. `what` names the field in the error.
    #[inline(never)]
    pub fn required_string(
        &mut self,
        what: &'static str,
        compact: bool,
        into: &mut SmallString,
    ) -> Result<(), DecodeError> {
        match self.string_len(compact)? {
            Some(len) => self.string(len, into),
            None => Err(DecodeError::Null(what)),
        }
    }

    /// Reads a string that may be null.
    #[inline(never)]
    pub fn nullable_string(
        &mut self,
        compact: bool,
        into: &mut Option<SmallString>,
    ) -> Result<(), DecodeError> {
        match self.string_len(compact)? {
            Some(len) => self.string(len, into.get_or_insert_default()),
            None => {
                *into = None;
                Ok(())
            }
        }
    }

    /// Reads a byte array, or records, that is not null. `what` names the field in the error.
    #[inline(always)]
    pub fn required_bytes(
        &mut self,
        what: &'static str,
        compact: bool,
        into: &mut Bytes,
    ) -> Result<(), DecodeError> {
        let len = self.required_len(what, compact)?;
        *into = self.bytes(len)?;
        Ok(())
    }

    /// Reads a byte array, or records, that may be null.
    #[inline(always)]
    pub fn nullable_bytes(
        &mut self,
        compact: bool,
        into: &mut Option<Bytes>,
    ) -> Result<(), DecodeError> {
        *into = match self.len(compact)? {
            Some(len) => Some(self.bytes(len)?),
            None => None,
        };
        Ok(())
    }

    /// Reads the length of a byte array or the count of an array that is not null.
    #[inline(always)]
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
