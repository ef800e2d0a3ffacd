//! A disk in memory, for tests: it fails when it is told to, and forgets on a crash what was not
//! flushed, or only a part of that.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::storage::{Dir, File, OpenMode};

/// What disks write at once, in bytes.
const SECTOR_LEN: usize = 512;

/// A directory in memory.
#[derive(Clone)]
pub struct MemDir {
    path: PathBuf,
    disk: Arc<Mutex<Disk>>,
}

#[derive(Debug, Default)]
struct Disk {
    names: BTreeMap<String, usize>,
    /// The names that survive a crash.
    durable_names: BTreeMap<String, usize>,
    files: Vec<Contents>,
    fault: Option<Fault>,
    /// Handles of before a crash are of no use after it.
    crashes: u64,
}

#[derive(Clone, Debug, Default)]
struct Contents {
    bytes: Vec<u8>,
    /// The bytes that survive a crash.
    durable: Vec<u8>,
}

/// What goes wrong, once, after some operations of its kind went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is to fail.
    pub operation: Operation,
    /// How many such operations go well before.
    pub after: usize,
    /// The error: such as `StorageFull`, or `Other` for an I/O error.
    pub error: io::ErrorKind,
}

/// Something that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A write, of which the first half is done.
    Write,
    /// A change of a file's length.
    SetSize,
    /// A flush of a file.
    Sync,
    /// A flush of a directory.
    SyncDir,
    /// A read.
    Read,
    /// An opened, made, renamed or removed file.
    Name,
}

/// How much of what was not flushed a crash leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// All of it: the process was killed, the machine runs on.
    Process,
    /// Nothing.
    Lose,
    /// Some of it: each sector of 512 bytes, each length and each name as `random` decides.
    Random,
}

impl fmt::Debug for MemDir {
    /// The names alone: the bytes are long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.disk().names.keys()).finish()
    }
}

impl Default for MemDir {
    fn default() -> Self {
        Self {
            path: "/memory".into(),
            disk: Arc::default(),
        }
    }
}

impl MemDir {
    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets an operation fail.
    pub fn fail(&self, fault: Fault) {
        self.disk().fault = Some(fault);
    }

    /// Whether the fault that was set has yet to come.
    pub fn fault_is_pending(&self) -> bool {
        self.disk().fault.is_some()
    }

    /// The bytes of a file.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let disk = self.disk();
        let place = *disk.names.get(name)?;
        Some(disk.files[place].bytes.clone())
    }

    /// Makes a file with these bytes, which survive a crash.
    pub fn put(&self, name: &str, bytes: &[u8]) {
        let mut disk = self.disk();
        let place = disk.files.len();
        disk.files.push(Contents {
            bytes: bytes.to_vec(),
            durable: bytes.to_vec(),
        });
        disk.names.insert(name.to_owned(), place);
        disk.durable_names.insert(name.to_owned(), place);
    }

    /// Crashes. Open files are of no use afterwards. `random` gives numbers below its argument.
    pub fn crash(&self, crash: Crash, mut random: impl FnMut(usize) -> usize) {
        let mut guard = self.disk();
        let disk = &mut *guard;
        disk.crashes += 1;
        disk.fault = None;
        match crash {
            Crash::Process => return,
            Crash::Lose => disk.names.clone_from(&disk.durable_names),
            Crash::Random => {
                let all: Vec<String> = disk
                    .names
                    .keys()
                    .chain(disk.durable_names.keys())
                    .cloned()
                    .collect();
                for name in all {
                    let durable = disk.durable_names.get(&name).copied();
                    if random(2) == 0 {
                        match durable {
                            Some(place) => disk.names.insert(name, place),
                            None => disk.names.remove(&name),
                        };
                    }
                }
            }
        }
        disk.durable_names.clone_from(&disk.names);
        for file in &mut disk.files {
            match crash {
                Crash::Random => file.tear(&mut random),
                _ => file.bytes.clone_from(&file.durable),
            }
            file.durable.clone_from(&file.bytes);
        }
    }
}

impl Contents {
    /// Keeps a part of what was not flushed.
    fn tear(&mut self, random: &mut impl FnMut(usize) -> usize) {
        let (shorter, longer) = match self.bytes.len() < self.durable.len() {
            true => (self.bytes.len(), self.durable.len()),
            false => (self.durable.len(), self.bytes.len()),
        };
        let len = match random(4) {
            0 => self.bytes.len(),
            _ => shorter + random(longer - shorter + 1),
        };
        let mut torn = self.durable.clone();
        torn.resize(len, 0);
        for (place, sector) in torn.chunks_mut(SECTOR_LEN).enumerate() {
            let start = place * SECTOR_LEN;
            if random(2) == 0 && start < self.bytes.len() {
                let written = &self.bytes[start..];
                let len = sector.len().min(written.len());
                sector[..len].copy_from_slice(&written[..len]);
            }
        }
        self.bytes = torn;
    }
}

impl Disk {
    fn fail(&mut self, operation: Operation) -> io::Result<()> {
        let Some(fault) = self
            .fault
            .as_mut()
            .filter(|fault| fault.operation == operation)
        else {
            return Ok(());
        };
        match fault.after.checked_sub(1) {
            Some(after) => {
                fault.after = after;
                Ok(())
            }
            None => {
                let error = fault.error;
                self.fault = None;
                Err(error.into())
            }
        }
    }

    fn place(&self, name: &str) -> io::Result<usize> {
        self.names
            .get(name)
            .copied()
            .ok_or(io::ErrorKind::NotFound.into())
    }
}

impl Dir for MemDir {
    fn path(&self) -> &Path {
        &self.path
    }

    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let mut disk = self.disk();
        disk.fail(Operation::Name)?;
        let place = match disk.place(name) {
            Ok(place) => place,
            Err(e) if mode == OpenMode::Existing => return Err(e),
            Err(_) => {
                disk.files.push(Contents::default());
                let place = disk.files.len() - 1;
                disk.names.insert(name.to_owned(), place);
                place
            }
        };
        if mode == OpenMode::Empty {
            disk.files[place].bytes.clear();
        }
        Ok(Arc::new(MemFile {
            disk: Arc::clone(&self.disk),
            place,
            crashes: disk.crashes,
        }))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.disk().names.keys().cloned().collect())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut disk = self.disk();
        disk.fail(Operation::Name)?;
        let place = disk.place(from)?;
        disk.names.remove(from);
        disk.names.insert(to.to_owned(), place);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut disk = self.disk();
        disk.fail(Operation::Name)?;
        disk.place(name)?;
        disk.names.remove(name);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut guard = self.disk();
        guard.fail(Operation::SyncDir)?;
        let disk = &mut *guard;
        disk.durable_names.clone_from(&disk.names);
        Ok(())
    }
}

struct MemFile {
    disk: Arc<Mutex<Disk>>,
    place: usize,
    crashes: u64,
}

impl fmt::Debug for MemFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MemFile").field(&self.place).finish()
    }
}

impl MemFile {
    fn with<T>(
        &self,
        operation: Operation,
        act: impl FnOnce(&mut Contents, io::Result<()>) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut disk = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(self.crashes, disk.crashes, "a file was used after a crash");
        let outcome = disk.fail(operation);
        act(&mut disk.files[self.place], outcome)
    }
}

impl File for MemFile {
    fn size(&self) -> io::Result<u64> {
        self.with(Operation::Read, |file, outcome| {
            outcome.map(|()| file.bytes.len() as u64)
        })
    }

    fn modified_ms(&self) -> io::Result<i64> {
        Ok(0)
    }

    fn read_at(&self, buf: &mut Vec<u8>, max: usize, at: u64) -> io::Result<usize> {
        self.with(Operation::Read, |file, outcome| {
            outcome?;
            let rest = file.bytes.get(at as usize..).unwrap_or_default();
            // Short, as reads may be.
            let len = rest.len().min(max);
            let len = if len > 1 { len - len / 3 } else { len };
            buf.extend_from_slice(&rest[..len]);
            Ok(len)
        })
    }

    fn write_at(&self, bytes: &[IoSlice<'_>], at: u64) -> io::Result<usize> {
        self.with(Operation::Write, |file, outcome| {
            let all: Vec<u8> = bytes
                .iter()
                .flat_map(|slice| slice.iter().copied())
                .collect();
            // Short, as writes may be.
            let len = if all.len() > 1 {
                all.len() - all.len() / 3
            } else {
                all.len()
            };
            let end = at as usize + len;
            if file.bytes.len() < end {
                file.bytes.resize(end, 0);
            }
            file.bytes[at as usize..end].copy_from_slice(&all[..len]);
            outcome.map(|()| len)
        })
    }

    fn set_size(&self, len: u64) -> io::Result<()> {
        self.with(Operation::SetSize, |file, outcome| {
            outcome?;
            file.bytes.resize(len as usize, 0);
            Ok(())
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.with(Operation::Sync, |file, outcome| {
            outcome?;
            file.durable.clone_from(&file.bytes);
            Ok(())
        })
    }

    fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}
