use std::fmt;
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

mod os;

pub use os::OsDir;

/// A directory, as far as this crate needs one: the real one is [`OsDir`], tests have one that
/// fails and crashes on demand.
pub trait Dir: fmt::Debug + Send + Sync {
    /// Where it is, for messages.
    fn path(&self) -> &Path;

    /// Opens a file for reading and writing.
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn File>>;

    /// The names of the files in it, in no order.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Renames a file over another, if there is one.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes its names durable: files that were created, renamed or removed.
    fn sync(&self) -> io::Result<()>;
}

/// How to open a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// It has to be there.
    Existing,
    /// It is made if it is not there.
    Create,
    /// It is empty afterwards.
    Empty,
}

/// An open file. Reads and writes say where, so that one handle serves many threads.
pub trait File: fmt::Debug + Send + Sync {
    /// Its length in bytes.
    fn size(&self) -> io::Result<u64>;

    /// When its bytes last changed, in milliseconds since 1970.
    fn modified_ms(&self) -> io::Result<i64>;

    /// Appends at most `max` bytes from position `at` to `buf`, and says how many; none at the end.
    fn read_at(&self, buf: &mut Vec<u8>, max: usize, at: u64) -> io::Result<usize>;

    /// Writes bytes at position `at`, and says how many; perhaps not all.
    fn write_at(&self, bytes: &[IoSlice<'_>], at: u64) -> io::Result<usize>;

    /// Cuts it off at a length, or fills it up with zeros.
    fn set_size(&self, len: u64) -> io::Result<()>;

    /// Makes its bytes and its length durable.
    fn sync(&self) -> io::Result<()>;

    /// The descriptor, for sending a range of the file without copying it; `None` in memory.
    fn as_fd(&self) -> Option<BorrowedFd<'_>>;
}

impl dyn File + '_ {
    /// Appends `len` bytes from position `at` to `buf`, or fewer where the file ends before.
    pub fn read_full(&self, buf: &mut Vec<u8>, len: usize, at: u64) -> io::Result<usize> {
        let mut done = 0;
        while done < len {
            match self.read_at(buf, len - done, at + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(done)
    }

    /// Writes all bytes at position `at`.
    pub fn write_all(&self, mut slices: &mut [IoSlice<'_>], mut at: u64) -> io::Result<()> {
        /// How many slices one call takes on Linux.
        const MAX_SLICES: usize = 1024;
        IoSlice::advance_slices(&mut slices, 0);
        while !slices.is_empty() {
            match self.write_at(&slices[..slices.len().min(MAX_SLICES)], at) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    at += written as u64;
                    IoSlice::advance_slices(&mut slices, written);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

impl dyn Dir + '_ {
    /// The path of a file in it, for messages.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// The bytes of a small file, or `None` if there is no such file. One of more than `max` bytes
    /// is an error.
    pub fn read_small(&self, name: &str, max: usize) -> io::Result<Option<Vec<u8>>> {
        let file = match self.open(name, OpenMode::Existing) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e),
        };
        let mut bytes = Vec::new();
        file.read_full(&mut bytes, max + 1, 0)?;
        if bytes.len() > max {
            let text = format!("it has more than {max} bytes, which no such file should have");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(Some(bytes))
    }

    /// Replaces a small file as a whole: after a crash it has its old bytes or these.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temporary = format!("{name}.tmp");
        let file = self.open(&temporary, OpenMode::Empty)?;
        file.write_all(&mut [IoSlice::new(bytes)], 0)?;
        file.sync()?;
        drop(file);
        self.rename(&temporary, name)?;
        self.sync()
    }

    /// Removes a file, if it is there.
    pub fn remove_if_there(&self, name: &str) -> io::Result<()> {
        match self.remove(name) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}
