//! What every client sends, and how what is read is held to it; the clients have the same.

use std::collections::BTreeMap;
use std::time::Duration;

use klamm_client::{
    Bootstrap, ClientConfig, Consumer, ConsumerOptions, IsolationLevel, OffsetReset, ServerAddress,
    TopicPartition,
};

pub(crate) const PARTITIONS: usize = 3;

/// Far beyond what a busy machine needs to read what is there.
const PATIENCE: Duration = Duration::from_secs(120);
/// Whether there is more than there should be is known after one answer.
const MOMENT: Duration = Duration::from_secs(2);

pub(crate) fn key(number: usize) -> String {
    number.to_string()
}

pub(crate) fn value(number: usize) -> String {
    format!("record-{number}-{}", "x".repeat(number % 100))
}

/// Records by partition, each with its offset, key and value.
#[derive(Debug, Default)]
pub(crate) struct Seen(BTreeMap<usize, Vec<(u64, String, String)>>);

impl Seen {
    /// From lines of partition, offset, key and value.
    pub(crate) fn shown(lines: &str) -> Self {
        let mut seen = Self::default();
        for line in lines.lines() {
            let mut words = line.splitn(4, ' ');
            let mut word = || words.next().unwrap_or_else(|| panic!("{line:?}"));
            let (partition, offset) = (word().parse().unwrap(), word().parse().unwrap());
            seen.add(partition, offset, word(), word());
        }
        seen
    }

    fn add(&mut self, partition: usize, offset: u64, key: &str, value: &str) {
        let rows = self.0.entry(partition).or_default();
        rows.push((offset, key.to_owned(), value.to_owned()));
    }

    fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// How many each partition has.
    pub(crate) fn counts(&self) -> Vec<usize> {
        let count = |partition| self.0.get(&partition).map_or(0, Vec::len);
        (0..PARTITIONS).map(count).collect()
    }

    /// All numbers below `count` are there once, each partition in order, without a gap in offsets.
    pub(crate) fn assert_whole(&self, count: usize, whose: &str) {
        let mut found = vec![false; count];
        for (partition, rows) in &self.0 {
            let mut last = None;
            for (at, (offset, its_key, its_value)) in rows.iter().enumerate() {
                assert_eq!(*offset, at as u64, "{whose}: partition {partition}");
                let number: usize = its_key.parse().unwrap();
                assert_eq!(*its_value, value(number), "{whose}: {partition}-{offset}");
                assert!(last < Some(number), "{whose}: {number} after {last:?}");
                last = Some(number);
                let found = found.get_mut(number);
                let found = found.unwrap_or_else(|| panic!("{whose}: {number} was not sent"));
                assert!(!*found, "{whose}: {number} twice");
                *found = true;
            }
        }
        let missing = found.iter().filter(|found| !**found).count();
        assert_eq!(missing, 0, "{whose}: records of {count} are missing");
    }
}

/// Reads a topic with klamm's consumer: as many records as there should be, and a look for more.
pub(crate) async fn read_by_klamm(bootstrap: &str, topic: &str, count: usize) -> Seen {
    let servers = ServerAddress::parse_list(bootstrap).unwrap();
    let options = ConsumerOptions {
        offset_reset: OffsetReset::Earliest,
        isolation: IsolationLevel::ReadCommitted,
        ..ConsumerOptions::default()
    };
    let config = ClientConfig::new(Bootstrap::Brokers(servers));
    let mut consumer = Consumer::connect(config, options).await.unwrap();
    let indexes = (0..PARTITIONS).map(|index| i32::try_from(index).unwrap());
    consumer.assign(indexes.map(|index| TopicPartition::new(topic, index)));
    let mut seen = Seen::default();
    loop {
        let patience = if seen.len() < count { PATIENCE } else { MOMENT };
        let read = consumer.poll(patience).await.unwrap();
        if read.is_empty() {
            return seen;
        }
        for read in &read {
            let partition = usize::try_from(read.partition().partition.0).unwrap();
            for record in read.records() {
                let record = record.unwrap();
                let text = |bytes: Option<&[u8]>| String::from_utf8(bytes.unwrap().to_vec());
                let (key, value) = (text(record.key()), text(record.value()));
                let offset = u64::try_from(record.offset().0).unwrap();
                seen.add(partition, offset, &key.unwrap(), &value.unwrap());
            }
        }
    }
}
