//! The newer format: sections of blocks, each with its length in front and behind.

use super::{Block, Endian, Packet};
use crate::capture::Time;
use crate::words;

/// Bytes of the smallest block.
const BLOCK_BYTES: usize = 12;
/// More interfaces than any machine captures on.
const MAX_INTERFACES: usize = 10_000;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;

#[derive(Debug, Default)]
pub(super) struct Pcapng {
    endian: Endian,
    interfaces: Vec<Interface>,
    /// The time of the last packet, for those that have none.
    last: Time,
}

#[derive(Debug)]
struct Interface {
    link_type: u32,
    snap_length: u32,
    resolution: Resolution,
    /// Seconds to add to times.
    offset: i64,
    /// Packets dropped so far; later statistics replace earlier ones.
    dropped: u64,
}

/// What a unit of time is.
#[derive(Clone, Copy, Debug)]
enum Resolution {
    /// 10^-n seconds.
    Decimal(u32),
    /// 2^-n seconds.
    Binary(u32),
}

pub(super) fn is_magic(bytes: [u8; 4]) -> bool {
    // The same in both orders.
    u32::from_be_bytes(bytes) == SECTION
}

impl Pcapng {
    pub(super) fn needed(&self, bytes: &[u8]) -> Result<usize, String> {
        if bytes.len() < BLOCK_BYTES {
            return Ok(BLOCK_BYTES);
        }
        let endian = if self.endian.u32(bytes, 0) == SECTION {
            section_endian(bytes)?
        } else {
            self.endian
        };
        let len = endian.u32(bytes, 4) as usize;
        if len < BLOCK_BYTES || !len.is_multiple_of(4) {
            return Err(format!(
                "a block cannot have a length of {}",
                words::bytes(len)
            ));
        }
        Ok(len)
    }

    pub(super) fn block<'a>(&mut self, block: &'a [u8]) -> Result<Block<'a>, String> {
        let kind = self.endian.u32(block, 0);
        if kind == SECTION {
            self.endian = section_endian(block)?;
            self.interfaces.clear();
        }
        let len = self.endian.u32(block, block.len() - 4);
        if len as usize != block.len() {
            return Err(format!(
                "a block says {} in front and {len} behind",
                words::bytes(block.len())
            ));
        }
        let body = &block[8..block.len() - 4];
        match kind {
            INTERFACE => self.interface(body),
            PACKET => self.packet(body, self.endian.u32(body, 0), 20),
            OLD_PACKET => self.packet(body, self.endian.u16(body, 0).into(), 20),
            SIMPLE_PACKET => self.simple_packet(body),
            STATISTICS => Ok(self.statistics(body)),
            _ => Ok(Block::Nothing),
        }
    }

    fn interface<'a>(&mut self, body: &[u8]) -> Result<Block<'a>, String> {
        if body.len() < 8 {
            return Err("the description of an interface is too short".into());
        }
        if self.interfaces.len() == MAX_INTERFACES {
            return Err(format!("has more than {MAX_INTERFACES} interfaces"));
        }
        let mut interface = Interface {
            link_type: self.endian.u16(body, 0).into(),
            snap_length: self.endian.u32(body, 4),
            resolution: Resolution::Decimal(6),
            offset: 0,
            dropped: 0,
        };
        for (code, value) in self.options(&body[8..]) {
            match (code, value) {
                (9, [unit]) if unit & 0x80 != 0 => {
                    interface.resolution = Resolution::Binary(u32::from(unit & 0x7f));
                }
                (9, [unit]) => interface.resolution = Resolution::Decimal(u32::from(*unit)),
                (14, value) if value.len() == 8 => {
                    interface.offset = self.endian.u64(value, 0).cast_signed();
                }
                _ => {}
            }
        }
        self.interfaces.push(interface);
        Ok(Block::Nothing)
    }

    /// A packet: interface, time, captured and original length, then the data at `at`.
    fn packet<'a>(
        &mut self,
        body: &'a [u8],
        interface: u32,
        at: usize,
    ) -> Result<Block<'a>, String> {
        let captured = self.endian.u32(body, 12) as usize;
        let data = body.get(at..).and_then(|data| data.get(..captured));
        let Some(data) = data else {
            return Err(format!(
                "a packet of {} in a block of {}",
                words::bytes(captured),
                body.len()
            ));
        };
        let interface = self.find(interface)?;
        let high = u64::from(self.endian.u32(body, 4));
        let units = high << 32 | u64::from(self.endian.u32(body, 8));
        let time = interface.time(units);
        let packet = Packet {
            time,
            link_type: interface.link_type,
            data,
            length: self.endian.u32(body, 16),
        };
        self.last = time;
        Ok(Block::Packet(packet))
    }

    fn simple_packet<'a>(&mut self, body: &'a [u8]) -> Result<Block<'a>, String> {
        let length = self.endian.u32(body, 0);
        let interface = self.find(0)?;
        let data = body.get(4..).unwrap_or_default();
        let mut captured = (length as usize).min(data.len());
        if interface.snap_length > 0 {
            captured = captured.min(interface.snap_length as usize);
        }
        Ok(Block::Packet(Packet {
            time: self.last,
            link_type: interface.link_type,
            data: &data[..captured],
            length,
        }))
    }

    /// How many more packets were dropped than were known of.
    fn statistics<'a>(&mut self, body: &[u8]) -> Block<'a> {
        const DROPPED_BY_INTERFACE: u16 = 5;
        const DROPPED_BY_SYSTEM: u16 = 7;
        let mut dropped = 0u64;
        for (code, value) in self.options(body.get(12..).unwrap_or_default()) {
            if matches!(code, DROPPED_BY_INTERFACE | DROPPED_BY_SYSTEM) && value.len() == 8 {
                dropped = dropped.saturating_add(self.endian.u64(value, 0));
            }
        }
        let index = self.endian.u32(body, 0) as usize;
        match self.interfaces.get_mut(index) {
            Some(interface) => {
                let more = dropped.saturating_sub(interface.dropped);
                interface.dropped = interface.dropped.max(dropped);
                Block::Dropped(more)
            }
            None => Block::Nothing,
        }
    }

    fn find(&self, index: u32) -> Result<&Interface, String> {
        self.interfaces
            .get(index as usize)
            .ok_or_else(|| format!("a packet of interface {index}, which is not described"))
    }

    /// Codes and values of options, up to one that does not fit.
    fn options<'a>(&self, mut bytes: &'a [u8]) -> impl Iterator<Item = (u16, &'a [u8])> + use<'a> {
        let endian = self.endian;
        std::iter::from_fn(move || {
            let header: [u8; 4] = *bytes.first_chunk()?;
            let code = endian.u16(&header, 0);
            let len = usize::from(endian.u16(&header, 2));
            let value = bytes.get(4..4 + len)?;
            bytes = bytes.get(4 + len.next_multiple_of(4)..).unwrap_or_default();
            (code != 0).then_some((code, value))
        })
    }
}

/// The byte order that the header of a section says.
fn section_endian(block: &[u8]) -> Result<Endian, String> {
    const ORDER: u32 = 0x1a2b_3c4d;
    [Endian::Little, Endian::Big]
        .into_iter()
        .find(|endian| endian.u32(block, 8) == ORDER)
        .ok_or_else(|| "a section without its byte order".into())
}

impl Interface {
    fn time(&self, units: u64) -> Time {
        const SECOND: u128 = 1_000_000_000;
        let units = u128::from(units);
        let nanos = match self.resolution {
            Resolution::Decimal(digits @ 0..=9) => units * 10u128.pow(9 - digits),
            Resolution::Decimal(digits) => 10u128
                .checked_pow(digits - 9)
                .map_or(0, |divisor| units / divisor),
            Resolution::Binary(bits) => (units * SECOND) >> bits,
        };
        let shifted = i128::try_from(nanos)
            .unwrap_or(i128::MAX)
            .saturating_add(i128::from(self.offset) * 1_000_000_000);
        Time(u64::try_from(shifted.max(0)).unwrap_or(u64::MAX))
    }
}
