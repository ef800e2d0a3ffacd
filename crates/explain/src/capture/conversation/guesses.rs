//! Where responses go on after bytes are missing.
//!
//! A response begins with a size and the id of a request that waits, and small numbers like these are
//! everywhere in messages. So whatever may begin one where a segment begins is followed to its end,
//! several side by side, and the first that has the form of its schema is the one. Until then no
//! request counts as answered.

use super::{Conversation, Frame};
use crate::Direction;
use crate::capture::head::ResponseHead;
use crate::capture::message::Kind;
use crate::capture::scan::{Progress, Scan};
use crate::capture::shared::Shared;
use crate::capture::tcp::Side;
use crate::capture::{Event, Time};

/// The most guesses that are followed side by side.
const MAX_GUESSES: usize = 8;

/// What may be a response.
#[derive(Debug)]
pub(super) struct Guess {
    frame: Frame,
    scan: Scan,
    /// Bytes that were passed over before it.
    skipped: u64,
}

impl Conversation {
    /// Looks for responses in bytes that may begin anywhere. Returns how many it took: all, or those
    /// up to the end of a response.
    pub(super) fn guess(
        &mut self,
        from: Side,
        data: &[u8],
        time: Time,
        shared: &mut Shared,
        sink: &mut dyn FnMut(Event),
    ) -> usize {
        self.begin_guess(from, data, time, shared);
        let incoming = self.incoming(from);
        let mut guesses = std::mem::take(&mut incoming.guesses);
        // The one that ends first is asked first.
        guesses.sort_by_key(|guess| guess.frame.left);
        let mut response = None;
        for mut guess in guesses {
            if response.is_none() {
                let taken = guess.push(data, shared);
                if guess.is_response(taken == data.len()) {
                    response = Some((guess, taken));
                    continue;
                }
                if guess.frame.left > 0 && guess.scan.progress != Progress::Broken {
                    incoming.guesses.push(guess);
                    continue;
                }
            }
            shared.forget(guess.frame.kept);
        }
        if let Some((guess, taken)) = response {
            for other in std::mem::take(&mut incoming.guesses) {
                shared.forget(other.frame.kept);
            }
            self.adopt(from, guess, time, sink);
            self.complete(from, time, shared, sink);
            return taken;
        }
        if let Some(skipped) = &mut incoming.lost {
            *skipped += data.len() as u64;
        }
        data.len()
    }

    /// Follows what these bytes begin with, if a request waits for a response with that id.
    fn begin_guess(&mut self, from: Side, data: &[u8], time: Time, shared: &mut Shared) {
        let Some(head) = data.first_chunk().map(ResponseHead::parse) else {
            return;
        };
        let Some(index) = self.waits_for(head.correlation_id) else {
            return;
        };
        if !head.is_possible() {
            return;
        }
        self.incoming(from).head_time = time;
        let mut message = self.message(from, Kind::Message(Direction::Response), head.size);
        self.waiting[index].is_answered_by(&mut message);
        let plan = message
            .api
            .and_then(|api| shared.plans.find(api, Direction::Response));
        let kept = shared.begin(&message);
        let incoming = self.incoming(from);
        let skipped = incoming.lost.unwrap_or(0);
        let frame = Frame {
            left: message.size,
            message,
            plan,
            kept,
        };
        incoming.guesses.push(Guess {
            frame,
            scan: Scan::default(),
            skipped,
        });
        if incoming.guesses.len() > MAX_GUESSES {
            // The one that claims most is the least likely.
            let most = |(_, guess): &(usize, &Guess)| guess.frame.left;
            let found = incoming.guesses.iter().enumerate().max_by_key(most);
            if let Some((index, _)) = found {
                let guess = incoming.guesses.swap_remove(index);
                shared.forget(guess.frame.kept);
            }
        }
    }

    /// The next bytes are missing: whatever ends among them cannot be told any more.
    pub(super) fn missing_in_guesses(&mut self, from: Side, len: u64, shared: &mut Shared) {
        let incoming = self.incoming(from);
        for mut guess in std::mem::take(&mut incoming.guesses) {
            if guess.frame.left > len {
                guess.frame.missing(len);
                guess.scan.missing(len);
                incoming.guesses.push(guess);
            } else {
                shared.forget(guess.frame.kept);
            }
        }
    }

    /// Nothing more comes: the first guess is as good as any.
    pub(super) fn finish_guesses(&mut self, from: Side, time: Time, sink: &mut dyn FnMut(Event)) {
        let guesses = std::mem::take(&mut self.incoming(from).guesses);
        if let Some(guess) = guesses.into_iter().min_by_key(|guess| guess.skipped) {
            self.adopt(from, guess, time, sink);
        }
    }

    /// A guess is what comes.
    fn adopt(&mut self, from: Side, guess: Guess, time: Time, sink: &mut dyn FnMut(Event)) {
        self.found(from, guess.skipped, time, sink);
        let id = guess.frame.message.correlation_id;
        if let Some(index) = id.and_then(|id| self.waits_for(id)) {
            self.unanswered(index, sink);
            self.waiting.pop_front();
        }
        let incoming = self.incoming(from);
        incoming.frame = Some(guess.frame);
        incoming.scan = guess.scan;
    }
}

impl Guess {
    /// Takes its next bytes. Returns how many.
    fn push(&mut self, data: &[u8], shared: &mut Shared) -> usize {
        let taken = self.frame.left.min(data.len() as u64) as usize;
        let data = &data[..taken];
        let passed = self.frame.message.size - self.frame.message.missing - self.frame.left;
        self.frame.left -= taken as u64;
        shared.keep(&mut self.frame.kept, data);
        if let Some(plan) = self.frame.plan {
            // A plan begins after the size, which a guess has in its first bytes.
            let body = if passed == 0 {
                &data[super::head::SIZE..]
            } else {
                data
            };
            self.scan.push(shared.plans.get(plan), body);
        }
        taken
    }

    /// Whether it is complete, and a response.
    fn is_response(&self, ends_with_segment: bool) -> bool {
        if self.frame.left > 0 {
            return false;
        }
        match self.scan.progress {
            // What is not understood has its size to show.
            _ if self.frame.plan.is_none() => true,
            Progress::Lost => true,
            Progress::Done { left_over } => left_over == 0 || ends_with_segment,
            Progress::Within => self.frame.message.missing > 0,
            Progress::Broken => false,
        }
    }
}
