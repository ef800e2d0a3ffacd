use bytes::{Buf, Bytes};

/// What an index finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// Where the batch with an offset is: `.index`.
    Offset,
    /// Which offset has a timestamp: `.timeindex`.
    Time,
    /// Which transactions were aborted: `.txnindex`.
    Transaction,
}

impl IndexKind {
    /// Bytes of an entry.
    pub fn entry_len(self) -> usize {
        match self {
            Self::Offset => 8,
            Self::Time => 12,
            Self::Transaction => 34,
        }
    }
}

/// An entry of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexEntry {
    /// The batch that has an offset.
    Offset {
        /// The offset, which is the last one of the batch.
        offset: i64,
        /// Where the batch starts in the segment, in bytes.
        position: i32,
    },
    /// The largest timestamp up to an offset.
    Time {
        /// In milliseconds since 1970.
        timestamp: i64,
        /// The offset.
        offset: i64,
    },
    /// A transaction that was aborted.
    Aborted {
        /// The version of the entry.
        version: i16,
        /// Whose it was.
        producer_id: i64,
        /// The offset of its first record.
        first_offset: i64,
        /// The offset of its marker.
        last_offset: i64,
        /// The last stable offset when it was aborted.
        last_stable_offset: i64,
    },
}

/// The entries of an index, in order. Room that was allocated and not written yet ends them.
#[derive(Clone, Debug)]
pub struct IndexEntries {
    kind: IndexKind,
    base_offset: i64,
    rest: Bytes,
}

impl IndexEntries {
    /// Reads an index. Its offsets count from the first one of the segment, which names the file.
    pub fn new(kind: IndexKind, base_offset: i64, bytes: Bytes) -> Self {
        Self {
            kind,
            base_offset,
            rest: bytes,
        }
    }

    /// What follows the last entry: zeros of an index that is still written to, and else bytes that
    /// are too few for an entry.
    pub fn rest(&self) -> &[u8] {
        &self.rest
    }

    /// Whether nothing but room that was not written to follows.
    pub fn is_sound(&self) -> bool {
        self.rest.iter().all(|byte| *byte == 0)
    }
}

impl Iterator for IndexEntries {
    type Item = IndexEntry;

    fn next(&mut self) -> Option<IndexEntry> {
        let len = self.kind.entry_len();
        let entry = self.rest.get(..len)?;
        if self.kind != IndexKind::Transaction && entry.iter().all(|byte| *byte == 0) {
            return None;
        }
        let mut entry = self.rest.split_to(len);
        let absolute = |relative: i32| self.base_offset.saturating_add(relative.into());
        Some(match self.kind {
            IndexKind::Offset => IndexEntry::Offset {
                offset: absolute(entry.get_i32()),
                position: entry.get_i32(),
            },
            IndexKind::Time => IndexEntry::Time {
                timestamp: entry.get_i64(),
                offset: absolute(entry.get_i32()),
            },
            IndexKind::Transaction => IndexEntry::Aborted {
                version: entry.get_i16(),
                producer_id: entry.get_i64(),
                first_offset: entry.get_i64(),
                last_offset: entry.get_i64(),
                last_stable_offset: entry.get_i64(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_end_where_zeros_begin() {
        let mut bytes = vec![0, 0, 0, 5, 0, 0, 1, 0, 0, 0, 0, 9, 0, 0, 2, 0];
        bytes.extend([0; 24]);
        let mut entries = IndexEntries::new(IndexKind::Offset, 100, bytes.into());
        let found: Vec<_> = entries.by_ref().collect();
        let entry = |offset, position| IndexEntry::Offset { offset, position };
        assert_eq!(found, [entry(105, 256), entry(109, 512)]);
        assert_eq!(entries.rest(), [0; 24]);
    }

    #[test]
    fn a_cut_entry_is_left() {
        for kind in [IndexKind::Offset, IndexKind::Time, IndexKind::Transaction] {
            let len = kind.entry_len();
            let bytes = vec![1; len + len - 1];
            let mut entries = IndexEntries::new(kind, 0, bytes.into());
            assert_eq!(entries.by_ref().count(), 1);
            assert_eq!(entries.rest().len(), len - 1);
        }
    }
}
