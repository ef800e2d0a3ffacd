use std::io::{self, IoSlice};

use klamm_protocol::Offset;

use crate::files::LogFiles;
use crate::names::Kind;
use crate::storage::File;

/// An entry of a sparse index. Both numbers grow from entry to entry.
///
/// In an offset index, `key` is an offset less the base offset and `value` the position of a batch
/// that begins at that offset or before. In a time index, `key` is a timestamp and `value` the last
/// offset, less the base offset, of the first batch that has it as its largest: no batch before
/// that one has a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: i64,
    pub(crate) value: i32,
}

/// One of the two indexes of a segment, on the disk and, its newest entries, in memory.
///
/// Entries in memory are written when there are enough of them, or when the segment is closed: what
/// a crash loses of an index is rebuilt from the batches.
#[derive(Debug)]
pub(crate) struct Index {
    kind: Kind,
    base: Offset,
    /// Entries in the file.
    stored: u64,
    /// Entries after those.
    pending: Vec<Entry>,
    /// The last of all.
    last: Option<Entry>,
    /// Whether the file may have entries that are not durable.
    is_dirty: bool,
}

/// How many entries wait in memory, at most.
const MAX_PENDING: usize = 256;
/// Bytes read at a time when an entry is looked for, less than a page and whole entries.
const BLOCK_LEN: usize = 4080;

impl Index {
    /// An index without entries, for a segment that is new or scanned from its start.
    pub(crate) fn empty(kind: Kind, base: Offset) -> Self {
        Self {
            kind,
            base,
            stored: 0,
            pending: Vec::new(),
            last: None,
            is_dirty: false,
        }
    }

    /// The index that is on the disk. `None` if there is none, or one that cannot be right.
    pub(crate) fn load(files: &LogFiles, kind: Kind, base: Offset) -> io::Result<Option<Self>> {
        let mut index = Self::empty(kind, base);
        let file = match files.file(base, kind) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e),
        };
        let len = file.size()?;
        if len % index.entry_len() != 0 {
            return Ok(None);
        }
        index.stored = len / index.entry_len();
        let last = match index.stored {
            0 => None,
            count => Some(index.read(&*file, count - 1)?),
        };
        // Apache Kafka makes room for a segment's indexes when it begins it, filled with zeros, and
        // cuts them off when it is done. Zeros at the end show that it never was.
        if last.is_some_and(|last| last.key <= 0 && index.stored > 1 || last.value < 0) {
            return Ok(None);
        }
        index.last = last;
        Ok(Some(index))
    }

    pub(crate) fn last(&self) -> Option<Entry> {
        self.last
    }

    /// Entries on the disk and in memory.
    pub(crate) fn count(&self) -> u64 {
        self.stored + self.pending.len() as u64
    }

    /// The bytes of an entry in the file.
    pub(crate) fn entry_len(&self) -> u64 {
        match self.kind {
            Kind::TimeIndex => 12,
            _ => 8,
        }
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        self.pending.push(entry);
        self.last = Some(entry);
    }

    /// Writes the entries that wait in memory, if they are many.
    pub(crate) fn store_many(&mut self, files: &LogFiles) -> io::Result<()> {
        match self.pending.len() >= MAX_PENDING {
            true => self.store(files),
            false => Ok(()),
        }
    }

    /// Writes the entries that wait in memory.
    pub(crate) fn store(&mut self, files: &LogFiles) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let file = files.file(self.base, self.kind)?;
        let at = self.stored * self.entry_len();
        file.write_all(&mut [IoSlice::new(&self.pending_bytes())], at)?;
        self.stored += self.pending.len() as u64;
        self.pending.clear();
        self.is_dirty = true;
        Ok(())
    }

    /// Replaces the file by the entries in memory, which are all, durably.
    pub(crate) fn replace(&mut self, files: &LogFiles) -> io::Result<()> {
        files.replace(self.base, self.kind, &self.pending_bytes())?;
        self.stored = self.pending.len() as u64;
        self.pending.clear();
        self.is_dirty = false;
        Ok(())
    }

    /// The same, durable with [`Index::sync`]. A file that is right is left as it is.
    pub(crate) fn rewrite(&mut self, files: &LogFiles) -> io::Result<()> {
        let bytes = self.pending_bytes();
        let is_right = self.is_in_file(files, &bytes)?;
        if !is_right {
            let file = files.empty(self.base, self.kind)?;
            file.write_all(&mut [IoSlice::new(&bytes)], 0)?;
        }
        self.stored = self.pending.len() as u64;
        self.pending.clear();
        // Who wrote it may have been killed before it was durable.
        self.is_dirty = !is_right || self.stored > 0;
        Ok(())
    }

    fn is_in_file(&self, files: &LogFiles, bytes: &[u8]) -> io::Result<bool> {
        let file = match files.file(self.base, self.kind) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(e),
        };
        if file.size()? != bytes.len() as u64 {
            return Ok(false);
        }
        let mut there = Vec::new();
        file.read_full(&mut there, bytes.len(), 0)?;
        Ok(there == bytes)
    }

    fn pending_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.pending.len() * self.entry_len() as usize);
        for entry in &self.pending {
            match self.kind {
                Kind::TimeIndex => bytes.extend(entry.key.to_be_bytes()),
                _ => bytes.extend((entry.key as i32).to_be_bytes()),
            }
            bytes.extend(entry.value.to_be_bytes());
        }
        bytes
    }

    /// Makes the index durable.
    pub(crate) fn sync(&mut self, files: &LogFiles) -> io::Result<()> {
        self.store(files)?;
        if self.is_dirty {
            files.file(self.base, self.kind)?.sync()?;
            self.is_dirty = false;
        }
        Ok(())
    }

    /// The last entry that a predicate holds for, if it holds for some entries and then for none.
    pub(crate) fn last_where(
        &self,
        files: &LogFiles,
        holds: impl Fn(Entry) -> bool,
    ) -> io::Result<Option<Entry>> {
        Ok(self.search(files, holds)?.1)
    }

    /// How many entries a predicate holds for, and the last of them.
    fn search(
        &self,
        files: &LogFiles,
        holds: impl Fn(Entry) -> bool,
    ) -> io::Result<(u64, Option<Entry>)> {
        let among = self.pending.partition_point(|&entry| holds(entry));
        if among > 0 {
            let count = self.stored + among as u64;
            return Ok((count, Some(self.pending[among - 1])));
        }
        if self.stored == 0 {
            return Ok((0, None));
        }
        let file = files.file(self.base, self.kind)?;
        let per_block = BLOCK_LEN as u64 / self.entry_len();
        // First the block whose first entry is the last that the predicate holds for.
        let (mut low, mut high) = (0, self.stored.div_ceil(per_block));
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(self.read(&*file, middle * per_block)?) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let Some(block) = low.checked_sub(1) else {
            return Ok((0, None));
        };
        let first = block * per_block;
        let entries = self.read_many(&*file, first, per_block.min(self.stored - first))?;
        let among = entries.partition_point(|&entry| holds(entry));
        let last = among.checked_sub(1).map(|last| entries[last]);
        Ok((first + among as u64, last))
    }

    /// Drops the entries after those that a predicate holds for.
    pub(crate) fn retain_while(
        &mut self,
        files: &LogFiles,
        holds: impl Fn(Entry) -> bool,
    ) -> io::Result<()> {
        let (count, last) = self.search(files, holds)?;
        match count.checked_sub(self.stored) {
            Some(pending) => self.pending.truncate(pending as usize),
            None => {
                let file = files.file(self.base, self.kind)?;
                file.set_size(count * self.entry_len())?;
                self.is_dirty = true;
                self.stored = count;
                self.pending.clear();
            }
        }
        self.last = last;
        Ok(())
    }

    fn read(&self, file: &dyn File, place: u64) -> io::Result<Entry> {
        let entries = self.read_many(file, place, 1)?;
        entries
            .first()
            .copied()
            .ok_or(io::ErrorKind::UnexpectedEof.into())
    }

    fn read_many(&self, file: &dyn File, place: u64, count: u64) -> io::Result<Vec<Entry>> {
        let len = self.entry_len() as usize;
        let mut bytes = Vec::new();
        file.read_full(&mut bytes, count as usize * len, place * len as u64)?;
        let entry = |bytes: &[u8]| {
            let (key, value) = bytes.split_at(bytes.len() - 4);
            let key = match *key {
                [a, b, c, d] => i32::from_be_bytes([a, b, c, d]).into(),
                _ => i64::from_be_bytes(key.try_into().expect("a key has 4 or 8 bytes")),
            };
            Entry {
                key,
                value: i32::from_be_bytes(value.try_into().expect("a value has 4 bytes")),
            }
        };
        Ok(bytes.chunks_exact(len).map(entry).collect())
    }
}
