//! Captures made packet by packet.

use klamm_explain::{Direction, smallest_frame};
use klamm_protocol::{ApiKey, ApiVersion, Bytes};

/// A TCP segment of IPv4 between 10.0.0.1 and 10.0.0.2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Whether the client sends it.
    pub(crate) is_from_client: bool,
    pub(crate) client_port: u16,
    pub(crate) sequence: u32,
    pub(crate) ack: u32,
    pub(crate) flags: u8,
    pub(crate) data: Vec<u8>,
}

pub(crate) const SYN: u8 = 0x02;
pub(crate) const FIN: u8 = 0x01;
pub(crate) const ACK: u8 = 0x10;
pub(crate) const SERVER_PORT: u16 = 9092;

/// A connection that is being made.
pub(crate) struct Connection {
    client_port: u16,
    /// The next sequence number of client and server.
    next: [u32; 2],
    pub(crate) segments: Vec<Segment>,
}

impl Connection {
    /// A connection without a beginning.
    pub(crate) fn under_way(client_port: u16, next: [u32; 2]) -> Self {
        Self {
            client_port,
            next,
            segments: Vec::new(),
        }
    }

    /// A connection from its first packet on.
    pub(crate) fn open(client_port: u16, next: [u32; 2]) -> Self {
        let mut new = Self::under_way(client_port, next);
        new.push(true, SYN, Vec::new());
        new.next[0] = new.next[0].wrapping_add(1);
        new.push(false, SYN | ACK, Vec::new());
        new.next[1] = new.next[1].wrapping_add(1);
        new
    }

    fn push(&mut self, is_from_client: bool, flags: u8, data: Vec<u8>) {
        let [client, server] = self.next;
        let (sequence, ack) = if is_from_client {
            (client, server)
        } else {
            (server, client)
        };
        let len = data.len() as u32;
        self.segments.push(Segment {
            is_from_client,
            client_port: self.client_port,
            sequence,
            ack: if flags & ACK == 0 { 0 } else { ack },
            flags,
            data,
        });
        let next = &mut self.next[usize::from(!is_from_client)];
        *next = next.wrapping_add(len);
    }

    /// Sends bytes in segments of at most `most` bytes.
    pub(crate) fn send(&mut self, is_from_client: bool, bytes: &[u8], most: usize) {
        for part in bytes.chunks(most) {
            self.push(is_from_client, ACK, part.to_vec());
        }
    }

    /// Acknowledges what came, and sends nothing.
    pub(crate) fn acknowledge(&mut self, is_from_client: bool) {
        self.push(is_from_client, ACK, Vec::new());
    }

    /// A request and its response.
    pub(crate) fn exchange(&mut self, api: ApiVersion, id: i32, most: usize) {
        self.send(true, &frame(api, Direction::Request, id), most);
        self.send(false, &frame(api, Direction::Response, id), most);
    }

    /// Says that one side sends no more.
    pub(crate) fn finish(&mut self, is_from_client: bool) {
        self.push(is_from_client, FIN | ACK, Vec::new());
        let next = &mut self.next[usize::from(!is_from_client)];
        *next = next.wrapping_add(1);
    }

    pub(crate) fn close(mut self) -> Vec<Segment> {
        for side in [true, false] {
            self.finish(side);
        }
        self.segments
    }
}

/// The smallest instance of a message, with a correlation id and, in a request, the client id `me`.
pub(crate) fn frame(api: ApiVersion, direction: Direction, id: i32) -> Bytes {
    let frame = smallest_frame(api, direction).expect("the version exists");
    let mut frame = frame.to_vec();
    if direction == Direction::Request {
        frame[8..12].copy_from_slice(&id.to_be_bytes());
        frame[13] = 2;
        frame.splice(14..14, *b"me");
        let size = frame.len() as u32 - 4;
        frame[..4].copy_from_slice(&size.to_be_bytes());
    } else {
        frame[4..8].copy_from_slice(&id.to_be_bytes());
    }
    frame.into()
}

/// The latest version of an API.
pub(crate) fn latest(key: ApiKey) -> ApiVersion {
    ApiVersion {
        key,
        version: key.stable_versions().max,
    }
}

/// APIs of all sorts, with errors or without.
pub(crate) const APIS: [ApiKey; 6] = [
    ApiKey::API_VERSIONS,
    ApiKey::METADATA,
    ApiKey::FETCH,
    ApiKey::ELECT_LEADERS,
    ApiKey::LIST_OFFSETS,
    ApiKey::DESCRIBE_CLUSTER,
];

/// Connections that talk in turns.
pub(crate) fn conversations(connections: u16, exchanges: usize, most: usize) -> Vec<Segment> {
    let mut all = Vec::new();
    for index in 0..connections {
        // The second connection's numbers wrap.
        let next = [u32::MAX - 100 * u32::from(index), 5_000];
        let mut connection = Connection::open(40_000 + index, next);
        for id in 0..exchanges {
            let api = latest(APIS[(id + usize::from(index)) % APIS.len()]);
            connection.exchange(api, id as i32, most);
        }
        all.push(connection.close().into_iter());
    }
    let mut segments = Vec::new();
    loop {
        let before = segments.len();
        segments.extend(all.iter_mut().filter_map(Iterator::next));
        if segments.len() == before {
            return segments;
        }
    }
}

impl Segment {
    /// The bytes of TCP, with its header.
    fn tcp(&self) -> Vec<u8> {
        let ports = if self.is_from_client {
            [self.client_port, SERVER_PORT]
        } else {
            [SERVER_PORT, self.client_port]
        };
        let mut tcp = ports.map(u16::to_be_bytes).concat();
        tcp.extend(self.sequence.to_be_bytes());
        tcp.extend(self.ack.to_be_bytes());
        // 5 words, flags, window, checksum, urgent pointer.
        tcp.extend([5 << 4, self.flags, 0xff, 0xff, 0, 0, 0, 0]);
        tcp.extend(&self.data);
        tcp
    }

    /// The packet of IPv4.
    pub(crate) fn ipv4(&self) -> Vec<u8> {
        let tcp = self.tcp();
        let mut ip = vec![0x45, 0];
        ip.extend((20 + tcp.len() as u16).to_be_bytes());
        ip.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        let mut ends = [[10, 0, 0, 1], [10, 0, 0, 2]];
        if !self.is_from_client {
            ends.reverse();
        }
        ip.extend(ends.concat());
        ip.extend(tcp);
        ip
    }

    /// The packet of IPv6, with a header of options in front of TCP.
    pub(crate) fn ipv6(&self) -> Vec<u8> {
        let tcp = self.tcp();
        let mut ip = vec![0x60, 0, 0, 0];
        ip.extend((8 + tcp.len() as u16).to_be_bytes());
        ip.extend([0, 64]);
        let mut ends = [1, 2].map(|last| [[0xfe, 0x80].as_slice(), &[0; 13], &[last]].concat());
        if !self.is_from_client {
            ends.reverse();
        }
        ip.extend(ends.concat());
        ip.extend([6, 0, 1, 4, 0, 0, 0, 0]);
        ip.extend(tcp);
        ip
    }

    pub(crate) fn ethernet(&self) -> Vec<u8> {
        [[0; 12].as_slice(), &[8, 0], &self.ipv4()].concat()
    }
}

/// A pcap file in this machine's usual form: microseconds, little-endian, Ethernet.
pub(crate) fn pcap(segments: &[Segment]) -> Vec<u8> {
    let mut file = pcap_header(1);
    for (index, segment) in segments.iter().enumerate() {
        add_packet(&mut file, index as u32, &segment.ethernet());
    }
    file
}

pub(crate) fn pcap_header(link_type: u32) -> Vec<u8> {
    let mut header = 0xa1b2_c3d4u32.to_le_bytes().to_vec();
    header.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0]);
    header.extend(link_type.to_le_bytes());
    header
}

/// Adds a packet, `millis` after the first second of 1970.
pub(crate) fn add_packet(file: &mut Vec<u8>, millis: u32, packet: &[u8]) {
    let len = packet.len() as u32;
    for number in [1 + millis / 1000, millis % 1000 * 1000, len, len] {
        file.extend(number.to_le_bytes());
    }
    file.extend(packet);
}
