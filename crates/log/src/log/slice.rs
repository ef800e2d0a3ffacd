use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use crate::error::LogError;
use crate::storage::File;

/// A range of a segment's file.
#[derive(Clone, Debug)]
pub struct Slice {
    pub(super) file: Option<Arc<dyn File>>,
    pub(super) path: PathBuf,
    pub(super) position: u64,
    pub(super) len: usize,
}

impl Slice {
    pub(super) fn empty(dir: &Path) -> Self {
        Self {
            file: None,
            path: dir.to_owned(),
            position: 0,
            len: 0,
        }
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The file and the position in it, for sending its bytes without copying them. It can be read
    /// even when the log has deleted it since.
    pub fn file(&self) -> Option<(&Arc<dyn File>, u64)> {
        Some((self.file.as_ref()?, self.position))
    }

    /// Reads the bytes.
    pub fn bytes(&self) -> Result<Bytes, LogError> {
        let mut bytes = Vec::new();
        if let Some(file) = &self.file {
            let read = file.read_full(&mut bytes, self.len, self.position);
            let error = LogError::io("read", self.path.clone());
            match read {
                Ok(read) if read == self.len => {}
                // It was truncated since: what was there is not a part of the log any more.
                Ok(_) => return Err(error(io::ErrorKind::UnexpectedEof.into())),
                Err(e) => return Err(error(e)),
            }
        }
        Ok(bytes.into())
    }
}
