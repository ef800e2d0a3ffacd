use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use klamm_protocol::Offset;

use crate::names::Kind;
use crate::storage::{Dir, File, OpenMode};

/// The open files of all logs of a process: at most so many, whatever the number of replicas.
///
/// A log asks for a file each time it needs one. The one that was not asked for the longest makes
/// room for another (by second chance); who still holds it can go on using it.
#[derive(Debug)]
pub struct OpenFiles {
    capacity: usize,
    open: Mutex<Clock>,
}

#[derive(Debug, Default)]
struct Clock {
    slots: Vec<Slot>,
    places: HashMap<Key, usize>,
    hand: usize,
}

#[derive(Debug)]
struct Slot {
    key: Key,
    file: Arc<dyn File>,
    used: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    log: u64,
    base: Offset,
    kind: Kind,
}

impl OpenFiles {
    /// Room for `capacity` open files, at least one.
    pub fn new(capacity: usize) -> Arc<Self> {
        Arc::new(Self {
            capacity: capacity.max(1),
            open: Mutex::default(),
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut Clock) -> T) -> T {
        act(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn find(&self, key: Key) -> Option<Arc<dyn File>> {
        self.with(|clock| {
            let slot = &mut clock.slots[*clock.places.get(&key)?];
            slot.used = true;
            Some(Arc::clone(&slot.file))
        })
    }

    fn keep(&self, key: Key, file: Arc<dyn File>) {
        let replaced = self.with(|clock| clock.insert(key, file, self.capacity));
        // Closing a file may take a while: not under the lock.
        drop(replaced);
    }

    fn forget(&self, key: Key) {
        let removed = self.with(|clock| clock.remove(key));
        drop(removed);
    }
}

impl Clock {
    fn insert(&mut self, key: Key, file: Arc<dyn File>, capacity: usize) -> Option<Slot> {
        let slot = Slot {
            key,
            file,
            used: true,
        };
        if let Some(&place) = self.places.get(&key) {
            return Some(std::mem::replace(&mut self.slots[place], slot));
        }
        if self.slots.len() < capacity {
            self.places.insert(key, self.slots.len());
            self.slots.push(slot);
            return None;
        }
        while std::mem::take(&mut self.slots[self.hand].used) {
            self.hand = (self.hand + 1) % self.slots.len();
        }
        let replaced = std::mem::replace(&mut self.slots[self.hand], slot);
        self.places.remove(&replaced.key);
        self.places.insert(key, self.hand);
        self.hand = (self.hand + 1) % self.slots.len();
        Some(replaced)
    }

    fn remove(&mut self, key: Key) -> Option<Slot> {
        let place = self.places.remove(&key)?;
        let removed = self.slots.swap_remove(place);
        if let Some(moved) = self.slots.get(place) {
            self.places.insert(moved.key, place);
        }
        if self.hand >= self.slots.len() {
            self.hand = 0;
        }
        Some(removed)
    }
}

/// The files of one log.
#[derive(Debug)]
pub(crate) struct LogFiles {
    pub(crate) dir: Arc<dyn Dir>,
    open: Arc<OpenFiles>,
    log: u64,
}

impl LogFiles {
    pub(crate) fn new(dir: Arc<dyn Dir>, open: Arc<OpenFiles>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let log = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { dir, open, log }
    }

    fn key(&self, base: Offset, kind: Kind) -> Key {
        Key {
            log: self.log,
            base,
            kind,
        }
    }

    /// A segment's file, opened if it is not open.
    pub(crate) fn file(&self, base: Offset, kind: Kind) -> io::Result<Arc<dyn File>> {
        let key = self.key(base, kind);
        if let Some(file) = self.open.find(key) {
            return Ok(file);
        }
        self.opened(base, kind, OpenMode::Existing)
    }

    /// A segment's file, empty.
    pub(crate) fn empty(&self, base: Offset, kind: Kind) -> io::Result<Arc<dyn File>> {
        self.opened(base, kind, OpenMode::Empty)
    }

    fn opened(&self, base: Offset, kind: Kind, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let file = self.dir.open(&kind.name(base), mode)?;
        self.open.keep(self.key(base, kind), Arc::clone(&file));
        Ok(file)
    }

    /// Replaces a segment's file as a whole.
    pub(crate) fn replace(&self, base: Offset, kind: Kind, bytes: &[u8]) -> io::Result<()> {
        self.dir.replace(&kind.name(base), bytes)?;
        self.open.forget(self.key(base, kind));
        Ok(())
    }

    /// Removes a segment's file.
    pub(crate) fn remove(&self, base: Offset, kind: Kind) -> io::Result<()> {
        self.open.forget(self.key(base, kind));
        self.dir.remove_if_there(&kind.name(base))
    }
}
