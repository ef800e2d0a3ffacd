//! Just enough of the format to take captures of a loopback interface apart.

/// A file: its header, and its packets.
#[derive(Clone)]
pub(crate) struct Pcap {
    header: Vec<u8>,
    pub(crate) packets: Vec<Packet>,
}

/// A packet with what stands in front of it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Packet(Vec<u8>);

const RECORD: usize = 16;
const ETHERNET: usize = 14;

impl Pcap {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let (header, mut rest) = bytes.split_at(24);
        assert_eq!(
            header[..4],
            0xa1b2_c3d4u32.to_le_bytes(),
            "little-endian pcap"
        );
        let mut packets = Vec::new();
        while let Some(captured) = rest.get(8..12) {
            let captured = u32::from_le_bytes(captured.try_into().unwrap()) as usize;
            let Some((packet, after)) = rest.split_at_checked(RECORD + captured) else {
                // tcpdump was stopped while it wrote.
                break;
            };
            packets.push(Packet(packet.to_vec()));
            rest = after;
        }
        Self {
            header: header.to_vec(),
            packets,
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let packets = self.packets.iter().flat_map(|packet| &packet.0);
        self.header.iter().chain(packets).copied().collect()
    }
}

impl Packet {
    /// The TCP segment of IPv4: its header and what it carries.
    fn tcp(&self) -> &[u8] {
        let ip = &self.0[RECORD + ETHERNET..];
        let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
        &ip[usize::from(ip[0] & 15) * 4..total]
    }

    /// What TCP carries.
    pub(crate) fn payload(&self) -> &[u8] {
        let tcp = self.tcp();
        &tcp[usize::from(tcp[12] >> 4) * 4..]
    }

    /// The ports that it comes from and goes to, and its sequence number.
    pub(crate) fn key(&self) -> (u16, u16, u32) {
        let tcp = self.tcp();
        (
            u16::from_be_bytes([tcp[0], tcp[1]]),
            u16::from_be_bytes([tcp[2], tcp[3]]),
            u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]),
        )
    }

    /// The ports that it comes from and goes to.
    pub(crate) fn ports(&self) -> (u16, u16) {
        let (from, to, _) = self.key();
        (from, to)
    }

    /// Each byte that it carries: the ports and the sequence number.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (u16, u16, u32)> {
        let (from, to, first) = self.key();
        let len = self.payload().len() as u32;
        (0..len).map(move |at| (from, to, first.wrapping_add(at)))
    }

    /// Whether it begins what its side sends.
    pub(crate) fn is_first(&self) -> bool {
        self.flags() & 0x02 != 0
    }

    /// Whether it ends what its side sends, which takes a number as a byte does.
    pub(crate) fn is_last(&self) -> bool {
        self.flags() & 0x01 != 0
    }

    fn flags(&self) -> u8 {
        self.tcp()[13]
    }

    /// The sequence number that it acknowledges everything before; the first packet does not.
    pub(crate) fn acknowledges(&self) -> Option<u32> {
        let tcp = self.tcp();
        let number = u32::from_be_bytes([tcp[8], tcp[9], tcp[10], tcp[11]]);
        (self.flags() & 0x10 != 0).then_some(number)
    }

    /// The packet as a capture with this snap length has it.
    pub(crate) fn cut(&self, snap_length: usize) -> Self {
        let captured = (self.0.len() - RECORD).min(snap_length);
        let mut cut = self.0[..RECORD + captured].to_vec();
        cut[8..12].copy_from_slice(&(captured as u32).to_le_bytes());
        Self(cut)
    }
}
