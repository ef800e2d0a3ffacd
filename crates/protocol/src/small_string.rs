use alloc::string::String;
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;
use core::str::Utf8Error;

use bytes::Bytes;
use bytestring::ByteString;

/// An immutable UTF-8 string that holds up to [`SmallString::INLINE_MAX`] bytes itself.
///
/// Kafka's strings are names more than anything else: of topics, hosts, groups, configs. As views on
/// the frame each would raise and lower the frame's reference count, and one name that is kept would
/// keep the whole frame. Longer strings are views all the same, since a copy costs more there.
#[derive(Clone)]
pub struct SmallString(Repr);

#[derive(Clone)]
enum Repr {
    Inline(Inline),
    Shared(ByteString),
}

/// The first `len` of `bytes`, which are UTF-8. What comes after them is of no meaning.
#[derive(Clone, Copy)]
struct Inline {
    len: u8,
    bytes: [u8; SmallString::INLINE_MAX],
}

impl Inline {
    const EMPTY: Self = Self {
        len: 0,
        bytes: [0; SmallString::INLINE_MAX],
    };

    /// A copy of `text`, which has at most [`SmallString::INLINE_MAX`] bytes.
    fn copy(text: &[u8]) -> Self {
        let mut inline = Self::EMPTY;
        inline.bytes[..text.len()].copy_from_slice(text);
        inline.len = text.len() as u8;
        inline
    }

    #[inline]
    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// UTF-8 is checked again, since `unsafe` is forbidden: a few nanoseconds for a short string.
    /// What has no need of a `str` asks for the bytes.
    #[inline]
    fn as_str(&self) -> &str {
        str::from_utf8(self.as_bytes()).expect("was UTF-8 when it was made")
    }
}

impl SmallString {
    /// The longest string that is held without an allocation or a view, in bytes: as many as make
    /// the type five words large, which then has room for the tag of an `Option`, too.
    pub const INLINE_MAX: usize = 38;

    /// The empty string.
    pub const fn new() -> Self {
        Self(Repr::Inline(Inline::EMPTY))
    }

    /// A string of static text.
    pub const fn from_static(text: &'static str) -> Self {
        Self(Repr::Shared(ByteString::from_static(text)))
    }

    /// Becomes the string at the start of `rest`, of `len` bytes, which is at most
    /// [`SmallString::INLINE_MAX`]. Says no where it is not UTF-8 or `rest` is shorter.
    #[inline(always)]
    pub(crate) fn set_short(&mut self, rest: &[u8], len: usize) -> bool {
        let Some(text) = rest.get(..len) else {
            return false;
        };
        if !is_short_ascii(text) && str::from_utf8(text).is_err() {
            return false;
        }
        let inline = match &mut self.0 {
            Repr::Inline(inline) => inline,
            Repr::Shared(_) => return self.replace_by_short(text),
        };
        // A copy of known length is a few instructions; it may take what follows along.
        match rest.first_chunk() {
            Some(bytes) => inline.bytes = *bytes,
            None => inline.bytes[..len].copy_from_slice(text),
        }
        inline.len = len as u8;
        true
    }

    #[cold]
    fn replace_by_short(&mut self, text: &[u8]) -> bool {
        self.0 = Repr::Inline(Inline::copy(text));
        true
    }

    /// The string where it lies, and how long it is, if it is held in the value. What comes after it
    /// is of no meaning.
    #[inline(always)]
    pub(crate) fn inline_chunk(&self) -> Option<(&[u8; Self::INLINE_MAX], usize)> {
        match &self.0 {
            Repr::Inline(inline) => Some((&inline.bytes, usize::from(inline.len))),
            Repr::Shared(_) => None,
        }
    }

    /// The string's bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline(inline) => inline.as_bytes(),
            Repr::Shared(shared) => shared.as_bytes(),
        }
    }

    /// The string.
    #[inline]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Inline(inline) => inline.as_str(),
            Repr::Shared(shared) => shared,
        }
    }

    /// The length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.as_bytes().len()
    }

    /// Whether there are no bytes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Whether all bytes are ASCII. Meant for short strings: the first and the last bytes, which may
/// overlap, are looked at as one integer each.
#[inline(always)]
fn is_short_ascii(text: &[u8]) -> bool {
    macro_rules! ends {
        ($int:ident) => {
            match (text.first_chunk(), text.last_chunk()) {
                (Some(first), Some(last)) => {
                    let both = $int::from_ne_bytes(*first) | $int::from_ne_bytes(*last);
                    both & ($int::MAX / 0xff * 0x80) == 0
                }
                _ => false,
            }
        };
    }
    match text.len() {
        0..4 => text.iter().all(u8::is_ascii),
        4..=8 => ends!(u32),
        9..=16 => ends!(u64),
        17..=32 => ends!(u128),
        _ => text.is_ascii(),
    }
}

impl Default for SmallString {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for SmallString {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for SmallString {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for SmallString {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for SmallString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl fmt::Debug for SmallString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl PartialEq for SmallString {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for SmallString {}

impl PartialEq<str> for SmallString {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for SmallString {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl PartialOrd for SmallString {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SmallString {
    /// The order of `str`, which is that of the bytes.
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl Hash for SmallString {
    /// The hash of `str`: a map with such keys may be asked for a `str`.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl From<&str> for SmallString {
    fn from(text: &str) -> Self {
        if text.len() <= Self::INLINE_MAX {
            Self(Repr::Inline(Inline::copy(text.as_bytes())))
        } else {
            Self(Repr::Shared(ByteString::from(text)))
        }
    }
}

impl From<String> for SmallString {
    fn from(text: String) -> Self {
        if text.len() <= Self::INLINE_MAX {
            Self::from(text.as_str())
        } else {
            Self(Repr::Shared(ByteString::from(text)))
        }
    }
}

impl From<SmallString> for String {
    fn from(text: SmallString) -> Self {
        text.as_str().into()
    }
}

impl TryFrom<Bytes> for SmallString {
    type Error = Utf8Error;

    /// A long string stays a view on `bytes`.
    #[inline]
    fn try_from(bytes: Bytes) -> Result<Self, Utf8Error> {
        if bytes.len() <= Self::INLINE_MAX {
            str::from_utf8(&bytes).map(Self::from)
        } else {
            ByteString::try_from(bytes).map(|shared| Self(Repr::Shared(shared)))
        }
    }
}

#[cfg(test)]
mod tests;
