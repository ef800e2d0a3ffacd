use std::collections::HashMap;

use klamm_protocol::{PartitionIndex, SmallString};

/// Which partition a record goes to that names none.
///
/// A record with a key goes where Java's producer puts it, so that the records of a key are in one
/// partition whoever sends them. One without a key goes to the topic's current partition, which
/// changes by chance when about a batch was put there (KIP-480, KIP-794): batches are then full.
#[derive(Debug, Default)]
pub(super) struct Partitioner {
    current: HashMap<SmallString, Current>,
}

#[derive(Debug)]
struct Current {
    partition: PartitionIndex,
    bytes: usize,
}

impl Partitioner {
    /// The partition for a record without a key, of `bytes` size; `led` are those with a leader.
    pub(super) fn without_key(
        &mut self,
        topic: &SmallString,
        count: i32,
        led: impl FnOnce() -> Vec<PartitionIndex>,
        bytes: usize,
        batch_size: usize,
    ) -> PartitionIndex {
        if let Some(current) = self.current.get_mut(topic)
            && current.bytes < batch_size
            && current.partition.0 < count
        {
            current.bytes += bytes;
            return current.partition;
        }
        let led = led();
        let partition = match led.len() {
            0 => PartitionIndex(fastrand::i32(0..count.max(1))),
            len => led[fastrand::usize(0..len)],
        };
        self.current
            .insert(topic.clone(), Current { partition, bytes });
        partition
    }

    /// Has the next record without a key go elsewhere: the partition has no leader.
    pub(super) fn leave(&mut self, topic: &SmallString) {
        self.current.remove(topic);
    }
}

/// The partition of a key, as Java's producer computes it.
pub(super) fn of_key(key: &[u8], count: i32) -> PartitionIndex {
    PartitionIndex((murmur2(key) & i32::MAX) % count.max(1))
}

/// The 32-bit MurmurHash2 with the seed that Apache Kafka uses.
fn murmur2(data: &[u8]) -> i32 {
    const MIX: u32 = 0x5bd1_e995;
    let mut hash = 0x9747_b28c_u32 ^ data.len() as u32;
    let (words, rest) = data.as_chunks::<4>();
    for word in words {
        let mut word = u32::from_le_bytes(*word).wrapping_mul(MIX);
        word = (word ^ (word >> 24)).wrapping_mul(MIX);
        hash = hash.wrapping_mul(MIX) ^ word;
    }
    if !rest.is_empty() {
        for (at, byte) in rest.iter().enumerate() {
            hash ^= u32::from(*byte) << (8 * at);
        }
        hash = hash.wrapping_mul(MIX);
    }
    hash = (hash ^ (hash >> 13)).wrapping_mul(MIX);
    (hash ^ (hash >> 15)) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Facts of `org.apache.kafka.common.utils.Utils.murmur2`, as its own tests have them.
    #[test]
    fn hashes_are_those_of_apache_kafka() {
        for (text, hash) in [
            ("21", -973_932_308),
            ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            (
                "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8",
                -58_897_971,
            ),
            ("abc", 479_470_107),
        ] {
            assert_eq!(murmur2(text.as_bytes()), hash, "{text}");
        }
    }

    #[test]
    fn a_key_keeps_its_partition() {
        for count in [1, 3, 64] {
            let partition = of_key(b"key", count);
            assert!((0..count).contains(&partition.0));
            assert_eq!(partition, of_key(b"key", count));
        }
    }

    #[test]
    fn records_without_a_key_stay_until_a_batch_is_full() {
        let topic = SmallString::from("a");
        let led = || vec![PartitionIndex(0), PartitionIndex(2)];
        let mut partitioner = Partitioner::default();
        let mut seen = Vec::new();
        for _ in 0..400 {
            seen.push(partitioner.without_key(&topic, 3, led, 25, 100));
        }
        for batch in seen.chunks(4) {
            assert!(batch.iter().all(|partition| *partition == batch[0]));
        }
        assert!(seen.contains(&PartitionIndex(0)) && seen.contains(&PartitionIndex(2)));
        assert!(!seen.contains(&PartitionIndex(1)), "it has no leader");
    }
}
