use super::varint::unsigned_varint_len;
use super::{EncodeError, Writer};

/// Adds up how long a message will be, and refuses what its lengths cannot say.
///
/// The writer repeats the same walk without a way to fail.
#[derive(Debug, Default)]
pub struct Sizer {
    total: usize,
    shared: usize,
    shares: usize,
}

/// The longest string, in bytes: its length is an int16 in older versions, and Apache Kafka keeps
/// the limit in compact ones.
pub(super) const STRING_MAX: usize = i16::MAX as usize;
const LEN_MAX: usize = i32::MAX as usize;

impl Sizer {
    /// A sizer at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// The whole length, in bytes.
    #[inline]
    pub fn total(&self) -> usize {
        self.total
    }

    /// How much of [`Sizer::total`] a segmented writer takes over without a copy, in bytes.
    #[inline]
    pub fn shared(&self) -> usize {
        self.shared
    }

    /// How many byte arrays that is.
    #[inline]
    pub fn shares(&self) -> usize {
        self.shares
    }

    /// Adds `len` bytes.
    #[inline(always)]
    pub fn add(&mut self, len: usize) {
        self.total += len;
    }

    /// Adds an unsigned varint.
    #[inline]
    pub fn unsigned_varint(&mut self, value: u32) {
        self.total += unsigned_varint_len(value);
    }

    /// Adds a string of `len` bytes with its length.
    #[inline(always)]
    pub fn string(
        &mut self,
        what: &'static str,
        compact: bool,
        len: usize,
    ) -> Result<(), EncodeError> {
        self.total += len
            + match compact {
                true if len < 0x7f => 1,
                true => unsigned_varint_len((len as u32).wrapping_add(1)),
                false => 2,
            };
        if len <= STRING_MAX {
            Ok(())
        } else {
            Err(too_long(what, len, STRING_MAX))
        }
    }

    /// Adds a null string's length.
    #[inline]
    pub fn null_string(&mut self, compact: bool) {
        self.total += if compact { 1 } else { 2 };
    }

    /// Adds a byte array, or records, with the length.
    #[inline]
    pub fn bytes(
        &mut self,
        what: &'static str,
        compact: bool,
        len: usize,
    ) -> Result<(), EncodeError> {
        self.len(what, compact, len)?;
        self.total += len;
        if len >= Writer::SHARE_MIN {
            self.shared += len;
            self.shares += 1;
        }
        Ok(())
    }

    /// Adds the length of a byte array or the count of an array.
    #[inline(always)]
    pub fn len(
        &mut self,
        what: &'static str,
        compact: bool,
        len: usize,
    ) -> Result<(), EncodeError> {
        if !compact {
            self.total += 4;
        } else if len < 0x7f {
            self.total += 1;
            return Ok(());
        } else {
            self.total += unsigned_varint_len((len as u32).wrapping_add(1));
        }
        if len < LEN_MAX {
            Ok(())
        } else {
            Err(too_long(what, len, LEN_MAX - 1))
        }
    }

    /// Adds a tagged field: its tag, its size, and what `field` adds.
    #[inline]
    pub fn tagged(
        &mut self,
        tag: u32,
        field: impl FnOnce(&mut Self) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        // The writer shares nothing in a tagged field.
        let before = Self {
            total: self.total,
            shared: self.shared,
            shares: self.shares,
        };
        field(self)?;
        self.shared = before.shared;
        self.shares = before.shares;
        let len = self.total - before.total;
        self.total += unsigned_varint_len(tag) + unsigned_varint_len(len as u32);
        Ok(())
    }

    /// Adds a null byte array's or array's length.
    #[inline]
    pub fn null(&mut self, compact: bool) {
        self.total += if compact { 1 } else { 4 };
    }
}

#[cold]
fn too_long(what: &'static str, len: usize, limit: usize) -> EncodeError {
    EncodeError::TooLong { what, len, limit }
}
