use std::fs;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use super::{Dir, File, OpenMode};

/// A directory of the operating system.
#[derive(Debug)]
pub struct OsDir {
    path: PathBuf,
}

impl OsDir {
    /// A directory that has to be there.
    pub fn open(path: &Path) -> io::Result<Arc<Self>> {
        if !fs::metadata(path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let path = path.to_owned();
        Ok(Arc::new(Self { path }))
    }

    /// A directory, made if it is not there; its own name is durable then.
    pub fn create(path: &Path) -> io::Result<Arc<Self>> {
        match fs::create_dir(path) {
            Ok(()) => sync_dir(path.parent().unwrap_or(path))?,
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
        Self::open(path)
    }
}

fn sync_dir(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    fs::File::open(path)?.sync_all()
}

impl Dir for OsDir {
    fn path(&self) -> &Path {
        &self.path
    }

    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let path = self.path.join(name);
        let opened = fs::File::options()
            .read(true)
            .write(true)
            .create(mode != OpenMode::Existing)
            .truncate(mode == OpenMode::Empty)
            .open(&path);
        let file = match opened {
            // Apache Kafka takes the right to write from snapshots that are complete.
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied && mode == OpenMode::Existing => {
                fs::File::open(&path)?
            }
            opened => opened?,
        };
        Ok(Arc::new(OsFile { file }))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            // A name that is no text is none of Kafka's.
            if let (true, Ok(name)) = (
                entry.file_type()?.is_file(),
                entry.file_name().into_string(),
            ) {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn sync(&self) -> io::Result<()> {
        sync_dir(&self.path)
    }
}

#[derive(Debug)]
struct OsFile {
    file: fs::File,
}

impl File for OsFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn modified_ms(&self) -> io::Result<i64> {
        let modified = self.file.metadata()?.modified()?;
        let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn read_at(&self, buf: &mut Vec<u8>, max: usize, at: u64) -> io::Result<usize> {
        buf.reserve_exact(max);
        let room = buf.capacity() - buf.len();
        if room > max {
            // The spare capacity is all that one call fills; what is asked for may be less.
            let start = buf.len();
            buf.resize(start + max, 0);
            let read = rustix::io::pread(&self.file, &mut buf[start..], at);
            buf.truncate(start + read.unwrap_or(0));
            return Ok(read?);
        }
        Ok(rustix::io::pread(
            &self.file,
            rustix::buffer::spare_capacity(buf),
            at,
        )?)
    }

    fn write_at(&self, bytes: &[IoSlice<'_>], at: u64) -> io::Result<usize> {
        Ok(rustix::io::pwritev(&self.file, bytes, at)?)
    }

    fn set_size(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }
}
