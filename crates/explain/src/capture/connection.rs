use core::net::SocketAddr;

use super::conversation::{Carries, Conversation};
use super::packet::Segment;
use super::shared::Shared;
use super::summary::ConnectionSummary;
use super::tcp::{Flow, Missing, Receive, Side};
use super::{Event, Finding, Time};

/// How many findings of a connection its summary has.
const MAX_FINDINGS: usize = 20;

/// A TCP connection and what is said in it.
#[derive(Debug)]
pub(super) struct Connection {
    ends: (SocketAddr, SocketAddr),
    flow: Flow,
    conversation: Conversation,
    /// Bytes that each side sent, as far as they are in the capture.
    bytes: [u64; 2],
    first: Time,
    last: Time,
    findings: Vec<Finding>,
    more_findings: u64,
    is_finished: bool,
}

struct Receiver<'a> {
    conversation: &'a mut Conversation,
    bytes: &'a mut [u64; 2],
    shared: &'a mut Shared,
    sink: &'a mut dyn FnMut(Event),
}

impl Receive for Receiver<'_> {
    fn bytes(&mut self, from: Side, data: &[u8], time: Time) {
        self.bytes[from as usize] += data.len() as u64;
        self.conversation
            .bytes(from, data, time, self.shared, self.sink);
    }

    fn missing(&mut self, from: Side, len: u64, why: Missing, time: Time) {
        self.conversation
            .missing(from, len, why, time, self.shared, self.sink);
    }
}

impl Connection {
    pub(super) fn new(
        id: usize,
        ends: (SocketAddr, SocketAddr),
        client: Option<Side>,
        is_whole: bool,
        time: Time,
    ) -> Self {
        Self {
            ends,
            flow: Flow::default(),
            conversation: Conversation::new(id, client, is_whole),
            bytes: [0; 2],
            first: time,
            last: time,
            findings: Vec::new(),
            more_findings: 0,
            is_finished: false,
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.flow.held_bytes()
    }

    pub(super) fn is_another(&self, from: Side, segment: &Segment<'_>) -> bool {
        self.is_finished || self.flow.is_another(from, segment)
    }

    pub(super) fn segment(
        &mut self,
        from: Side,
        segment: &Segment<'_>,
        time: Time,
        room: usize,
        shared: &mut Shared,
        sink: &mut dyn FnMut(Event),
    ) {
        self.last = self.last.max(time);
        self.with(shared, sink, |flow, receiver| {
            flow.segment(from, segment, time, room, receiver);
        });
    }

    /// No more packets come.
    pub(super) fn finish(&mut self, time: Time, shared: &mut Shared, sink: &mut dyn FnMut(Event)) {
        if std::mem::replace(&mut self.is_finished, true) {
            return;
        }
        self.with(shared, sink, |flow, receiver| {
            flow.finish(time, receiver);
            receiver.conversation.finish(time, receiver.sink);
        });
    }

    fn with(
        &mut self,
        shared: &mut Shared,
        sink: &mut dyn FnMut(Event),
        act: impl FnOnce(&mut Flow, &mut Receiver<'_>),
    ) {
        let (findings, more) = (&mut self.findings, &mut self.more_findings);
        let mut sink = |event: Event| {
            if let Event::Finding(finding) = &event {
                if findings.len() < MAX_FINDINGS {
                    findings.push(finding.clone());
                } else {
                    *more += 1;
                }
            }
            sink(event);
        };
        let mut receiver = Receiver {
            conversation: &mut self.conversation,
            bytes: &mut self.bytes,
            shared,
            sink: &mut sink,
        };
        act(&mut self.flow, &mut receiver);
    }

    pub(super) fn into_summary(self) -> ConnectionSummary {
        let conversation = self.conversation;
        // Without anything else, the side with the greater port is the one that connected.
        let (a, b) = self.ends;
        let guess = if a.port() >= b.port() {
            Side::A
        } else {
            Side::B
        };
        let client = conversation.client.unwrap_or(guess);
        let [bytes_a, bytes_b] = self.bytes;
        let (client, server, client_bytes, server_bytes) = match client {
            Side::A => (a, b, bytes_a, bytes_b),
            Side::B => (b, a, bytes_b, bytes_a),
        };
        // What began like a request but never became one was none.
        let carries = match conversation.carries {
            Carries::Kafka if conversation.messages == 0 => Carries::Unknown,
            carries => carries,
        };
        ConnectionSummary {
            number: conversation.id,
            client,
            server,
            carries,
            client_bytes,
            server_bytes,
            first: self.first,
            last: self.last,
            client_ids: conversation.client_ids,
            software: conversation.software,
            counts: conversation.counts,
            totals: conversation.totals,
            repeated_segments: self.flow.repeated,
            stray_segments: self.flow.strays,
            findings: self.findings,
            more_findings: self.more_findings,
        }
    }
}
