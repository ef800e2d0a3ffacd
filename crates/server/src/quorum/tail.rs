use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use klamm_protocol::Offset;
use klamm_raft::{Append, AppendId};

use super::replay::batches;

/// How many bytes of durable records stay in memory. Brokers that follow closely are served of them.
const KEPT_BYTES: usize = 4 << 20;

/// The latest records of the log, in memory: those that are on their way to the disk, and some more.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    chunks: VecDeque<Append>,
    bytes: usize,
    /// Everything up to this append is in the log's files.
    written: Option<AppendId>,
}

impl Tail {
    /// Takes over what is about to be written.
    pub(crate) fn push(&mut self, append: Append) {
        self.bytes += append.batches.len();
        self.chunks.push_back(append);
        self.evict();
    }

    /// Notes that an append is in the files, and all before it.
    pub(crate) fn written(&mut self, id: AppendId) {
        self.written = self.written.max(Some(id));
        self.evict();
    }

    fn evict(&mut self) {
        while self.bytes > KEPT_BYTES
            && let Some(first) = self.chunks.front()
            && Some(first.id) <= self.written
        {
            self.bytes -= first.batches.len();
            self.chunks.pop_front();
        }
    }

    /// Forgets everything from an offset on.
    pub(crate) fn truncate(&mut self, end: Offset) {
        while let Some(last) = self.chunks.back()
            && last.end > end
        {
            // What is left of a chunk that is cut is in the files.
            self.bytes -= last.batches.len();
            self.chunks.pop_back();
        }
    }

    /// Batches from the one with an offset on, at most so many bytes but at least one batch; `None`
    /// where the files have to be asked.
    pub(crate) fn read(&self, from: Offset, max_bytes: usize) -> Option<Bytes> {
        let at = self.chunks.partition_point(|chunk| chunk.end <= from);
        let first = self.chunks.get(at).filter(|chunk| chunk.base <= from)?;
        let mut found = batches_from(first, from)?;
        if found.len() >= max_bytes {
            return Some(found.slice(..whole_batches(&found, max_bytes)));
        }
        let mut rest = self.chunks.range(at + 1..).peekable();
        let fits = |found: &BytesMut, next: &Append| found.len() + next.batches.len() <= max_bytes;
        if rest.peek().is_some() {
            let mut joined = BytesMut::from(found);
            while let Some(next) = rest.next_if(|next| fits(&joined, next)) {
                joined.extend_from_slice(&next.batches);
            }
            found = joined.freeze();
        }
        Some(found)
    }
}

/// The bytes from the batch with an offset on.
fn batches_from(chunk: &Append, from: Offset) -> Option<Bytes> {
    let mut position = 0;
    for batch in batches(chunk.batches.clone()) {
        let batch = batch.ok()?;
        if batch.header().last_offset() >= from {
            return Some(chunk.batches.slice(position..));
        }
        position += batch.bytes().len();
    }
    None
}

/// How many bytes the batches have that fit, the first in any case.
fn whole_batches(bytes: &Bytes, max_bytes: usize) -> usize {
    let lens = batches(bytes.clone()).map_while(|batch| Some(batch.ok()?.bytes().len()));
    let mut end = 0;
    for len in lens {
        if end > 0 && end + len > max_bytes {
            break;
        }
        end += len;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use klamm_protocol::records::{BatchBuilder, BatchOptions, NewRecord};

    /// An append of batches of one record each, with about `len` bytes of value.
    fn append(id: u64, base: i64, count: i64, len: usize) -> Append {
        let mut bytes = BytesMut::new();
        for offset in base..base + count {
            let mut batch = BatchBuilder::new(BatchOptions {
                base_offset: Offset(offset),
                ..BatchOptions::default()
            });
            let value = vec![0; len];
            let record = NewRecord {
                value: Some(&value),
                ..NewRecord::default()
            };
            batch.append(&record).unwrap();
            bytes.extend_from_slice(batch.finish().unwrap().bytes());
        }
        Append {
            id: AppendId(id),
            base: Offset(base),
            end: Offset(base + count),
            batches: bytes.freeze(),
        }
    }

    fn offsets(bytes: Bytes) -> Vec<i64> {
        batches(bytes)
            .map(|batch| batch.unwrap().header().base_offset.0)
            .collect()
    }

    #[test]
    fn reads_begin_at_any_batch_and_go_on_over_appends() {
        let mut tail = Tail::default();
        assert_eq!(tail.read(Offset(0), 1000), None);
        tail.push(append(1, 10, 2, 10));
        tail.push(append(2, 12, 3, 10));
        tail.push(append(3, 15, 1, 10));
        assert_eq!(tail.read(Offset(9), 1000), None);
        assert_eq!(tail.read(Offset(16), 1000), None);
        let all = |from, max| offsets(tail.read(Offset(from), max).unwrap());
        assert_eq!(all(10, 10_000), [10, 11, 12, 13, 14, 15]);
        assert_eq!(all(13, 10_000), [13, 14, 15]);
        let one = append(9, 0, 1, 10).batches.len();
        assert_eq!(all(10, 1), [10], "one batch in any case");
        assert_eq!(all(12, one * 2), [12, 13], "and no part of one");
        assert_eq!(all(13, one * 2), [13, 14]);
        assert_eq!(all(14, one * 2), [14, 15]);
    }

    #[test]
    fn what_is_not_written_is_kept_and_the_rest_is_limited() {
        let mut tail = Tail::default();
        let len = KEPT_BYTES / 2;
        for id in 1..=4 {
            tail.push(append(id, id as i64, 1, len));
        }
        assert!(tail.read(Offset(1), 1).is_some());
        tail.written(AppendId(2));
        assert!(tail.read(Offset(2), 1).is_none());
        assert!(tail.read(Offset(3), 1).is_some());
        tail.written(AppendId(4));
        assert!(tail.bytes <= KEPT_BYTES);
        assert!(tail.read(Offset(4), 1).is_some());
    }

    #[test]
    fn truncation_forgets_what_is_cut() {
        let mut tail = Tail::default();
        tail.push(append(1, 0, 2, 10));
        tail.push(append(2, 2, 2, 10));
        tail.truncate(Offset(3));
        assert!(tail.read(Offset(2), 1).is_none());
        assert!(tail.read(Offset(1), 1).is_some());
    }
}
