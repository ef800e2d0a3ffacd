use std::fmt;
use std::io::{self, IoSlice};
use std::sync::Arc;

use bytes::{Buf, Bytes, BytesMut};
use klamm_protocol::Segments;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The longest frame that is accepted unless another limit is set: Kafka's
/// `socket.request.max.bytes`, 100 MiB.
pub const DEFAULT_MAX_FRAME_BYTES: usize = 100 * 1024 * 1024;

/// The least room for a read, so that small frames come several at a time.
const READ_BYTES: usize = 8 * 1024;

/// The most buffers in one vectored write; Linux takes no more than 1,024.
const MAX_SLICES: usize = 64;

/// Why bytes are not frames.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The length is zero, negative or over the limit.
    #[error("{}", length_text(*.length, *.limit, *.looks_like))]
    Length {
        /// The length in the frame.
        length: i32,
        /// The limit, in bytes.
        limit: usize,
        /// What the length reads as in another protocol.
        looks_like: Option<OtherProtocol>,
    },
    /// The stream ended within a frame.
    #[error(
        "the server closed the connection in the middle of an answer; look at the server's log"
    )]
    Truncated,
    /// The stream broke.
    #[error("the connection broke ({0})")]
    Io(Arc<io::Error>),
}

impl FrameError {
    /// Whether a new connection may do better.
    pub fn is_retriable(&self) -> bool {
        !matches!(self, Self::Length { .. })
    }
}

/// A protocol that is not Kafka's, known by its first four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OtherProtocol {
    /// `HTTP`: a web server's answer.
    Http,
    /// A TLS alert or handshake record: the listener expects TLS.
    Tls,
    /// `SSH-`: a secure shell server's greeting.
    Ssh,
}

impl OtherProtocol {
    fn recognize(length: i32) -> Option<Self> {
        match length.to_be_bytes() {
            [b'H', b'T', b'T', b'P'] => Some(Self::Http),
            [b'S', b'S', b'H', b'-'] => Some(Self::Ssh),
            // Content type 21 (alert) or 22 (handshake), then version 3.x.
            [21 | 22, 3, 0..=4, _] => Some(Self::Tls),
            _ => None,
        }
    }
}

impl fmt::Display for OtherProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Http => "this is an HTTP server, not a Kafka server; check the port",
            Self::Tls => {
                "this listener speaks TLS, which is not supported yet; use a PLAINTEXT listener's port"
            }
            Self::Ssh => "this is an SSH server, not a Kafka server; check the port",
        })
    }
}

fn length_text(length: i32, limit: usize, looks_like: Option<OtherProtocol>) -> String {
    match looks_like {
        Some(other) => other.to_string(),
        None if length <= 0 => {
            format!(
                "the server sent a frame of length {length}; it may not be a Kafka server: check the address"
            )
        }
        None => format!(
            "the server sent a frame of {length} bytes, over the limit of {limit}; \
             it may not be a Kafka server: check the address"
        ),
    }
}

/// Reads frames off a stream. A frame is read into one buffer that grows as its bytes come, so that
/// a length alone claims no memory.
#[derive(Debug)]
pub struct FrameReader<R> {
    stream: R,
    buffer: BytesMut,
    max_frame_bytes: usize,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// A reader that refuses frames longer than `max_frame_bytes`.
    pub fn new(stream: R, max_frame_bytes: usize) -> Self {
        Self {
            stream,
            buffer: BytesMut::new(),
            max_frame_bytes,
        }
    }

    /// The next frame without its length, or `None` where the stream ends between frames.
    ///
    /// Dropping the future loses nothing: the next call goes on where it stopped.
    pub async fn next(&mut self) -> Result<Option<Bytes>, FrameError> {
        loop {
            let missing = match self.frame_len()? {
                Some(len) if self.buffer.len() >= 4 + len => {
                    self.buffer.advance(4);
                    return Ok(Some(self.buffer.split_to(len).freeze()));
                }
                Some(len) => 4 + len - self.buffer.len(),
                None => 4 - self.buffer.len(),
            };
            // At most as much again as has come already.
            self.buffer
                .reserve(missing.min(self.buffer.len()).max(READ_BYTES));
            match self.stream.read_buf(&mut self.buffer).await {
                Ok(0) if self.buffer.is_empty() => return Ok(None),
                Ok(0) => return Err(FrameError::Truncated),
                Ok(_) => {}
                Err(error) => return Err(FrameError::Io(Arc::new(error))),
            }
        }
    }

    fn frame_len(&self) -> Result<Option<usize>, FrameError> {
        let Some(length) = self
            .buffer
            .first_chunk()
            .map(|bytes| i32::from_be_bytes(*bytes))
        else {
            return Ok(None);
        };
        match usize::try_from(length) {
            Ok(len) if 0 < len && len <= self.max_frame_bytes => Ok(Some(len)),
            _ => Err(FrameError::Length {
                length,
                limit: self.max_frame_bytes,
                looks_like: OtherProtocol::recognize(length),
            }),
        }
    }
}

/// Writes a frame, with as few system calls as its segments allow, and flushes it.
pub async fn write_segments<W: AsyncWrite + Unpin>(
    stream: &mut W,
    segments: &Segments,
) -> io::Result<()> {
    let mut segments = segments.iter();
    loop {
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        let mut count = 0;
        for (slot, segment) in slices.iter_mut().zip(segments.by_ref()) {
            *slot = IoSlice::new(segment);
            count += 1;
        }
        if count == 0 {
            return stream.flush().await;
        }
        let mut slices = &mut slices[..count];
        while !slices.is_empty() {
            let written = stream.write_vectored(slices).await?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            IoSlice::advance_slices(&mut slices, written);
        }
    }
}

#[cfg(test)]
mod tests;
