use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use super::batch::{Batch, Origin};
use super::options::ProducerOptions;

/// The batches of one partition on their way to its leader, and their numbers.
///
/// With idempotence a leader takes a partition's batches in the order of their sequence numbers
/// only. What was sent and not acknowledged therefore keeps its number and is sent again before
/// anything else, one batch at a time. Where a number will never come, the batches after it are
/// numbered anew in the producer's next epoch: but none that may have been written already, since
/// the leader would take it for another one.
#[derive(Debug, Default)]
pub(super) struct PartitionQueue {
    /// In order; those in front were sent before perhaps, the last one may be open.
    queue: VecDeque<Batch>,
    /// The ordinals of the batches whose answers are waited for, each with how many were sent
    /// before it was sent first.
    in_flight: BTreeMap<u64, u64>,
    sent: u64,
    next_ordinal: u64,
    /// The origin of the next batch that is opened.
    next: Option<Origin>,
    /// A sent batch was given up: the leader may wait for its numbers.
    gap: bool,
    /// The leader does wait for numbers that do not come.
    stuck: bool,
    /// A batch of the producer's epoch is acknowledged: every leader knows the epoch's numbers. One that
    /// does not takes any number for the first, so that until then batches go one at a time.
    known: bool,
}

/// Why a partition has nothing to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Idle {
    /// Nothing is queued, or an answer is waited for.
    Waiting,
    /// A batch lingers, or is not to be sent again yet.
    Until(Instant),
    /// The epochs of this producer id are used up: it needs another id.
    NeedsId(i64),
}

/// What makes a batch ready that is neither full nor has lingered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hurry {
    /// Batches that a `flush` waits for: those up to this id.
    pub(super) flush_through: Option<u64>,
    /// Records wait for room in the buffer.
    pub(super) for_room: bool,
}

impl PartitionQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The batch that the next record goes to, opened where there is none with room.
    pub(super) fn open_batch(
        &mut self,
        options: &ProducerOptions,
        origin: Origin,
        flush_id: u64,
        has_room: impl FnOnce(&Batch) -> bool,
    ) -> &mut Batch {
        if !self.queue.back().is_some_and(has_room) {
            let next = self.next_origin(origin);
            let size = options.batch_size;
            let ordinal = self.next_ordinal;
            self.queue.push_back(Batch::open(
                ordinal,
                flush_id,
                next,
                options.compression,
                size,
            ));
        }
        self.queue.back_mut().expect("one was pushed")
    }

    /// Counts a record that was put into the open batch.
    pub(super) fn pushed(&mut self) {
        self.next_ordinal += 1;
        self.next = self.next.map(|next| next.after(1));
    }

    /// Drops the open batch when nothing was put into it.
    pub(super) fn drop_empty(&mut self) {
        if self.queue.back().is_some_and(|batch| batch.records() == 0) {
            self.queue.pop_back();
        }
    }

    /// Where the numbers go on. A partition keeps the id and epoch that it has; epochs are counted
    /// by each partition for itself, as leaders do.
    fn next_origin(&mut self, origin: Origin) -> Origin {
        *self.next.get_or_insert(origin)
    }

    /// Numbers what is queued anew, with a new producer id.
    pub(super) fn start_over(&mut self, origin: Origin) {
        let mut next = origin;
        for batch in &mut self.queue {
            batch.renumber(next);
            next = next.after(batch.records());
        }
        self.next = Some(next);
        self.gap = false;
        self.stuck = false;
        self.known = false;
    }

    /// The next batch to send, if one is to be sent now.
    pub(super) fn take(
        &mut self,
        options: &ProducerOptions,
        hurry: Hurry,
        now: Instant,
    ) -> Result<Batch, Idle> {
        let front = self.queue.front().ok_or(Idle::Waiting)?;
        let sent_before = front.attempts > 0;
        if let Some(at) = front.not_before.filter(|at| *at > now) {
            return Err(Idle::Until(at));
        }
        if let Some(first) = self.in_flight.values().min() {
            let most = match options.idempotence && self.known {
                true => options.max_in_flight,
                false => 1,
            };
            // What was sent since counts, also if it was answered: a new leader may answer while
            // an old one hangs, and leaders only know the last batches of a producer again.
            if sent_before || self.gap || self.stuck || self.sent - first >= most as u64 {
                return Err(Idle::Waiting);
            }
        }
        let is_ready = sent_before
            || self.queue.len() > 1
            || front.is_full(options.batch_size)
            || hurry.for_room
            || hurry.flush_through.is_some_and(|id| front.flush_id <= id);
        if !is_ready {
            let at = front.opened + options.linger.min(Duration::from_secs(1 << 30));
            if at > now {
                return Err(Idle::Until(at));
            }
        }
        if self.in_flight.is_empty() && (self.stuck || self.gap && !sent_before) {
            self.next_epoch()?;
        }
        let mut batch = self.queue.pop_front().expect("there is a front");
        let first_sent = *batch.first_sent.get_or_insert(self.sent);
        self.sent = self.sent.max(first_sent + 1);
        self.in_flight.insert(batch.ordinal, first_sent);
        Ok(batch)
    }

    fn next_epoch(&mut self) -> Result<(), Idle> {
        let Some(next) = self.next.filter(|next| *next != Origin::NONE) else {
            (self.gap, self.stuck) = (false, false);
            return Ok(());
        };
        if next.producer_epoch == i16::MAX {
            return Err(Idle::NeedsId(next.producer_id));
        }
        self.start_over(Origin {
            producer_epoch: next.producer_epoch + 1,
            sequence: 0,
            ..next
        });
        Ok(())
    }

    /// Whether everything before a batch has been answered, so that the leader's view of it counts.
    pub(super) fn is_lowest(&self, ordinal: u64) -> bool {
        let queued = self.queue.front();
        self.in_flight.range(..ordinal).next().is_none()
            && queued.is_none_or(|front| front.ordinal > ordinal)
    }

    /// A batch is written on every replica in sync.
    pub(super) fn acknowledged(&mut self, ordinal: u64) {
        self.known = true;
        self.answered(ordinal);
    }

    /// A batch's answer came, and ended it.
    pub(super) fn answered(&mut self, ordinal: u64) {
        self.in_flight.remove(&ordinal);
    }

    /// A batch of which it is unknown whether it was written, or that was not, will not be sent
    /// again.
    pub(super) fn lost(&mut self) {
        self.gap = true;
    }

    /// The leader waits for numbers before the lowest batch.
    pub(super) fn refused_order(&mut self) {
        self.stuck = true;
    }

    /// Puts a batch back to be sent again, where it belongs.
    pub(super) fn again(&mut self, batch: Batch) {
        self.in_flight.remove(&batch.ordinal);
        let at = self
            .queue
            .partition_point(|queued| queued.ordinal < batch.ordinal);
        self.queue.insert(at, batch);
    }

    /// Puts a batch back as two, each with half of its records and the same numbers.
    pub(super) fn halve(&mut self, batch: Batch) {
        let (first, second) = batch.split();
        self.again(second);
        self.again(first);
    }

    /// Takes out what was opened before a time.
    pub(super) fn expired(&mut self, before: Instant) -> Vec<Batch> {
        let mut expired = Vec::new();
        while let Some(front) = self.queue.front()
            && front.opened <= before
        {
            expired.extend(self.queue.pop_front());
            // Numbers were given when it was opened: those after it have no one before them now.
            self.gap = true;
        }
        expired
    }

    /// When the first batch was opened.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.queue.front().map(|batch| batch.opened)
    }

    /// Takes everything out.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Batch> {
        self.queue.drain(..)
    }
}
