use super::{Batch, Content, Cutter, Entry};
use crate::{Contents, Options};

/// How many bytes, and how many records, are looked at.
const MOST_BYTES: usize = 1 << 20;
const MOST_RECORDS: usize = 20;

impl Contents {
    /// What the records of a log look like, from its first ones: what all of them can be read as
    /// without a fault. Nothing where that is no topic of Apache Kafka's own, or more than one.
    pub fn guess(segment: &[u8]) -> Self {
        let mut cutter = Cutter::default();
        cutter.feed(&segment[..segment.len().min(MOST_BYTES)]);
        let mut batches = Vec::new();
        while let Some(piece) = cutter.next_batch() {
            batches.push(piece.bytes);
        }
        let fits = |contents: &Self| {
            let mut records = 0;
            for bytes in &batches {
                if records >= MOST_RECORDS {
                    break;
                }
                let Ok(batch) = Batch::new(bytes.clone(), *contents, false) else {
                    return false;
                };
                let read = batch.entries(&Options::default(), &mut |entry| {
                    if entry.is_control {
                        return Ok(());
                    }
                    records += 1;
                    if entry.is_whole() { Ok(()) } else { Err(()) }
                });
                if read != Ok(None) {
                    return false;
                }
            }
            records > 0
        };
        let mut fitting = Self::TOPICS
            .iter()
            .map(|(contents, _)| *contents)
            .filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(contents), None) => contents,
            _ => Self::Opaque,
        }
    }
}

impl Entry {
    /// Whether the value, and the key if there is one, are messages without a fault.
    fn is_whole(&self) -> bool {
        let is_whole = |content: &Content| match content {
            Content::Opened(tree) => tree.problems.is_empty(),
            _ => false,
        };
        let has_no_value = matches!(self.value, Content::Null);
        match self.key {
            Content::Null => is_whole(&self.value),
            _ => is_whole(&self.key) && (has_no_value || is_whole(&self.value)),
        }
    }
}
