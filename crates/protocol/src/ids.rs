use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use thiserror::Error;

macro_rules! newtype {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<$inner> for $name {
            fn from(value: $inner) -> Self {
                Self(value)
            }
        }
    };
}

newtype!(
    /// A broker's or controller's `node.id`. -1 stands for no node.
    BrokerId(i32)
);
newtype!(
    /// A partition's number within its topic, from 0.
    PartitionIndex(i32)
);
newtype!(
    /// How often a partition's leader was decided; every decision adds one.
    LeaderEpoch(i32)
);
newtype!(
    /// How often a partition's state changed.
    PartitionEpoch(i32)
);
newtype!(
    /// A record's position in a partition's log.
    Offset(i64)
);

impl BrokerId {
    /// No node: what `leader_id` says of a partition without a leader.
    pub const NONE: Self = Self(-1);

    /// The id, unless it stands for no node.
    pub fn known(self) -> Option<Self> {
        (self.0 >= 0).then_some(self)
    }
}

/// A 128-bit id of a topic, directory or incarnation.
///
/// Its text form is Kafka's: base64 with the URL-safe alphabet, 22 characters, no padding.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid([u8; 16]);

impl Uuid {
    /// All zeros: no id.
    pub const ZERO: Self = Self([0; 16]);

    /// The id with these bytes, most significant first.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes, most significant first.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Whether it is [`Uuid::ZERO`].
    pub fn is_zero(self) -> bool {
        self == Self::ZERO
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // 22 digits of 6 bits hold 132 bits: the last 4 are zero.
        let value = u128::from_be_bytes(self.0);
        let mut text = String::with_capacity(22);
        for digit in 0..21 {
            text.push(char::from(
                ALPHABET[(value >> (122 - 6 * digit)) as usize & 63],
            ));
        }
        text.push(char::from(ALPHABET[(value << 4) as usize & 63]));
        f.pad(&text)
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text is not an id in Kafka's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("an id is 22 characters of A-Z, a-z, 0-9, - and _")]
pub struct ParseUuidError;

impl FromStr for Uuid {
    type Err = ParseUuidError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.as_bytes();
        if digits.len() != 22 {
            return Err(ParseUuidError);
        }
        let mut value = 0u128;
        for (index, digit) in digits.iter().enumerate() {
            let bits = ALPHABET
                .iter()
                .position(|c| c == digit)
                .ok_or(ParseUuidError)? as u128;
            value = if index == 21 {
                value << 2 | bits >> 4
            } else {
                value << 6 | bits
            };
        }
        Ok(Self(value.to_be_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn uuid_text_is_kafkas() {
        // Kafka's own constants: the metadata topic's id and the "lost" directory's are 1-valued.
        let one = Uuid::from_bytes(1u128.to_be_bytes());
        assert_eq!(one.to_string(), "AAAAAAAAAAAAAAAAAAAAAQ");
        assert_eq!(Uuid::ZERO.to_string(), "AAAAAAAAAAAAAAAAAAAAAA");
    }

    #[test]
    fn uuid_text_comes_back() {
        for value in [0, 1, u128::MAX, 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef] {
            let id = Uuid::from_bytes(u128::to_be_bytes(value));
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        assert_eq!("short".parse::<Uuid>(), Err(ParseUuidError));
        assert_eq!(
            "AAAAAAAAAAAAAAAAAAAA A".parse::<Uuid>(),
            Err(ParseUuidError)
        );
    }
}
