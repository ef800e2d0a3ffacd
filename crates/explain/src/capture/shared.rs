//! What the connections of a capture share.

use std::collections::BTreeMap;

use klamm_protocol::ApiVersion;

use super::filter::Filter;
use super::message::Message;
use super::scan::Plan;
use super::{Event, Time};
use crate::Direction;
use crate::catalog::{is_readable, message_schema};

/// How much of one message is kept.
const MAX_MESSAGE_BYTES: usize = 128 << 20;
/// How much of all messages that are not complete yet is kept.
const MAX_KEPT_BYTES: usize = 256 << 20;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) plans: Plans,
    filter: Filter,
    keeps_bytes: bool,
    kept_bytes: usize,
    number: u64,
    /// When the first packet came.
    pub(super) start: Time,
}

impl Shared {
    pub(super) fn new(filter: Filter, keeps_bytes: bool) -> Self {
        Self {
            plans: Plans::default(),
            filter,
            keeps_bytes,
            kept_bytes: 0,
            number: 0,
            start: Time::default(),
        }
    }

    /// How many messages are complete.
    pub(super) fn messages(&self) -> u64 {
        self.number
    }

    pub(super) fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    /// A message begins, whose bytes may be worth keeping.
    pub(super) fn begin(&self, message: &Message) -> Option<Kept> {
        let is_kept = self.keeps_bytes && self.filter.may_pass(message, self.number);
        is_kept.then(Kept::default)
    }

    pub(super) fn keep(&mut self, kept: &mut Option<Kept>, data: &[u8]) {
        let Some(kept) = kept.as_mut().filter(|kept| !kept.is_closed) else {
            return;
        };
        let room = (MAX_MESSAGE_BYTES - kept.bytes.len()).min(MAX_KEPT_BYTES - self.kept_bytes);
        kept.is_closed = data.len() > room;
        let data = &data[..data.len().min(room)];
        kept.bytes.extend_from_slice(data);
        self.kept_bytes += data.len();
    }

    /// The message is complete.
    pub(super) fn release(&mut self, kept: Kept) -> Vec<u8> {
        self.kept_bytes -= kept.bytes.len();
        kept.bytes
    }

    /// It was none.
    pub(super) fn forget(&mut self, kept: Option<Kept>) {
        kept.map(|kept| self.release(kept));
    }

    pub(super) fn emit(&self, message: Message, sink: &mut dyn FnMut(Event)) {
        if self.filter.passes(&message, self.start) {
            sink(Event::Message(message));
        }
    }
}

/// The bytes of a message, as far as they are kept.
#[derive(Debug, Default)]
pub(super) struct Kept {
    bytes: Vec<u8>,
    /// Whether the next byte is missing, or one too many.
    pub(super) is_closed: bool,
}

/// Plans of the messages that occur, each made when it is first needed.
#[derive(Debug, Default)]
pub(super) struct Plans {
    plans: Vec<Plan>,
    indices: BTreeMap<(bool, i16, i16), Option<usize>>,
}

impl Plans {
    pub(super) fn get(&self, index: usize) -> &Plan {
        &self.plans[index]
    }

    /// The plan for a message with its header; `None` where its schema is not known.
    pub(super) fn find(&mut self, api: ApiVersion, direction: Direction) -> Option<usize> {
        let key = (direction == Direction::Request, api.key.0, api.version);
        if let Some(known) = self.indices.get(&key) {
            return *known;
        }
        // Versions come from the wire; what is remembered of unknown ones has to end somewhere.
        const MAX_PLANS: usize = 10_000;
        if self.indices.len() >= MAX_PLANS {
            return None;
        }
        let schema = message_schema(api.key, direction).filter(|_| is_readable(api, direction));
        let index = schema.map(|schema| {
            let header = direction.header_schema();
            let header_version = direction.header_version(api.key, api.version);
            let valid = schema.valid_versions;
            let version = api.version.clamp(valid.min, valid.max);
            let plan = Plan::new(&[(header, header_version), (schema, version)]);
            self.plans.push(if version == api.version {
                plan
            } else {
                plan.of_unknown_version()
            });
            self.plans.len() - 1
        });
        self.indices.insert(key, index);
        index
    }
}
