//! Captures of network traffic: pcap and pcapng files become messages.
//!
//! [`Capture`] takes a file in pieces and says what it finds as [`Event`]s: the messages of every
//! connection that speaks Kafka's protocol, responses with what they answer, and what is missing.
//! [`Capture::finish`] sums up. What is kept in memory does not grow with the file: packets that wait
//! for others, messages whose bytes are asked for, and what is counted of each connection are limited.
//!
//! The formats and the protocols below Kafka's are read here, in some 500 lines, rather than by
//! crates: those want a whole block or packet in memory at once, do not say where a file is broken,
//! or do not know what captures of this machine have (all interfaces, segments that the card cuts up).

mod connection;
mod conversation;
mod file;
mod filter;
mod head;
mod message;
mod packet;
mod scan;
mod shared;
mod statistics;
mod summary;
mod tcp;
mod tokens;

use core::net::SocketAddr;
use std::collections::BTreeMap;

pub(crate) use head::RequestHead;
pub(crate) use tokens::Tokens;

pub use conversation::{Carries, Totals};
pub use file::FileError;
pub use filter::Filter;
pub use message::{Fault, Finding, Kind, Message, What};
pub use statistics::{ApiCounts, Counts, Latency};
pub use summary::{ConnectionSummary, Packets, Summary};

use connection::Connection;
use file::File;
use packet::{Parsed, Segment};
use shared::Shared;
use tcp::Side;

/// The most connections that are told apart.
const MAX_CONNECTIONS: usize = 50_000;
/// The most bytes of all connections together that wait for bytes that are missing.
const MAX_HELD_BYTES: usize = 128 << 20;

/// A time, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// The nanoseconds since an earlier time; 0 where it is later.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// What is found in a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The first packet came at this time.
    Start(Time),
    /// A message is complete.
    Message(Message),
    /// Something is missing, broken, or worth knowing.
    Finding(Finding),
}

/// What is wanted of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Only connections with this port at one end, which is taken for the server's.
    pub port: Option<u16>,
    /// The messages that are wanted.
    pub filter: Filter,
    /// Whether messages come with their bytes.
    pub keeps_bytes: bool,
}

/// A capture that is being read: [`Capture::push`] takes its bytes, [`Capture::finish`] ends it.
#[derive(Debug)]
pub struct Capture {
    file: File,
    rest: Rest,
}

/// All but the file, so that packets may be views on the file's bytes.
#[derive(Debug)]
struct Rest {
    port: Option<u16>,
    connections: Vec<Connection>,
    /// The last connection between two ends, the lesser one first.
    latest: BTreeMap<(SocketAddr, SocketAddr), usize>,
    /// Where the last segment belonged.
    last: Option<((SocketAddr, SocketAddr), usize)>,
    shared: Shared,
    packets: Packets,
    held_bytes: usize,
}

impl Capture {
    /// A capture of which nothing was read yet.
    pub fn new(options: Options) -> Self {
        Self {
            file: File::default(),
            rest: Rest {
                port: options.port,
                connections: Vec::new(),
                latest: BTreeMap::new(),
                last: None,
                shared: Shared::new(options.filter, options.keeps_bytes),
                packets: Packets::default(),
                held_bytes: 0,
            },
        }
    }

    /// Takes the next bytes of the file. After an error there is nothing more to be read from it.
    pub fn push(&mut self, bytes: &[u8], mut sink: impl FnMut(Event)) -> Result<(), FileError> {
        self.take(bytes, &mut sink)
    }

    /// What all of the file goes through is compiled here, for speed, whoever calls it.
    fn take(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Event)) -> Result<(), FileError> {
        let rest = &mut self.rest;
        self.file
            .push(bytes, &mut |packet| rest.packet(&packet, sink))
    }

    /// Ends the capture: hands out what waits, and sums up. `is_whole` says whether all of the file
    /// was taken, so that its end can be judged.
    pub fn finish(
        self,
        is_whole: bool,
        mut sink: impl FnMut(Event),
    ) -> (Summary, Result<(), FileError>) {
        let Self { file, rest } = self;
        let end = if is_whole { file.finish() } else { Ok(()) };
        (rest.finish(file.dropped, &mut sink), end)
    }
}

impl Rest {
    fn packet(&mut self, packet: &file::Packet<'_>, sink: &mut dyn FnMut(Event)) {
        let (packets, time) = (&mut self.packets, packet.time);
        packets.all += 1;
        if packets.first.is_none() {
            packets.first = Some(time);
            self.shared.start = time;
            sink(Event::Start(time));
        }
        packets.last = packets.last.max(Some(time));
        match packet::parse(packet) {
            Parsed::Tcp(segment) => {
                packets.tcp += 1;
                self.segment(&segment, time, sink);
            }
            Parsed::Fragment => packets.fragments += 1,
            Parsed::Cut => packets.cut += 1,
            Parsed::Other => packets.other += 1,
            Parsed::UnknownLink => {
                packets.unknown_link.get_or_insert(packet.link_type);
                packets.other += 1;
            }
        }
    }

    fn segment(&mut self, segment: &Segment<'_>, time: Time, sink: &mut dyn FnMut(Event)) {
        let (source, destination) = (segment.source, segment.destination);
        if let Some(port) = self.port
            && source.port() != port
            && destination.port() != port
        {
            self.packets.filtered += 1;
            return;
        }
        let from = if source <= destination {
            Side::A
        } else {
            Side::B
        };
        let ends = match from {
            Side::A => (source, destination),
            Side::B => (destination, source),
        };
        let known = match self.last {
            Some((last, index)) if last == ends => Some(index),
            _ => self.latest.get(&ends).copied(),
        };
        let known = known.filter(|index| !self.connections[*index].is_another(from, segment));
        let index = match known {
            Some(index) => index,
            None if segment.reset && segment.len == 0 => return,
            None => {
                let Some(index) = self.open(ends, from, segment, time, sink) else {
                    return;
                };
                index
            }
        };
        self.last = Some((ends, index));
        let connection = &mut self.connections[index];
        let before = connection.held_bytes();
        let room = MAX_HELD_BYTES.saturating_sub(self.held_bytes - before);
        connection.segment(from, segment, time, room, &mut self.shared, sink);
        self.held_bytes = self.held_bytes - before + connection.held_bytes();
    }

    /// A new connection; the one before it between the same ends is over.
    fn open(
        &mut self,
        ends: (SocketAddr, SocketAddr),
        from: Side,
        segment: &Segment<'_>,
        time: Time,
        sink: &mut dyn FnMut(Event),
    ) -> Option<usize> {
        if let Some(index) = self.latest.get(&ends) {
            let connection = &mut self.connections[*index];
            self.held_bytes -= connection.held_bytes();
            connection.finish(time, &mut self.shared, sink);
        }
        let index = self.connections.len();
        if index >= MAX_CONNECTIONS {
            self.packets.too_many += 1;
            return None;
        }
        let client = match self.port {
            Some(port) if ends.1.port() == port => Some(Side::A),
            Some(_) => Some(Side::B),
            None if segment.syn && segment.ack.is_none() => Some(from),
            None if segment.syn => Some(from.other()),
            None => None,
        };
        let connection = Connection::new(index + 1, ends, client, segment.syn, time);
        self.connections.push(connection);
        self.latest.insert(ends, index);
        Some(index)
    }

    fn finish(mut self, dropped: u64, sink: &mut dyn FnMut(Event)) -> Summary {
        self.packets.dropped = dropped;
        let end = self.packets.last.unwrap_or_default();
        for connection in &mut self.connections {
            connection.finish(end, &mut self.shared, sink);
        }
        Summary {
            packets: self.packets,
            messages: self.shared.messages(),
            connections: self
                .connections
                .into_iter()
                .map(Connection::into_summary)
                .collect(),
        }
    }
}
