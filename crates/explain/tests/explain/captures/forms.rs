//! The forms of files, of link layers and of IP.

use klamm_explain::capture::{FileError, Message};

use super::build::{Segment, add_packet, conversations, pcap, pcap_header};
use super::{Read, read};

fn segments() -> Vec<Segment> {
    conversations(2, 4, 100)
}

/// The messages, but for the addresses of their connections.
fn assert_same(shown: &Read, what: &str) {
    let expected = read(&pcap(&segments()));
    assert_eq!(shown.end, Ok(()), "{what}");
    let plain = |messages: &[Message]| messages.to_vec();
    assert_eq!(plain(&shown.messages), plain(&expected.messages), "{what}");
}

/// Packets of a link layer carry what IP's do.
fn assert_link(name: &str, link_type: u32, packet: impl Fn(&Segment) -> Vec<u8>) {
    let mut file = pcap_header(link_type);
    for (index, segment) in segments().iter().enumerate() {
        add_packet(&mut file, index as u32, &packet(segment));
    }
    assert_same(&read(&file), name);
}

#[test]
fn link_layers() {
    let vlan = |segment: &Segment| {
        let tags = [0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 8, 0];
        [[0; 12].as_slice(), &tags, &segment.ipv4()].concat()
    };
    let after = |header: &[u8], packet: Vec<u8>| [header, &packet].concat();
    let cooked = [&[0; 14][..], &[8, 0]].concat();
    let cooked_6 = [&[0; 14][..], &[0x86, 0xdd]].concat();
    let cooked_2 = [&[8, 0][..], &[0; 18]].concat();
    assert_link("Ethernet", 1, Segment::ethernet);
    assert_link("VLANs", 1, vlan);
    assert_link("loopback", 0, |segment| {
        after(&[2, 0, 0, 0], segment.ipv4())
    });
    assert_link("loopback of IPv6", 0, |segment| {
        after(&[30, 0, 0, 0], segment.ipv6())
    });
    assert_link("OpenBSD's loopback", 108, |segment| {
        after(&[0, 0, 0, 2], segment.ipv4())
    });
    assert_link("raw IP", 101, Segment::ipv4);
    assert_link("raw IPv6", 101, Segment::ipv6);
    assert_link("raw IPv4", 228, Segment::ipv4);
    assert_link("Linux cooked", 113, |segment| {
        after(&cooked, segment.ipv4())
    });
    assert_link("Linux cooked, IPv6", 113, |segment| {
        after(&cooked_6, segment.ipv6())
    });
    assert_link("Linux cooked, version 2", 276, |segment| {
        after(&cooked_2, segment.ipv4())
    });
    let mut file = pcap_header(147);
    add_packet(&mut file, 0, b"anything");
    let packets = read(&file).summary.packets;
    assert_eq!((packets.other, packets.unknown_link), (1, Some(147)));
}

/// Padding, an offloaded length, fragments, other protocols.
#[test]
fn ip_as_it_comes() {
    let mut file = pcap_header(101);
    for (index, segment) in segments().iter().enumerate() {
        let mut packet = segment.ipv4();
        if index % 2 == 0 {
            packet.extend([0; 6]);
        } else {
            packet[2..4].fill(0);
        }
        add_packet(&mut file, index as u32, &packet);
    }
    assert_same(&read(&file), "lengths");
    let mut fragment = segments()[0].ipv4();
    fragment[6] = 0x20;
    let mut udp = segments()[0].ipv4();
    udp[9] = 17;
    let short = segments()[0].ipv4()[..30].to_vec();
    for packet in [fragment, udp, short, vec![0x45]] {
        add_packet(&mut file, 1_000, &packet);
    }
    let packets = read(&file).summary.packets;
    assert_eq!((packets.fragments, packets.other, packets.cut), (1, 1, 2));
}

/// A number in one byte order or the other.
#[derive(Clone, Copy)]
struct Order(bool);

impl Order {
    fn u16(self, number: u16) -> [u8; 2] {
        if self.0 {
            number.to_be_bytes()
        } else {
            number.to_le_bytes()
        }
    }

    fn u32(self, number: u32) -> [u8; 4] {
        if self.0 {
            number.to_be_bytes()
        } else {
            number.to_le_bytes()
        }
    }

    fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let len = self.u32(body.len() as u32 + 12);
        [&self.u32(kind)[..], &len, &body, &len].concat()
    }

    fn section(self) -> Vec<u8> {
        let mut body = self.u32(0x1a2b_3c4d).to_vec();
        body.extend([self.u16(1), self.u16(0)].concat());
        body.extend([0xff; 8]);
        self.block(0x0a0d_0d0a, &body)
    }

    fn interface(self, link_type: u16, resolution: u8) -> Vec<u8> {
        let mut body = [self.u16(link_type), self.u16(0)].concat();
        body.extend(self.u32(0));
        body.extend([self.u16(9), self.u16(1)].concat());
        body.extend([resolution, 0, 0, 0, 0, 0, 0, 0]);
        self.block(1, &body)
    }

    fn packet(self, interface: u32, units: u64, data: &[u8]) -> Vec<u8> {
        let len = data.len() as u32;
        let numbers = [interface, (units >> 32) as u32, units as u32, len, len];
        let mut body: Vec<u8> = numbers.map(|number| self.u32(number)).concat();
        body.extend(data);
        self.block(6, &body)
    }
}

#[test]
fn both_orders_and_units_of_pcap() {
    for (order, nanos) in [(true, false), (false, true), (true, true)] {
        let order = Order(order);
        let magic = if nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
        let mut file = order.u32(magic).to_vec();
        file.extend([order.u16(2), order.u16(4)].concat());
        file.extend([0; 8]);
        file.extend([order.u32(65_535), order.u32(1)].concat());
        for (index, segment) in segments().iter().enumerate() {
            let packet = segment.ethernet();
            let len = packet.len() as u32;
            let unit = if nanos { 1_000_000 } else { 1_000 };
            let numbers = [1, index as u32 * unit, len, len];
            file.extend(numbers.map(|number| order.u32(number)).concat());
            file.extend(packet);
        }
        assert_same(&read(&file), "pcap");
    }
}

fn pcapng(order: Order, resolution: u8, unit: u64) -> Vec<u8> {
    let mut file = order.section();
    file.extend(order.interface(101, resolution));
    file.extend(order.interface(1, resolution));
    // A block that nobody knows.
    file.extend(order.block(0xbad, b"whatever"));
    for (index, segment) in segments().iter().enumerate() {
        let units = unit + index as u64 * unit / 1000;
        let packet = [segment.ipv4(), segment.ethernet()];
        file.extend(order.packet(index as u32 % 2, units, &packet[index % 2]));
    }
    file
}

#[test]
fn pcapng_in_both_orders() {
    for order in [Order(false), Order(true)] {
        for (resolution, unit) in [(6, 1_000_000), (9, 1_000_000_000), (3, 1_000)] {
            assert_same(&read(&pcapng(order, resolution, unit)), "pcapng");
        }
        // A power of two: times are near.
        let shown = read(&pcapng(order, 0x80 | 20, 1 << 20));
        assert_eq!(shown.messages.len(), 16);
    }
    // Sections of different orders, one after the other: the second has the same segments again,
    // which bring nothing new.
    let both = [
        pcapng(Order(false), 6, 1_000_000),
        pcapng(Order(true), 6, 1_000_000),
    ]
    .concat();
    let shown = read(&both);
    assert_eq!((shown.messages.len(), shown.end), (16, Ok(())));
    let repeated = shown
        .summary
        .connections
        .iter()
        .map(|one| one.repeated_segments);
    assert!(repeated.sum::<u64>() >= 16);
}

#[test]
fn every_truncation_of_a_pcapng_file() {
    let file = pcapng(Order(false), 6, 1_000_000);
    let whole = read(&file).messages;
    let mut ends = 0;
    for len in 0..file.len() {
        let cut = read(&file[..len]);
        match cut.end {
            Ok(()) => ends += 1,
            Err(FileError::Cut { needed, there, .. }) => assert!(there < needed),
            Err(error) => panic!("{len}: {error}"),
        }
        assert_eq!(cut.messages[..], whole[..cut.messages.len()], "{len}");
    }
    // After the section, the interfaces, the unknown block, and each packet but the last.
    assert_eq!(ends, 4 + segments().len() - 1);
}

#[test]
fn files_that_make_no_sense() {
    let end = |file: &[u8]| read(file).end.unwrap_err().to_string();
    assert_eq!(
        end(b"something else"),
        "it is neither a pcap nor a pcapng file"
    );
    let mut file = pcap(&segments());
    file[24 + 8..24 + 12].fill(0xff);
    assert_eq!(
        end(&file),
        "byte 24: says that 4294967311 bytes follow; the limit is 16777216"
    );
    let order = Order(false);
    let mut file = order.section();
    file.extend(order.packet(3, 0, b""));
    assert_eq!(
        end(&file),
        "byte 28: a packet of interface 3, which is not described"
    );
    let mut file = order.section();
    file.extend([order.u32(6), order.u32(13), order.u32(0)].concat());
    assert_eq!(
        end(&file),
        "byte 28: a block cannot have a length of 13 bytes"
    );
}
