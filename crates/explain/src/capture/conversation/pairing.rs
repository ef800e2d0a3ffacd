//! Requests and responses, one with the other.

use klamm_protocol::SmallString;

use super::{Carries, Conversation, MAX_CLIENT_IDS, MAX_WAITING, Waiting};
use crate::Direction;
use crate::capture::head::{self, RequestHead, ResponseHead};
use crate::capture::message::{Kind, Message};
use crate::capture::scan::Findings;
use crate::capture::shared::Shared;
use crate::capture::tcp::Side;
use crate::capture::{Event, Time, What};

impl Waiting {
    /// Writes down what a response to it is known by.
    pub(super) fn is_answered_by(&self, response: &mut Message) {
        response.correlation_id = self.head.map(|(_, id)| id);
        response.api = self.head.map(|(api, _)| api);
        response.answers = (self.number > 0).then_some(self.number);
        response.latency = Some(response.time.since(self.sent));
        response.client_id.clone_from(&self.client_id);
        response.inner = self.inner;
    }
}

impl Conversation {
    /// Begins a request, or a token of SASL, of which the head is there.
    pub(super) fn request(
        &mut self,
        from: Side,
        bytes: &[u8; head::REQUEST],
        len: usize,
        shared: &mut Shared,
        sink: &mut dyn FnMut(Event),
    ) {
        let head = RequestHead::parse(bytes);
        let is_full = len == head::REQUEST;
        let is_due = match (self.carries, self.tokens.may_come()) {
            (Carries::Kafka, false) => head.is_possible(),
            _ => head.is_likely(),
        };
        if self.tokens.is_token(is_full.then_some(&head)) {
            let token = self.message(from, Kind::Token(Direction::Request), head.size);
            self.waiting.push_back(Waiting {
                head: None,
                sent: token.time,
                number: 0,
                client_id: None,
                inner: None,
            });
            return self.begin(from, token, None, &bytes[..len], shared, sink);
        }
        if !is_due {
            if self.carries == Carries::Kafka {
                return self.lose_track(from, len);
            }
            self.carries = Carries::Other;
            return;
        }
        self.carries = Carries::Kafka;
        self.client = Some(from);
        self.tokens.requested(head.api);
        let mut message = self.message(from, Kind::Message(Direction::Request), head.size);
        message.api = Some(head.api);
        message.correlation_id = Some(head.correlation_id);
        if self.waiting.len() == MAX_WAITING {
            self.unanswered(1, sink);
        }
        self.waiting.push_back(Waiting {
            head: Some((head.api, head.correlation_id)),
            sent: message.time,
            number: 0,
            client_id: None,
            inner: None,
        });
        let plan = shared.plans.find(head.api, Direction::Request);
        self.begin(from, message, plan, &bytes[..len], shared, sink);
    }

    /// Begins a response, of which the head is there.
    pub(super) fn response(
        &mut self,
        from: Side,
        bytes: &[u8; head::REQUEST],
        len: usize,
        time: Time,
        shared: &mut Shared,
        sink: &mut dyn FnMut(Event),
    ) {
        let mut head = [0; head::RESPONSE];
        head.copy_from_slice(&bytes[..head::RESPONSE]);
        let head = ResponseHead::parse(&head);
        if len == head::SIZE {
            let mut token = self.message(from, Kind::Token(Direction::Response), head.size);
            if let Some(waiting) = self.waiting.pop_front() {
                token.answers = (waiting.number > 0).then_some(waiting.number);
                token.latency = Some(token.time.since(waiting.sent));
            }
            return self.begin(from, token, None, &bytes[..len], shared, sink);
        }
        if !head.is_possible() {
            return self.lose_track(from, len);
        }
        let mut message = self.message(from, Kind::Message(Direction::Response), head.size);
        message.correlation_id = Some(head.correlation_id);
        let mut plan = None;
        if let Some(index) = self.waits_for(head.correlation_id) {
            self.unanswered(index, sink);
            if let Some(waiting) = self.waiting.pop_front() {
                waiting.is_answered_by(&mut message);
            }
            plan = message
                .api
                .and_then(|api| shared.plans.find(api, Direction::Response));
        } else {
            self.totals.unmatched += 1;
            let id = head.correlation_id;
            self.find_out(from, What::Unmatched { correlation_id: id }, time, sink);
        }
        self.begin(from, message, plan, &bytes[..len], shared, sink);
    }

    /// Which of the requests that wait has this id.
    pub(super) fn waits_for(&self, correlation_id: i32) -> Option<usize> {
        let has_id = |waiting: &Waiting| waiting.head.is_some_and(|(_, id)| id == correlation_id);
        self.waiting.iter().position(has_id)
    }

    /// A request is complete.
    pub(super) fn requested(&mut self, message: &mut Message, mut found: Findings, time: Time) {
        message.client_id = found.client_id.take().filter(|id| !id.is_empty());
        message.inner = found.inner;
        self.note_client(message, found.software_name, found.software_version);
        if found.acks == Some(0) {
            // The leader does not answer.
            self.waiting.pop_back();
        } else if let Some(waiting) = self.waiting.back_mut() {
            waiting.sent = time;
            waiting.number = message.number;
            waiting.client_id.clone_from(&message.client_id);
            waiting.inner = message.inner;
        }
    }

    fn note_client(
        &mut self,
        message: &Message,
        name: Option<SmallString>,
        version: Option<SmallString>,
    ) {
        if let Some(id) = &message.client_id
            && !self.client_ids.contains(id)
            && self.client_ids.len() < MAX_CLIENT_IDS
        {
            self.client_ids.push(id.clone());
        }
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            self.software = Some((name, version.unwrap_or_default()));
        }
    }

    pub(super) fn count(&mut self, message: &Message) {
        let Some(api) = message.api else { return };
        let counts = self.counts.of(api.key);
        counts.version(api.version);
        counts.errors(&message.errors);
        if message.direction() == Direction::Request {
            counts.requests += 1;
            counts.request_bytes += message.size;
        } else {
            counts.responses += 1;
            counts.response_bytes += message.size;
            if let Some(latency) = message.latency {
                counts.latency.add(latency);
            }
        }
    }

    /// The first `count` requests that wait get no response.
    pub(super) fn unanswered(&mut self, count: usize, sink: &mut dyn FnMut(Event)) {
        for waiting in self.waiting.drain(..count).collect::<Vec<_>>() {
            self.totals.unanswered += 1;
            if let Some((api, correlation_id)) = waiting.head {
                let what = What::Unanswered {
                    api,
                    correlation_id,
                };
                let client = self.client.unwrap_or(Side::A);
                self.find_out(client, what, waiting.sent, sink);
            }
        }
    }
}
