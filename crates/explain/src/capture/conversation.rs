//! What the two sides of a connection say: frames, requests with their responses, and whether it is
//! Kafka at all.

mod frames;
mod guesses;
mod pairing;

use std::collections::VecDeque;

use klamm_protocol::{ApiVersion, SmallString};

use super::head;
use super::message::Message;
use super::scan::Scan;
use super::shared::{Kept, Shared};
use super::statistics::Counts;
use super::tcp::{Missing, Side};
use super::{Event, Finding, Time, Tokens, What};
use guesses::Guess;

/// The most requests of a connection that wait for their responses.
const MAX_WAITING: usize = 10_000;
/// The most client ids of a connection that are told apart.
const MAX_CLIENT_IDS: usize = 16;
/// After so many bytes without a request a connection is not Kafka's.
const MAX_UNDECIDED_BYTES: u64 = 4 << 20;

/// What a connection carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Carries {
    /// Nothing yet, or too little to say.
    #[default]
    Unknown,
    /// Kafka's protocol.
    Kafka,
    /// TLS, whatever is inside of it.
    Tls,
    /// Something else.
    Other,
}

/// The conversation of a connection.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// The connection's number.
    pub(super) id: usize,
    pub(super) carries: Carries,
    /// Which side sends the requests, once it is known.
    pub(super) client: Option<Side>,
    incoming: [Incoming; 2],
    waiting: VecDeque<Waiting>,
    tokens: Tokens,
    undecided: u64,
    pub(super) client_ids: Vec<SmallString>,
    pub(super) software: Option<(SmallString, SmallString)>,
    /// How many messages are complete.
    pub(super) messages: u64,
    pub(super) counts: Counts,
    pub(super) totals: Totals,
}

/// What is counted of a connection besides its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes that are not in the capture.
    pub lost_bytes: u64,
    /// Bytes that were cut off when they were captured.
    pub cut_bytes: u64,
    /// Bytes that were passed over to where the next message begins.
    pub skipped_bytes: u64,
    /// Requests without a response.
    pub unanswered: u64,
    /// Responses without a request.
    pub unmatched: u64,
    /// Messages that do not have the form of their schema.
    pub malformed: u64,
}

/// What one side sends.
#[derive(Debug, Default)]
struct Incoming {
    /// The first bytes of a frame whose kind is not known yet.
    head: [u8; head::REQUEST],
    head_len: usize,
    /// When they came.
    head_time: Time,
    frame: Option<Frame>,
    scan: Scan,
    /// Whether it is unknown where the next frame begins, and how many bytes were passed over.
    lost: Option<u64>,
    /// Where that is so, the responses that may have begun.
    guesses: Vec<Guess>,
}

#[derive(Debug)]
struct Frame {
    /// Bytes that have not come yet.
    left: u64,
    message: Message,
    plan: Option<usize>,
    kept: Option<Kept>,
}

/// A request that waits for its response.
#[derive(Debug)]
struct Waiting {
    /// `None` for a SASL token.
    head: Option<(ApiVersion, i32)>,
    sent: Time,
    number: u64,
    client_id: Option<SmallString>,
    /// The request inside of an Envelope.
    inner: Option<ApiVersion>,
}

impl Frame {
    /// The next bytes of it are not there.
    fn missing(&mut self, len: u64) {
        self.message.missing += len;
        self.left -= len;
        if let Some(kept) = &mut self.kept {
            kept.is_closed = true;
        }
    }
}

impl Conversation {
    /// A conversation whose first bytes are in the capture, or not.
    pub(super) fn new(id: usize, client: Option<Side>, is_whole: bool) -> Self {
        let mut new = Self {
            id,
            client,
            ..Self::default()
        };
        if !is_whole {
            for incoming in &mut new.incoming {
                incoming.lost = Some(0);
            }
        }
        new
    }

    fn incoming(&mut self, side: Side) -> &mut Incoming {
        &mut self.incoming[side as usize]
    }

    /// Takes the next bytes of a side.
    pub(super) fn bytes(
        &mut self,
        from: Side,
        mut data: &[u8],
        time: Time,
        shared: &mut Shared,
        sink: &mut dyn FnMut(Event),
    ) {
        if self.carries == Carries::Unknown {
            self.look_for_kafka(from, data);
            if self.carries == Carries::Unknown && self.client.is_some_and(|side| side != from) {
                // What a server says before its client has spoken answers nothing.
                self.incoming(from).lost = Some(0);
                return;
            }
        }
        while !data.is_empty() && !matches!(self.carries, Carries::Tls | Carries::Other) {
            if let Some(skipped) = self.incoming(from).lost {
                if self.client.is_some_and(|client| client != from) {
                    data = &data[self.guess(from, data, time, shared, sink)..];
                    continue;
                }
                let found = self.client.and_then(|_| head::find_request(data));
                let Some(at) = found else {
                    self.incoming(from).lost = Some(skipped + data.len() as u64);
                    return;
                };
                self.found(from, skipped + at as u64, time, sink);
                data = &data[at..];
            }
            let used = match self.incoming(from).frame {
                Some(_) => self.body(from, data, time, shared, sink),
                None => self.head(from, data, time, shared, sink),
            };
            data = &data[used..];
        }
    }

    /// The next bytes of a side are not there.
    pub(super) fn missing(
        &mut self,
        from: Side,
        len: u64,
        why: Missing,
        time: Time,
        shared: &mut Shared,
        sink: &mut dyn FnMut(Event),
    ) {
        match why {
            Missing::Lost => self.totals.lost_bytes += len,
            Missing::Cut => self.totals.cut_bytes += len,
        }
        if matches!(self.carries, Carries::Tls | Carries::Other) {
            return;
        }
        if why == Missing::Lost {
            self.find_out(from, What::Lost { bytes: len }, time, sink);
        }
        let incoming = self.incoming(from);
        let Some(frame) = &mut incoming.frame else {
            // The size is gone, or the beginning of one.
            incoming.lost.get_or_insert(0);
            incoming.head_len = 0;
            self.missing_in_guesses(from, len, shared);
            return;
        };
        let within = len.min(frame.left);
        frame.missing(within);
        incoming.scan.missing(within);
        if frame.left == 0 {
            self.complete(from, time, shared, sink);
        }
        if len > within {
            self.incoming(from).lost = Some(0);
        }
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self, time: Time, sink: &mut dyn FnMut(Event)) {
        for side in Side::BOTH {
            self.finish_guesses(side, time, sink);
            let incoming = self.incoming(side);
            let there = match (&incoming.frame, incoming.head_len) {
                (Some(frame), _) => Some((frame.message.size - frame.left, frame.message.time)),
                (None, 0) => None,
                (None, len) => Some((len as u64, incoming.head_time)),
            };
            if let Some((bytes, time)) = there.filter(|_| self.carries == Carries::Kafka) {
                self.find_out(side, What::Ends { bytes }, time, sink);
            }
            if let Some(bytes) = self.incoming(side).lost.filter(|bytes| *bytes > 0)
                && self.carries == Carries::Kafka
            {
                self.totals.skipped_bytes += bytes;
                self.find_out(side, What::Skipped { bytes }, time, sink);
            }
        }
        self.unanswered(self.waiting.len(), sink);
    }

    /// Decides whether it is Kafka's protocol, as far as these bytes tell.
    fn look_for_kafka(&mut self, from: Side, data: &[u8]) {
        self.undecided += data.len() as u64;
        let is_client = self.client.is_none_or(|client| client == from);
        let is_lost = self.incoming(from).lost.is_some();
        if is_client && is_lost && head::find_request(data).is_some() {
            self.carries = Carries::Kafka;
            self.client = Some(from);
        } else if head::is_tls(data) {
            self.carries = Carries::Tls;
        } else if self.undecided > MAX_UNDECIDED_BYTES {
            self.carries = Carries::Other;
        }
    }

    fn found(&mut self, from: Side, skipped: u64, time: Time, sink: &mut dyn FnMut(Event)) {
        self.incoming(from).lost = None;
        if skipped > 0 {
            self.totals.skipped_bytes += skipped;
            self.find_out(from, What::Skipped { bytes: skipped }, time, sink);
        }
    }

    /// A frame does not begin where one has to.
    fn lose_track(&mut self, from: Side, len: usize) {
        self.incoming(from).lost = Some(len as u64);
    }

    fn find_out(&self, from: Side, what: What, time: Time, sink: &mut dyn FnMut(Event)) {
        let is_from_client = self.client.map(|client| client == from);
        sink(Event::Finding(Finding {
            connection: self.id,
            is_from_client,
            time,
            what,
        }));
    }
}
