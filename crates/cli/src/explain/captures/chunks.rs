use std::io::{self, Read};
use std::sync::mpsc;
use std::thread;

use tokio::sync::mpsc::{Receiver, channel};

use crate::explain::input::Source;

/// Bytes of a chunk.
const CHUNK_BYTES: usize = 1 << 20;
/// How many chunks are read ahead.
const AHEAD: usize = 4;

/// A source's bytes, read by a thread of its own: while one chunk is looked at, the next is read, and
/// a source that says nothing does not keep a signal from being heard.
pub(super) struct Chunks {
    filled: Receiver<io::Result<Chunk>>,
    empty: mpsc::Sender<Vec<u8>>,
}

pub(super) struct Chunk {
    buffer: Vec<u8>,
    len: usize,
}

impl Chunk {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.len]
    }
}

impl Chunks {
    pub(super) fn of(mut source: Source) -> Self {
        let (sender, filled) = channel(AHEAD);
        let (empty, used) = mpsc::channel::<Vec<u8>>();
        thread::spawn(move || {
            loop {
                let mut buffer = used.try_recv().unwrap_or_else(|_| vec![0; CHUNK_BYTES]);
                let read = match source.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(len) => Ok(Chunk { buffer, len }),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let is_last = read.is_err();
                if sender.blocking_send(read).is_err() || is_last {
                    return;
                }
            }
        });
        Self { filled, empty }
    }

    /// The next bytes; `None` at the end.
    pub(super) async fn next(&mut self) -> Option<io::Result<Chunk>> {
        self.filled.recv().await
    }

    /// Lets the buffer of a chunk be used again.
    pub(super) fn give_back(&self, chunk: Chunk) {
        // At the end nobody reads any more.
        let _ = self.empty.send(chunk.buffer);
    }
}
