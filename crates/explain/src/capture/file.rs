//! pcap and pcapng files: bytes in, packets out.

mod pcap;
mod pcapng;

use thiserror::Error;

use pcap::Pcap;
use pcapng::Pcapng;

use super::Time;

/// The longest packet or block that is taken for one. Captures of whole packets have up to 256 KiB.
const MAX_BLOCK_BYTES: usize = 16 << 20;

/// Why a capture cannot be read any further.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FileError {
    /// It does not begin as a capture does.
    #[error("it is neither a pcap nor a pcapng file")]
    NoCapture,
    /// Bytes make no sense.
    #[error("byte {offset}: {what}")]
    Broken {
        /// Where, in bytes from the start.
        offset: u64,
        /// What is wrong.
        what: String,
    },
    /// It ends where more has to follow.
    #[error("it ends within the packet or block at byte {offset}: {there} of {needed} bytes")]
    Cut {
        /// Where the packet or block starts, in bytes from the start.
        offset: u64,
        /// How many bytes of it are there.
        there: usize,
        /// How many it has, as far as is known.
        needed: usize,
    },
}

/// A packet as the capture has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet<'a> {
    pub(super) time: Time,
    /// What the data begins with: a number of the registry of link types.
    pub(super) link_type: u32,
    pub(super) data: &'a [u8],
    /// How long the packet was before it was cut to the snap length.
    pub(super) length: u32,
}

/// Takes a file in pieces of any size. No more is kept than one packet that is not complete.
#[derive(Debug, Default)]
pub(super) struct File {
    format: Option<Format>,
    kept: Vec<u8>,
    /// Where the first byte that is not read yet is.
    offset: u64,
    /// Packets that the capturing program says it dropped.
    pub(super) dropped: u64,
}

#[derive(Debug)]
enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

/// What a block turned out to be.
enum Block<'a> {
    Packet(Packet<'a>),
    Dropped(u64),
    Nothing,
}

impl File {
    /// Takes the next bytes. After an error there are no more packets.
    pub(super) fn push(
        &mut self,
        mut input: &[u8],
        packet: &mut impl FnMut(Packet<'_>),
    ) -> Result<(), FileError> {
        while !self.kept.is_empty() {
            let needed = self.needed(&self.kept)?;
            let missing = needed.saturating_sub(self.kept.len());
            if missing > 0 {
                let (taken, rest) = input.split_at(missing.min(input.len()));
                self.kept.extend_from_slice(taken);
                input = rest;
                if taken.len() < missing {
                    return Ok(());
                }
                continue;
            }
            let mut block = std::mem::take(&mut self.kept);
            self.block(&block, packet)?;
            block.clear();
            self.kept = block;
            break;
        }
        loop {
            let needed = self.needed(input)?;
            if input.len() < needed {
                self.kept.extend_from_slice(input);
                return Ok(());
            }
            let (block, rest) = input.split_at(needed);
            self.block(block, packet)?;
            input = rest;
        }
    }

    /// Says whether the file ends where it may.
    pub(super) fn finish(&self) -> Result<(), FileError> {
        let there = self.kept.len();
        if self.format.is_some() && there == 0 {
            return Ok(());
        }
        match self.needed(&self.kept) {
            Ok(needed) => Err(FileError::Cut {
                offset: self.offset,
                there,
                needed,
            }),
            Err(error) => Err(error),
        }
    }

    /// How many bytes the block at the front takes, as far as can be said: once there are as many, it
    /// is exact.
    fn needed(&self, bytes: &[u8]) -> Result<usize, FileError> {
        let needed = match &self.format {
            Some(Format::Pcap(pcap)) => pcap.needed(bytes),
            Some(Format::Pcapng(pcapng)) => pcapng.needed(bytes),
            None => match bytes.first_chunk() {
                None => Ok(4),
                Some(magic) if pcapng::is_magic(*magic) => Pcapng::default().needed(bytes),
                Some(magic) if Pcap::is_magic(*magic) => Ok(pcap::HEADER_BYTES),
                Some(_) => return Err(FileError::NoCapture),
            },
        };
        match needed {
            Ok(needed) if needed > MAX_BLOCK_BYTES => Err(self.broken(format!(
                "says that {needed} bytes follow; the limit is {MAX_BLOCK_BYTES}"
            ))),
            Ok(needed) => Ok(needed),
            Err(what) => Err(self.broken(what)),
        }
    }

    /// Reads one block, of which all bytes are there.
    fn block(
        &mut self,
        block: &[u8],
        packet: &mut impl FnMut(Packet<'_>),
    ) -> Result<(), FileError> {
        if self.format.is_none() {
            self.format = Some(match block.first_chunk() {
                Some(magic) if pcapng::is_magic(*magic) => Format::Pcapng(Pcapng::default()),
                _ => Format::Pcap(Pcap::default()),
            });
        }
        let read = match &mut self.format {
            Some(Format::Pcap(pcap)) => pcap.block(block),
            Some(Format::Pcapng(pcapng)) => pcapng.block(block),
            None => Ok(Block::Nothing),
        };
        match read {
            Ok(Block::Packet(read)) => packet(read),
            Ok(Block::Dropped(count)) => self.dropped = self.dropped.saturating_add(count),
            Ok(Block::Nothing) => {}
            Err(what) => return Err(self.broken(what)),
        }
        self.offset += block.len() as u64;
        Ok(())
    }

    fn broken(&self, what: impl Into<String>) -> FileError {
        FileError::Broken {
            offset: self.offset,
            what: what.into(),
        }
    }
}

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Endian {
    #[default]
    Little,
    Big,
}

impl Endian {
    /// The numbers at `at`, or 0 beyond the end, which callers have excluded.
    fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let number = bytes.get(at..).and_then(<[u8]>::first_chunk).copied();
        match self {
            Self::Little => number.map_or(0, u16::from_le_bytes),
            Self::Big => number.map_or(0, u16::from_be_bytes),
        }
    }

    fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let number = bytes.get(at..).and_then(<[u8]>::first_chunk).copied();
        match self {
            Self::Little => number.map_or(0, u32::from_le_bytes),
            Self::Big => number.map_or(0, u32::from_be_bytes),
        }
    }

    fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let number = bytes.get(at..).and_then(<[u8]>::first_chunk).copied();
        match self {
            Self::Little => number.map_or(0, u64::from_le_bytes),
            Self::Big => number.map_or(0, u64::from_be_bytes),
        }
    }
}
