use std::collections::BTreeMap;

use klamm_protocol::{PartitionIndex, Uuid};
use smallvec::SmallVec;

use crate::Place;

/// A set of partitions. Those of a topic are bits, since most sets have most partitions of a topic or
/// none: a member takes no more room than it needs, and is found without a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// No topic without members is in it.
    topics: BTreeMap<Uuid, Bits>,
}

/// A set of numbers. The last word is not 0, so that equal sets are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Bits(SmallVec<[u64; 2]>);

const WORD_BITS: usize = u64::BITS as usize;

impl Places {
    pub(super) fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.topics.values().map(Bits::len).sum()
    }

    pub(super) fn insert(&mut self, place: Place) {
        self.topics
            .entry(place.topic)
            .or_default()
            .insert(number(place));
    }

    pub(super) fn remove(&mut self, place: Place) {
        if let Some(bits) = self.topics.get_mut(&place.topic) {
            bits.remove(number(place));
            if bits.0.is_empty() {
                self.topics.remove(&place.topic);
            }
        }
    }

    /// The members in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Place> {
        self.topics.iter().flat_map(|(topic, bits)| {
            let index = |number: usize| PartitionIndex(number as i32);
            bits.iter().map(move |number| Place {
                topic: *topic,
                index: index(number),
            })
        })
    }
}

/// The partition's number in its topic.
fn number(place: Place) -> usize {
    usize::try_from(place.index.0).expect("partitions in the image are numbered from 0")
}

impl Bits {
    fn insert(&mut self, number: usize) {
        let word = number / WORD_BITS;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % WORD_BITS);
    }

    fn remove(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / WORD_BITS) {
            *word &= !(1 << (number % WORD_BITS));
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(nth, word)| {
            let filled = |word: u64| Some(word).filter(|word| *word != 0);
            // Without its lowest bit, again and again.
            let rest = std::iter::successors(filled(*word), move |word| filled(word & (word - 1)));
            rest.map(move |word| nth * WORD_BITS + word.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn it_is_a_set() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut places = Places::default();
        let mut model = BTreeSet::new();
        for _ in 0..20_000 {
            let place = Place::of(Uuid::from_bytes([random.u8(..3); 16]), random.i32(0..300));
            match random.bool() {
                true => {
                    places.insert(place);
                    model.insert(place);
                }
                false => {
                    places.remove(place);
                    model.remove(&place);
                }
            }
            assert_eq!(places.is_empty(), model.is_empty());
            assert_eq!(places.len(), model.len());
        }
        assert!(places.iter().eq(model.iter().copied()));
        let mut again = Places::default();
        model.iter().rev().for_each(|place| again.insert(*place));
        assert_eq!(again, places, "whatever came before");
        for place in model {
            places.remove(place);
        }
        assert_eq!(places, Places::default());
    }
}
