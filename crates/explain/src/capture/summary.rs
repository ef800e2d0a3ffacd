use core::net::SocketAddr;

use klamm_protocol::SmallString;

use super::Time;
use super::conversation::{Carries, Totals};
use super::message::Finding;
use super::statistics::Counts;

/// What a capture has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Its packets.
    pub packets: Packets,
    /// Messages of Kafka's protocol.
    pub messages: u64,
    /// Its connections, in the order in which they begin.
    pub connections: Vec<ConnectionSummary>,
}

/// The packets of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packets {
    /// All of them.
    pub all: u64,
    /// Those of TCP.
    pub tcp: u64,
    /// Fragments of IP packets, which are not put together.
    pub fragments: u64,
    /// Those that are cut off before it is clear what they are.
    pub cut: u64,
    /// Everything else.
    pub other: u64,
    /// A link type that is not known, if there is one.
    pub unknown_link: Option<u32>,
    /// Those of other ports than the one that was asked for.
    pub filtered: u64,
    /// Those of connections beyond the limit.
    pub too_many: u64,
    /// Those that the capturing program says it dropped.
    pub dropped: u64,
    /// When the first one came.
    pub first: Option<Time>,
    /// When the last one came.
    pub last: Option<Time>,
}

/// A TCP connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionSummary {
    /// Its number, from 1.
    pub number: usize,
    /// The side that sends requests.
    pub client: SocketAddr,
    /// The side that answers.
    pub server: SocketAddr,
    /// What it carries.
    pub carries: Carries,
    /// Bytes that the client sent.
    pub client_bytes: u64,
    /// Bytes that the server sent.
    pub server_bytes: u64,
    /// When its first packet came.
    pub first: Time,
    /// When its last packet came.
    pub last: Time,
    /// The client ids in its requests, up to 16.
    pub client_ids: Vec<SmallString>,
    /// The name and version of the client's software, from ApiVersions.
    pub software: Option<(SmallString, SmallString)>,
    /// Messages by API.
    pub counts: Counts,
    /// What is missing.
    pub totals: Totals,
    /// Segments that brought nothing new.
    pub repeated_segments: u64,
    /// Segments whose numbers do not belong to the connection.
    pub stray_segments: u64,
    /// The first findings.
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub more_findings: u64,
}

impl Summary {
    /// Whether nothing is missing or broken in what speaks Kafka's protocol.
    pub fn is_sound(&self) -> bool {
        let mut connections = self.connections.iter();
        connections.all(|connection| {
            connection.carries != Carries::Kafka
                || connection.totals.lost_bytes == 0
                    && !connection.findings.iter().any(Finding::is_bad)
        })
    }
}
