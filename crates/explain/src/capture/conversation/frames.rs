//! Frames: from the first bytes of one to its last.

use bytes::Bytes;

use super::{Conversation, Frame};
use crate::Direction;
use crate::capture::head;
use crate::capture::message::{Fault, Kind, Message};
use crate::capture::scan::Progress;
use crate::capture::shared::Shared;
use crate::capture::tcp::Side;
use crate::capture::{Event, Time, What};

impl Conversation {
    /// Collects the first bytes of a frame until they say what it is. Returns how many it took.
    pub(super) fn head(
        &mut self,
        from: Side,
        data: &[u8],
        time: Time,
        shared: &mut Shared,
        sink: &mut dyn FnMut(Event),
    ) -> usize {
        let is_request = self.client.is_none_or(|client| client == from);
        let is_token = !is_request && self.waiting.front().is_some_and(|w| w.head.is_none());
        let incoming = self.incoming(from);
        if incoming.head_len == 0 {
            incoming.head_time = time;
        }
        let needed = match (is_request, is_token) {
            (_, true) => head::SIZE,
            (true, _) => head::REQUEST,
            _ => head::RESPONSE,
        };
        let mut used = 0;
        // A token may be shorter than the head of a request.
        let needed = if is_request && self.tokens.may_come() {
            used = self.collect(from, data, head::SIZE);
            let incoming = self.incoming(from);
            if incoming.head_len < head::SIZE {
                return used;
            }
            let size = incoming
                .head
                .first_chunk()
                .map_or(0, |size| u32::from_be_bytes(*size));
            if size < (head::REQUEST - head::SIZE) as u32 {
                head::SIZE
            } else {
                needed
            }
        } else {
            needed
        };
        used += self.collect(from, &data[used..], needed);
        let incoming = self.incoming(from);
        if incoming.head_len >= needed {
            let head = incoming.head;
            let len = std::mem::take(&mut incoming.head_len);
            if is_request {
                self.request(from, &head, len, shared, sink);
            } else {
                self.response(from, &head, len, time, shared, sink);
            }
        }
        used
    }

    fn collect(&mut self, from: Side, data: &[u8], needed: usize) -> usize {
        let incoming = self.incoming(from);
        let taken = needed.saturating_sub(incoming.head_len).min(data.len());
        incoming.head[incoming.head_len..][..taken].copy_from_slice(&data[..taken]);
        incoming.head_len += taken;
        taken
    }

    pub(super) fn message(&self, from: Side, kind: Kind, size: u32) -> Message {
        let size = u64::from(size) + head::SIZE as u64;
        let time = self.incoming[from as usize].head_time;
        Message::new(self.id, kind, size, time)
    }

    /// Begins a frame, of which the head is there.
    pub(super) fn begin(
        &mut self,
        from: Side,
        message: Message,
        plan: Option<usize>,
        head: &[u8],
        shared: &mut Shared,
        sink: &mut dyn FnMut(Event),
    ) {
        let mut kept = shared.begin(&message);
        shared.keep(&mut kept, head);
        let incoming = &mut self.incoming[from as usize];
        incoming.scan.reset();
        if let Some(plan) = plan {
            incoming
                .scan
                .push(shared.plans.get(plan), &head[head::SIZE..]);
        }
        let time = incoming.head_time;
        let left = message.size - head.len() as u64;
        incoming.frame = Some(Frame {
            left,
            message,
            plan,
            kept,
        });
        if left == 0 {
            self.complete(from, time, shared, sink);
        }
    }

    pub(super) fn body(
        &mut self,
        from: Side,
        data: &[u8],
        time: Time,
        shared: &mut Shared,
        sink: &mut dyn FnMut(Event),
    ) -> usize {
        let incoming = &mut self.incoming[from as usize];
        let Some(frame) = &mut incoming.frame else {
            return 0;
        };
        let taken = frame.left.min(data.len() as u64) as usize;
        let data = &data[..taken];
        frame.left -= taken as u64;
        if let Some(plan) = frame.plan {
            incoming.scan.push(shared.plans.get(plan), data);
        }
        shared.keep(&mut frame.kept, data);
        if frame.left == 0 {
            self.complete(from, time, shared, sink);
        }
        taken
    }

    pub(super) fn complete(
        &mut self,
        from: Side,
        time: Time,
        shared: &mut Shared,
        sink: &mut dyn FnMut(Event),
    ) {
        let incoming = &mut self.incoming[from as usize];
        let Some(frame) = incoming.frame.take() else {
            return;
        };
        let Frame {
            mut message,
            plan,
            kept,
            ..
        } = frame;
        message.number = shared.next_number();
        self.messages += 1;
        if plan.is_some() {
            message.fault = match incoming.scan.progress {
                Progress::Within if message.missing == 0 => Some(Fault::EndsEarly),
                Progress::Broken => Some(Fault::Broken),
                Progress::Done { left_over } if left_over > 0 => Some(Fault::LeftOver(left_over)),
                _ => None,
            };
        }
        let mut found = std::mem::take(&mut incoming.scan.findings);
        message.errors = std::mem::take(&mut found.errors);
        if message.direction() == Direction::Request {
            self.requested(&mut message, found, time);
        }
        self.count(&message);
        if let Some(fault) = message.fault {
            self.totals.malformed += 1;
            let what = What::Malformed {
                number: message.number,
                fault,
            };
            self.find_out(from, what, message.time, sink);
        }
        message.bytes = kept.map(|kept| shared.release(kept)).map(Bytes::from);
        shared.emit(message, sink);
    }
}
