//! From a packet to what TCP carries in it: link layers, IPv4, IPv6.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::file::Packet;

/// What a packet is to someone who looks for TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parsed<'a> {
    Tcp(Segment<'a>),
    /// A fragment of an IP packet. These are not put together.
    Fragment,
    /// The capture has too little of it to say what it is.
    Cut,
    /// Something else.
    Other,
    /// A link layer that is not known.
    UnknownLink,
}

/// A TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment<'a> {
    pub(super) source: SocketAddr,
    pub(super) destination: SocketAddr,
    pub(super) sequence: u32,
    /// The acknowledgment number, where there is one.
    pub(super) ack: Option<u32>,
    pub(super) syn: bool,
    pub(super) fin: bool,
    pub(super) reset: bool,
    /// What was captured of its data.
    pub(super) data: &'a [u8],
    /// How long its data was. What the capture lacks of it was cut off at the end.
    pub(super) len: u32,
}

/// Reads the headers of a packet.
pub(super) fn parse<'a>(packet: &Packet<'a>) -> Parsed<'a> {
    link(packet).unwrap_or(Parsed::Cut)
}

/// Bytes of a layer: what was captured, and how many there were.
#[derive(Clone, Copy)]
struct Layer<'a> {
    data: &'a [u8],
    len: usize,
}

impl<'a> Layer<'a> {
    fn after(self, header: usize) -> Option<Self> {
        Some(Self {
            data: self.data.get(header..)?,
            len: self.len.checked_sub(header)?,
        })
    }

    /// Only the first `len` bytes: what follows is padding.
    fn first(self, len: usize) -> Self {
        Self {
            data: &self.data[..len.min(self.data.len())],
            len: len.min(self.len),
        }
    }

    fn byte(self, at: usize) -> Option<u8> {
        self.data.get(at).copied()
    }

    fn array<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.data.get(at..)?.first_chunk().copied()
    }

    fn u16(self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_be_bytes)
    }

    fn u32(self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_be_bytes)
    }
}

/// `None` where the captured bytes end too early.
fn link<'a>(packet: &Packet<'a>) -> Option<Parsed<'a>> {
    let layer = Layer {
        data: packet.data,
        len: (packet.length as usize).max(packet.data.len()),
    };
    match packet.link_type {
        // BSD loopback, in the byte order of the machine or of the network: only IP is told apart.
        0 | 108 => ip(layer.after(4)?),
        1 => ethernet(layer.u16(12)?, layer.after(14)?),
        12 | 14 | 101 | 228 | 229 => ip(layer),
        // Linux cooked captures, of all interfaces.
        113 => ethernet(layer.u16(14)?, layer.after(16)?),
        276 => ethernet(layer.u16(0)?, layer.after(20)?),
        _ => Some(Parsed::UnknownLink),
    }
}

fn ethernet(mut kind: u16, mut layer: Layer<'_>) -> Option<Parsed<'_>> {
    const VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
    while VLAN.contains(&kind) {
        kind = layer.u16(2)?;
        layer = layer.after(4)?;
    }
    match kind {
        0x0800 | 0x86dd => ip(layer),
        _ => Some(Parsed::Other),
    }
}

fn ip(layer: Layer<'_>) -> Option<Parsed<'_>> {
    match layer.byte(0)? >> 4 {
        4 => ipv4(layer),
        6 => ipv6(layer),
        _ => Some(Parsed::Other),
    }
}

const TCP: u8 = 6;

fn ipv4(layer: Layer<'_>) -> Option<Parsed<'_>> {
    let header = usize::from(layer.byte(0)? & 15) * 4;
    // The card fills in the length of what it is to cut up, so that it is 0 in what was sent.
    let total = match usize::from(layer.u16(2)?) {
        0 => layer.len,
        total => total,
    };
    let (fragment, protocol) = (layer.u16(6)?, layer.byte(9)?);
    let source = Ipv4Addr::from(layer.array::<4>(12)?);
    let destination = Ipv4Addr::from(layer.array::<4>(16)?);
    if header < 20 || total < header || protocol != TCP {
        return Some(Parsed::Other);
    }
    const MORE_AND_OFFSET: u16 = 0x3fff;
    if fragment & MORE_AND_OFFSET != 0 {
        return Some(Parsed::Fragment);
    }
    tcp(
        layer.first(total).after(header)?,
        (source.into(), destination.into()),
    )
}

fn ipv6(layer: Layer<'_>) -> Option<Parsed<'_>> {
    const HEADER_BYTES: usize = 40;
    // More would not fit into what any path lets pass.
    const MAX_EXTENSIONS: usize = 16;
    let payload = usize::from(layer.u16(4)?);
    let mut next = layer.byte(6)?;
    let source = Ipv6Addr::from(layer.array::<16>(8)?);
    let destination = Ipv6Addr::from(layer.array::<16>(24)?);
    let mut rest = layer.after(HEADER_BYTES)?;
    // 0 stands for a length beyond 64 KiB.
    if payload > 0 {
        rest = rest.first(payload);
    }
    for _ in 0..MAX_EXTENSIONS {
        let len = match next {
            TCP => return tcp(rest, (source.into(), destination.into())),
            // Hop-by-hop, routing, destination options, mobility.
            0 | 43 | 60 | 135 => (usize::from(rest.byte(1)?) + 1) * 8,
            // Authentication.
            51 => (usize::from(rest.byte(1)?) + 2) * 4,
            44 => {
                const MORE_AND_OFFSET: u16 = 0xfff9;
                if rest.u16(2)? & MORE_AND_OFFSET != 0 {
                    return Some(Parsed::Fragment);
                }
                8
            }
            _ => return Some(Parsed::Other),
        };
        next = rest.byte(0)?;
        rest = rest.after(len)?;
    }
    Some(Parsed::Other)
}

fn tcp(layer: Layer<'_>, (source, destination): (IpAddr, IpAddr)) -> Option<Parsed<'_>> {
    let (from, to) = (layer.u16(0)?, layer.u16(2)?);
    let (sequence, ack) = (layer.u32(4)?, layer.u32(8)?);
    let header = usize::from(layer.byte(12)? >> 4) * 4;
    let flags = layer.byte(13)?;
    if header < 20 || header > layer.len {
        return Some(Parsed::Other);
    }
    // Cut within the options: the data is missing, how long it was is known.
    let data = layer.data.get(header..).unwrap_or_default();
    let is_set = |bit: u8| flags & bit != 0;
    Some(Parsed::Tcp(Segment {
        source: SocketAddr::new(source, from),
        destination: SocketAddr::new(destination, to),
        sequence,
        ack: is_set(0x10).then_some(ack),
        syn: is_set(0x02),
        fin: is_set(0x01),
        reset: is_set(0x04),
        data,
        len: u32::try_from(layer.len - header).unwrap_or(u32::MAX),
    }))
}
