//! The older format: a header, then packets.

use super::{Block, Endian, Packet};
use crate::capture::Time;

/// Bytes of the file's header.
pub(super) const HEADER_BYTES: usize = 24;
/// Bytes in front of each packet.
const RECORD_BYTES: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Pcap {
    endian: Endian,
    /// Nanoseconds in a unit of the second number of a time.
    unit: u32,
    link_type: u32,
    /// Whether the header was read.
    begun: bool,
}

/// The byte order and the unit, in nanoseconds, that a magic number stands for.
fn magic(magic: [u8; 4]) -> Option<(Endian, u32)> {
    const MICROSECONDS: u32 = 0xa1b2_c3d4;
    const NANOSECONDS: u32 = 0xa1b2_3c4d;
    [Endian::Little, Endian::Big]
        .into_iter()
        .find_map(|endian| match endian.u32(&magic, 0) {
            MICROSECONDS => Some((endian, 1_000)),
            NANOSECONDS => Some((endian, 1)),
            _ => None,
        })
}

impl Pcap {
    pub(super) fn is_magic(bytes: [u8; 4]) -> bool {
        magic(bytes).is_some()
    }

    pub(super) fn needed(&self, bytes: &[u8]) -> Result<usize, String> {
        if bytes.len() < RECORD_BYTES {
            return Ok(RECORD_BYTES);
        }
        Ok(RECORD_BYTES + self.endian.u32(bytes, 8) as usize)
    }

    pub(super) fn block<'a>(&mut self, block: &'a [u8]) -> Result<Block<'a>, String> {
        if !self.begun {
            let (endian, unit) = block
                .first_chunk()
                .and_then(|bytes| magic(*bytes))
                .ok_or("has no magic number")?;
            // The upper bits say something about checksums at the end of frames.
            const LINK_TYPE: u32 = 0x0fff_ffff;
            *self = Self {
                endian,
                unit,
                link_type: endian.u32(block, 20) & LINK_TYPE,
                begun: true,
            };
            return Ok(Block::Nothing);
        }
        let number = |at| self.endian.u32(block, at);
        let seconds = u64::from(number(0)) * 1_000_000_000;
        Ok(Block::Packet(Packet {
            time: Time(seconds + u64::from(number(4)) * u64::from(self.unit)),
            link_type: self.link_type,
            data: &block[RECORD_BYTES..],
            length: number(12),
        }))
    }
}
