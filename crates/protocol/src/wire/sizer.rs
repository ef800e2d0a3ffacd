use super::varint::unsigned_varint_len;
use super::{EncodeError, Shares};
use crate::SmallString;

/// Says how long the parts of a message will be, and refuses what its lengths cannot say.
///
/// Lengths are returned and added up by the caller; what is wrong is kept, so that sizing goes on
/// without a branch for it. The writer repeats the same walk without a way to fail.
#[derive(Debug, Default)]
pub struct Sizer {
    error: Option<EncodeError>,
    shared: usize,
    shares: usize,
}

/// The longest string, in bytes: its length is an int16 in older versions, and Apache Kafka keeps
/// the limit in compact ones.
pub(super) const STRING_MAX: usize = i16::MAX as usize;
const LEN_MAX: usize = i32::MAX as usize;

impl Sizer {
    /// A sizer that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The first thing that was refused.
    pub fn check(&self) -> Result<(), EncodeError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// How many of the bytes are shared instead of copied.
    #[inline]
    pub fn shared(&self) -> usize {
        self.shared
    }

    /// How many byte arrays that is.
    #[inline]
    pub fn shares(&self) -> usize {
        self.shares
    }

    /// Keeps why the message cannot be encoded.
    #[cold]
    #[inline(never)]
    pub fn refuse(&mut self, error: EncodeError) {
        self.error.get_or_insert(error);
    }

    /// The length of a string with its own length before it.
    #[inline(always)]
    pub fn string(&mut self, what: &'static str, compact: bool, value: &SmallString) -> usize {
        if let Some((_, len)) = value.inline_chunk() {
            return len + if compact { 1 } else { 2 };
        }
        let len = value.as_bytes().len();
        if len > STRING_MAX {
            self.refuse_len(what, len, STRING_MAX);
        }
        match compact {
            true => len + unsigned_varint_len((len as u32).wrapping_add(1)),
            false => len + 2,
        }
    }

    /// The length of a null string.
    #[inline(always)]
    pub fn null_string(&self, compact: bool) -> usize {
        if compact { 1 } else { 2 }
    }

    /// The length of a byte array, or records, with its own length before it.
    #[inline]
    pub fn bytes(&mut self, what: &'static str, compact: bool, len: usize) -> usize {
        if len >= Shares::MIN {
            self.shared += len;
            self.shares += 1;
        }
        self.len(what, compact, len) + len
    }

    /// The length of a byte array's length or an array's count.
    #[inline(always)]
    pub fn len(&mut self, what: &'static str, compact: bool, len: usize) -> usize {
        if compact && len < 0x7f {
            return 1;
        }
        if len >= LEN_MAX {
            self.refuse_len(what, len, LEN_MAX - 1);
        }
        match compact {
            true => unsigned_varint_len((len as u32).wrapping_add(1)),
            false => 4,
        }
    }

    /// The length of a tagged field: its tag, its size, and what `field` says.
    #[inline]
    pub fn tagged(&mut self, tag: u32, field: impl FnOnce(&mut Self) -> usize) -> usize {
        // The writer shares nothing in a tagged field.
        let (shared, shares) = (self.shared, self.shares);
        let len = field(self);
        (self.shared, self.shares) = (shared, shares);
        unsigned_varint_len(tag) + unsigned_varint_len(len as u32) + len
    }

    /// The length of a null byte array or array.
    #[inline(always)]
    pub fn null(&self, compact: bool) -> usize {
        if compact { 1 } else { 4 }
    }

    #[cold]
    #[inline(never)]
    fn refuse_len(&mut self, what: &'static str, len: usize, limit: usize) {
        self.refuse(EncodeError::TooLong { what, len, limit });
    }
}
