//! The records: each says whose it is, and has bytes that follow from that.

use std::fmt;

use fastrand::Rng;

/// Producer, partition and number, as the value begins with them.
const HEAD_BYTES: usize = 16;

/// A record. Those of a producer to a partition are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id {
    pub(crate) producer: usize,
    pub(crate) partition: usize,
    pub(crate) number: usize,
}

/// A record where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) offset: i64,
    /// `None` where it is not as any producer has made it.
    pub(crate) id: Option<Id>,
}

impl Id {
    /// The value of the record, which is `bytes` long but for its head.
    pub(crate) fn value(self, bytes: usize) -> Vec<u8> {
        let mut value = Vec::with_capacity(HEAD_BYTES + bytes);
        value.extend((self.producer as u32).to_be_bytes());
        value.extend((self.partition as u32).to_be_bytes());
        value.extend((self.number as u64).to_be_bytes());
        let seed = [self.producer, self.partition, self.number, bytes];
        let seed = seed.iter().fold(0, |seed: u64, part| {
            seed.rotate_left(16).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ *part as u64
        });
        let mut rng = Rng::with_seed(seed);
        value.resize_with(HEAD_BYTES + bytes, || rng.u8(..));
        value
    }

    /// Whose value this is, if every byte of it is right.
    pub(crate) fn of(value: &[u8]) -> Option<Self> {
        let (producer, rest) = value.split_first_chunk()?;
        let (partition, rest) = rest.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let id = Self {
            producer: usize::try_from(u32::from_be_bytes(*producer)).ok()?,
            partition: usize::try_from(u32::from_be_bytes(*partition)).ok()?,
            number: usize::try_from(u64::from_be_bytes(*number)).ok()?,
        };
        (id.value(rest.len()) == value).then_some(id)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            producer,
            partition,
            number,
        } = self;
        write!(
            f,
            "record {number} of producer {producer} in partition {partition}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_says_whose_it_is_and_no_other_does() {
        let id = Id {
            producer: 2,
            partition: 1,
            number: 77,
        };
        let value = id.value(40);
        assert_eq!(Id::of(&value), Some(id));
        assert_eq!(Id::of(&id.value(0)), Some(id));
        for at in 0..value.len() {
            let mut other = value.clone();
            other[at] ^= 1;
            assert_eq!(Id::of(&other), None, "byte {at}");
            assert_eq!(
                Id::of(&value[..at]).filter(|_| at != HEAD_BYTES),
                None,
                "{at} bytes"
            );
        }
    }
}
