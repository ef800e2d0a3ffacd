//! The two byte streams of a TCP connection, put together from its segments.
//!
//! A segment is handed on when it is next in its stream and the other stream has reached what it
//! acknowledges: a response never comes before its request, however the capture orders packets.
//! What does not arrive is given up when too much waits behind it, or at the end.

mod stream;

use super::Time;
use super::packet::Segment;
use stream::{Front, Held, Stream};

/// How much may wait for what is missing, in a connection.
const MAX_HELD_BYTES: usize = 4 << 20;
/// How many segments may.
const MAX_HELD_SEGMENTS: usize = 4096;
/// How many segments wait before a stream whose beginning is not in the capture begins with the
/// first of them.
const SEGMENTS_TO_BEGIN: usize = 8;
/// What is further ahead or behind than any window is no part of the connection.
const MAX_DISTANCE: i64 = 1 << 30;

/// One of the two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    A,
    B,
}

impl Side {
    pub(super) const BOTH: [Self; 2] = [Self::A, Self::B];

    pub(super) fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// Why bytes of a stream are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// The capture has no packet with them.
    Lost,
    /// They were cut off when they were captured.
    Cut,
}

/// Takes the streams of a connection, in order.
pub(super) trait Receive {
    /// The next bytes that one side sent.
    fn bytes(&mut self, from: Side, data: &[u8], time: Time);
    /// The next bytes that one side sent are missing.
    fn missing(&mut self, from: Side, len: u64, why: Missing, time: Time);
}

/// A connection, from its first packet in the capture to its last.
#[derive(Debug, Default)]
pub(super) struct Flow {
    streams: [Stream; 2],
    held_bytes: usize,
    held_segments: usize,
    order: u64,
    /// Segments that brought nothing new.
    pub(super) repeated: u64,
    /// Segments with numbers that do not belong to the connection.
    pub(super) strays: u64,
}

impl Flow {
    fn stream(&mut self, side: Side) -> &mut Stream {
        &mut self.streams[side as usize]
    }

    /// Whether a segment with SYN begins another connection of the same two ends.
    pub(super) fn is_another(&self, from: Side, segment: &Segment<'_>) -> bool {
        let stream = &self.streams[from as usize];
        let place = stream.place(segment.sequence.wrapping_add(1));
        match place.zip(stream.next) {
            _ if !segment.syn => false,
            // It is late or comes again if it is where the stream began, or just before it.
            Some((place, _)) if stream.is_whole => place != stream.start,
            Some((place, _)) => !(stream.start - 65_536..=stream.start).contains(&place),
            None => false,
        }
    }

    /// Takes a segment. `room` is how many more bytes may be held, of all connections.
    pub(super) fn segment(
        &mut self,
        from: Side,
        segment: &Segment<'_>,
        time: Time,
        room: usize,
        receiver: &mut impl Receive,
    ) {
        self.order += 1;
        let ack = segment.ack;
        let ack = ack.and_then(|ack| self.stream(from.other()).show(ack));
        let stream = self.stream(from);
        let mut sequence = segment.sequence;
        if segment.syn {
            // SYN takes a number of its own.
            sequence = sequence.wrapping_add(1);
            let place = stream.place_or_anchor(sequence);
            if stream.next.is_none() {
                stream.begin(place, true);
            }
        }
        let is_empty = segment.len == 0;
        if segment.fin && (stream.anchor.is_some() || !is_empty) {
            let end = stream.place_or_anchor(sequence) + i64::from(segment.len);
            stream.fin = Some(end);
        }
        if is_empty {
            // What only acknowledges says how far its own side is.
            if segment.ack.is_some() && !segment.fin {
                stream.show(sequence);
            }
            // A SYN may begin what waits.
            if self.held_segments > 0 {
                self.advance(receiver);
            }
            return;
        }
        let place = stream.place_or_anchor(sequence);
        let end = place + i64::from(segment.len);
        if let Some(next) = stream.next {
            if end <= next {
                self.repeated += 1;
                return;
            }
            if place - next > MAX_DISTANCE {
                self.strays += 1;
                return;
            }
            let is_next = place <= next && stream.held.is_empty();
            if is_next && self.streams[from.other() as usize].has_reached(ack) {
                self.deliver(
                    from,
                    next - place,
                    segment.data,
                    segment.len,
                    time,
                    receiver,
                );
                if self.held_segments > 0 {
                    self.advance(receiver);
                }
                return;
            }
        }
        self.hold(
            from,
            place,
            Held {
                data: segment.data.to_vec(),
                len: segment.len,
                ack,
                time,
                order: self.order,
            },
        );
        self.advance(receiver);
        while self.held_bytes > MAX_HELD_BYTES.min(room) || self.held_segments > MAX_HELD_SEGMENTS {
            self.give_up(receiver);
        }
    }

    /// Bytes that wait for others.
    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Hands on all that waits: no more segments come.
    pub(super) fn finish(&mut self, time: Time, receiver: &mut impl Receive) {
        while self.held_segments > 0 {
            self.give_up(receiver);
        }
        for side in Side::BOTH {
            let stream = self.stream(side);
            let Some(next) = stream.next else { continue };
            // FIN takes a number too, so that one byte more may be shown.
            let shown = stream.shown.filter(|shown| shown - next > 1);
            let end = stream.fin.or(shown).map_or(next, |end| end.max(next));
            if end > next && end - next <= MAX_DISTANCE {
                stream.advance_to(end);
                let len = end.abs_diff(next);
                receiver.missing(side, len, Missing::Lost, time);
            }
        }
    }

    fn hold(&mut self, side: Side, place: i64, held: Held) {
        let stream = &mut self.streams[side as usize];
        match stream.held.get(&place) {
            Some(other) if other.len >= held.len && other.data.len() >= held.data.len() => {
                self.repeated += 1;
                return;
            }
            _ => {}
        }
        self.held_bytes += held.weight();
        self.held_segments += 1;
        if let Some(shorter) = stream.held.insert(place, held) {
            self.repeated += 1;
            self.let_go(&shorter);
        }
        let waiting = self.streams.iter().map(|stream| stream.held.len());
        if waiting.sum::<usize>() >= SEGMENTS_TO_BEGIN {
            self.begin();
        }
    }

    fn let_go(&mut self, held: &Held) {
        self.held_bytes -= held.weight();
        self.held_segments -= 1;
    }

    /// Begins the streams whose first byte is not in the capture with what there is.
    fn begin(&mut self) -> bool {
        let mut has_begun = false;
        for stream in &mut self.streams {
            if stream.next.is_none()
                && let Some((&place, _)) = stream.held.first_key_value()
            {
                stream.begin(place, false);
                has_begun = true;
            }
        }
        has_begun
    }

    /// Hands on every segment that is next and need not wait.
    fn advance(&mut self, receiver: &mut impl Receive) {
        loop {
            let mut is_done = true;
            for side in Side::BOTH {
                while self.advance_one(side, receiver) {
                    is_done = false;
                }
            }
            if is_done {
                return;
            }
        }
    }

    fn advance_one(&mut self, side: Side, receiver: &mut impl Receive) -> bool {
        let stream = &self.streams[side as usize];
        let Some((next, (&place, held))) = stream.next.zip(stream.held.first_key_value()) else {
            return false;
        };
        let end = place + i64::from(held.len);
        if place > next || !self.streams[side.other() as usize].has_reached(held.ack) && end > next
        {
            return false;
        }
        let Some((_, held)) = self.stream(side).held.pop_first() else {
            return false;
        };
        self.let_go(&held);
        if end <= next {
            self.repeated += 1;
        } else {
            self.deliver(
                side,
                next - place,
                &held.data,
                held.len,
                held.time,
                receiver,
            );
        }
        true
    }

    /// Hands on a segment without the bytes at its front that came before.
    fn deliver(
        &mut self,
        side: Side,
        known: i64,
        data: &[u8],
        len: u32,
        time: Time,
        receiver: &mut impl Receive,
    ) {
        let known = usize::try_from(known).unwrap_or(0);
        let stream = self.stream(side);
        let next = stream.next.unwrap_or(stream.start);
        let new = len as usize - known;
        stream.advance_to(next + new as i64);
        let data = data.get(known..).unwrap_or_default();
        let data = &data[..data.len().min(new)];
        if !data.is_empty() {
            receiver.bytes(side, data, time);
        }
        if data.len() < new {
            let cut = (new - data.len()) as u64;
            receiver.missing(side, cut, Missing::Cut, time);
        }
    }

    /// Stops to wait for one thing that is missing.
    fn give_up(&mut self, receiver: &mut impl Receive) {
        if !self.begin() {
            self.skip(receiver);
        }
        self.advance(receiver);
    }

    fn skip(&mut self, receiver: &mut impl Receive) {
        let mut fronts: Vec<Front> = Vec::with_capacity(2);
        for side in Side::BOTH {
            let stream = self.stream(side);
            if let Some((next, (&place, held))) = stream.next.zip(stream.held.first_key_value()) {
                fronts.push(Front {
                    side,
                    next,
                    place,
                    order: held.order,
                    ack: held.ack,
                    time: held.time,
                });
            }
        }
        fronts.sort_by_key(|front| front.order);
        let Some(earliest) = fronts.first().copied() else {
            return;
        };
        // What is next but waits for the other stream says that bytes of that one are missing.
        let (blocked, waiting): (Vec<Front>, Vec<Front>) =
            fronts.iter().partition(|front| front.place <= front.next);
        match (blocked.as_slice(), waiting.first()) {
            ([one], front) => {
                let other = one.side.other();
                let until = one
                    .ack
                    .into_iter()
                    .chain(front.map(|front| front.place))
                    .min();
                let Stream { next, fin, .. } = *self.stream(other);
                // What acknowledges a FIN goes one number past the last byte.
                let until = until.map(|until| match fin {
                    Some(fin) if until == fin + 1 => fin,
                    _ => until,
                });
                if let Some((until, next)) = until.zip(next).filter(|(until, next)| until > next) {
                    if front.is_none() && fin.is_none() && until - next == 1 {
                        // That is its FIN, which the capture lacks.
                        self.stream(other).fin = Some(next);
                        return;
                    }
                    return self.lose(other, next, until, one.time, receiver);
                }
            }
            ([], Some(_)) => {
                let Front {
                    side, next, place, ..
                } = earliest;
                return self.lose(side, next, place, earliest.time, receiver);
            }
            _ => {}
        }
        // Each waits for the other, as no two streams of one connection do.
        if let Some((place, held)) = self.stream(earliest.side).held.pop_first() {
            self.let_go(&held);
            let known = earliest.next - place;
            self.deliver(
                earliest.side,
                known,
                &held.data,
                held.len,
                held.time,
                receiver,
            );
        }
    }

    fn lose(&mut self, side: Side, next: i64, until: i64, time: Time, receiver: &mut impl Receive) {
        self.stream(side).advance_to(until);
        receiver.missing(side, until.abs_diff(next), Missing::Lost, time);
    }
}
