use std::collections::BTreeMap;

use super::{MAX_DISTANCE, Side};
use crate::capture::Time;

/// What an entry takes besides its data, about.
const ENTRY_BYTES: usize = 128;

/// What one side sends. Places in the stream count from the first byte that is known of.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// A sequence number and its place; near what comes next, so that numbers may wrap.
    pub(super) anchor: Option<(u32, i64)>,
    /// The place of what comes next, once the stream has begun.
    pub(super) next: Option<i64>,
    /// Where it began.
    pub(super) start: i64,
    /// Whether it began with its first byte.
    pub(super) is_whole: bool,
    /// Segments that wait, by place.
    pub(super) held: BTreeMap<i64, Held>,
    /// How far the other side has got it, or this side says that it is.
    pub(super) shown: Option<i64>,
    /// Where it ends.
    pub(super) fin: Option<i64>,
}

#[derive(Debug)]
pub(super) struct Held {
    pub(super) data: Vec<u8>,
    pub(super) len: u32,
    pub(super) ack: Option<i64>,
    pub(super) time: Time,
    /// Its number in the order of the capture.
    pub(super) order: u64,
}

/// The first segment that waits in a stream.
#[derive(Clone, Copy)]
pub(super) struct Front {
    pub(super) side: Side,
    pub(super) next: i64,
    pub(super) place: i64,
    pub(super) order: u64,
    pub(super) ack: Option<i64>,
    pub(super) time: Time,
}

impl Held {
    pub(super) fn weight(&self) -> usize {
        self.data.len() + ENTRY_BYTES
    }
}

impl Stream {
    pub(super) fn place(&self, sequence: u32) -> Option<i64> {
        let (number, place) = self.anchor?;
        let distance = sequence.wrapping_sub(number).cast_signed();
        Some(place + i64::from(distance))
    }

    /// As [`Stream::place`]; the first number that is seen is given place 0.
    pub(super) fn place_or_anchor(&mut self, sequence: u32) -> i64 {
        self.place(sequence).unwrap_or_else(|| {
            self.anchor = Some((sequence, 0));
            0
        })
    }

    /// Somebody says that so much was sent. The answer is the place, if it is near.
    pub(super) fn show(&mut self, sequence: u32) -> Option<i64> {
        let place = self.place(sequence)?;
        let is_near = |next: i64| (place - next).abs() <= MAX_DISTANCE;
        if !self.next.is_none_or(is_near) {
            return None;
        }
        self.shown = self.shown.max(Some(place));
        Some(place)
    }

    pub(super) fn advance_to(&mut self, place: i64) {
        if let (Some((number, old)), Some(_)) = (self.anchor, self.next) {
            // Places differ by less than a window, so that the distance fits.
            let distance = (place - old) as u32;
            self.anchor = Some((number.wrapping_add(distance), place));
        }
        self.next = Some(place);
    }

    pub(super) fn begin(&mut self, place: i64, is_whole: bool) {
        self.next = Some(place);
        self.start = place;
        self.is_whole = is_whole;
    }

    /// Whether it has got as far as the other side says.
    pub(super) fn has_reached(&self, ack: Option<i64>) -> bool {
        match (ack, self.next) {
            (None, _) => true,
            // Nothing of it is in the capture yet, or it waits to begin.
            (Some(_), None) => self.held.is_empty(),
            // FIN takes a number, too.
            (Some(ack), Some(next)) if self.fin == Some(next) => ack - next <= 1,
            (Some(ack), Some(next)) => ack <= next || ack - next > MAX_DISTANCE,
        }
    }
}
