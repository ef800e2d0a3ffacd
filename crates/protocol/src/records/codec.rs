//! The codecs, each from a slice to a growing buffer that an explicit limit bounds.

#[cfg(feature = "compression")]
mod gzip;
#[cfg(feature = "compression")]
mod lz4;
#[cfg(feature = "compression")]
mod snappy;
#[cfg(feature = "compression")]
mod zstandard;

#[cfg(feature = "compression")]
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{BuildError, Compression, RecordsError};

/// How many bytes the records of one batch may have after decompression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DecompressLimit(pub usize);

impl DecompressLimit {
    /// 64 MiB: more than a whole Fetch response of Apache Kafka's default size
    /// (`fetch.max.bytes`, 50 MiB), so an honest batch of any usual setting fits.
    pub const DEFAULT: Self = Self(64 << 20);
}

impl Default for DecompressLimit {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A compression with its level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Codec {
    /// The compression.
    pub compression: Compression,
    /// gzip's 1 to 9, or a level of zstd from [`Codec::ZSTD_LEVELS`]; the codec's default if none.
    /// Snappy has no levels. LZ4's 1 to 17 are accepted, as in Kafka's config, and change nothing:
    /// every level reads the same, and the encoder here is the fast one.
    pub level: Option<i32>,
}

impl Codec {
    /// The levels of zstd, as Kafka's `compression.zstd.level` has them.
    pub const ZSTD_LEVELS: core::ops::RangeInclusive<i32> = -131_072..=22;

    /// A compression at its default level.
    pub const fn new(compression: Compression) -> Self {
        Self {
            compression,
            level: None,
        }
    }

    /// A compression at a level, which is checked when a batch is built.
    pub const fn with_level(compression: Compression, level: i32) -> Self {
        Self {
            compression,
            level: Some(level),
        }
    }

    /// Refuses a level that the compression does not have.
    pub(super) fn check(self) -> Result<(), BuildError> {
        let Some(level) = self.level else {
            return Ok(());
        };
        let known = match self.compression {
            Compression::None | Compression::Snappy => false,
            Compression::Gzip => (1..=9).contains(&level),
            Compression::Lz4 => (1..=17).contains(&level),
            Compression::Zstd => Self::ZSTD_LEVELS.contains(&level),
        };
        let compression = self.compression;
        if known {
            Ok(())
        } else {
            Err(BuildError::Level { compression, level })
        }
    }
}

impl From<Compression> for Codec {
    fn from(compression: Compression) -> Self {
        Self::new(compression)
    }
}

/// Why a codec gave up.
#[cfg(feature = "compression")]
enum Fault {
    /// The output would pass the limit.
    Limit,
    /// The input is broken.
    Broken(String),
}

#[cfg(feature = "compression")]
fn broken(reason: impl ToString) -> Fault {
    Fault::Broken(reason.to_string())
}

/// Decompresses all of `input`. `magic` is the format of the batch or message around it: what counts
/// as a valid LZ4 header depends on it.
///
/// Memory: at most twice the limit while the output grows, and below 64 KiB for
/// the codec itself (zstd's C code keeps about 160 KiB of tables of its own).
pub(super) fn decompress(
    compression: Compression,
    magic: i8,
    input: &[u8],
    limit: DecompressLimit,
) -> Result<Vec<u8>, RecordsError> {
    #[cfg(not(feature = "compression"))]
    {
        let _ = (magic, input, limit);
        Err(RecordsError::NotBuiltIn(compression))
    }
    #[cfg(feature = "compression")]
    {
        let result = match compression {
            // Callers view uncompressed records where they are.
            Compression::None => Ok(input.to_vec()),
            Compression::Gzip => gzip::decompress(input, limit.0),
            Compression::Snappy => snappy::decompress(input, limit.0),
            Compression::Lz4 => lz4::decompress(input, magic == 0, limit.0),
            Compression::Zstd => zstandard::decompress(input, limit.0),
        };
        let mut output = result.map_err(|fault| match fault {
            Fault::Limit => RecordsError::Limit {
                compression,
                limit: limit.0,
            },
            Fault::Broken(reason) => RecordsError::Decompress {
                compression,
                reason,
            },
        })?;
        // Views on the output may live long; they should not hold a guess that was far too large.
        if output.capacity() / 2 > output.len() {
            output.shrink_to_fit();
        }
        Ok(output)
    }
}

/// Compresses `input` into a new buffer, after `head` bytes of zero that are left for a header.
pub(super) fn compress(codec: Codec, input: &[u8], head: usize) -> Result<Vec<u8>, BuildError> {
    let compression = codec.compression;
    #[cfg(not(feature = "compression"))]
    {
        let _ = (input, head);
        Err(BuildError::NotBuiltIn(compression))
    }
    #[cfg(feature = "compression")]
    {
        let result = match compression {
            Compression::None => {
                let mut out = buffer(head, input.len());
                out.extend_from_slice(input);
                Ok(out)
            }
            Compression::Gzip => gzip::compress(input, codec.level, head),
            Compression::Snappy => snappy::compress(input, head),
            Compression::Lz4 => lz4::compress(input, head),
            Compression::Zstd => zstandard::compress(input, codec.level, head),
        };
        let mut out = result.map_err(|reason| BuildError::Compress {
            compression,
            reason,
        })?;
        // Codecs ask for room for the worst case, several times of what they need.
        out.shrink_to_fit();
        Ok(out)
    }
}

/// Makes room for `more` bytes, of which the caller knows that they keep to the limit. The buffer
/// doubles, but not past the limit, so that an old and a new one together are twice that at most.
#[cfg(feature = "compression")]
fn grow(output: &mut Vec<u8>, more: usize, limit: usize) {
    if output.capacity() - output.len() < more {
        let doubled = output.capacity().saturating_mul(2).min(limit);
        output.reserve_exact(more.max(doubled.saturating_sub(output.len())));
    }
}

/// A buffer with `head` bytes of zero and room for `len` more.
#[cfg(feature = "compression")]
fn buffer(head: usize, len: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(head + len);
    out.resize(head, 0);
    out
}
