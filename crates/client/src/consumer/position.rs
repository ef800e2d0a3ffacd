use klamm_protocol::{LeaderEpoch, Offset};
use tokio::time::Instant;

use super::options::{OffsetReset, SeekTo};
use crate::leaders::Leadership;

/// Where a consumer is in a partition.
#[derive(Clone, Debug)]
pub(super) struct Position {
    at: At,
    /// The leader epoch of the batch before, where it was read.
    last_epoch: Option<LeaderEpoch>,
    /// Whose log is known to agree with what was read.
    agrees_with: Option<LeaderEpoch>,
    not_before: Option<Instant>,
    /// Which seek led here: what was asked before the last one does not count.
    pub(super) seek: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Offset(Offset),
    /// To be looked up.
    Sought(SeekTo),
    /// An error was told; a seek is waited for.
    Nowhere,
}

impl Position {
    pub(super) fn begin(reset: OffsetReset, seek: u64) -> Self {
        let mut position = Self::sought(SeekTo::End, seek);
        position.reset(reset);
        position
    }

    pub(super) fn sought(to: SeekTo, seek: u64) -> Self {
        let at = match to {
            SeekTo::Offset(offset) => At::Offset(offset),
            to => At::Sought(to),
        };
        Self {
            at,
            last_epoch: None,
            agrees_with: None,
            not_before: None,
            seek,
        }
    }

    /// Goes where the policy says.
    pub(super) fn reset(&mut self, reset: OffsetReset) {
        self.at = match reset {
            OffsetReset::Earliest => At::Sought(SeekTo::Beginning),
            OffsetReset::Latest => At::Sought(SeekTo::End),
            OffsetReset::None => At::Nowhere,
        };
        self.last_epoch = None;
    }

    pub(super) fn stop(&mut self) {
        self.at = At::Nowhere;
    }

    /// Goes on at an offset, after a batch of an epoch if one was read.
    pub(super) fn go_on(&mut self, offset: Offset, after: Option<LeaderEpoch>) {
        self.at = At::Offset(offset);
        self.last_epoch = after.or(self.last_epoch);
    }

    pub(super) fn offset(&self) -> Option<Offset> {
        match self.at {
            At::Offset(offset) => Some(offset),
            _ => None,
        }
    }

    pub(super) fn looked_for(&self) -> Option<SeekTo> {
        match self.at {
            At::Sought(to) => Some(to),
            _ => None,
        }
    }

    /// The epoch of what was read last, where a leader's log is to be compared with it.
    pub(super) fn to_compare(&self, leadership: Leadership) -> Option<LeaderEpoch> {
        self.offset()?;
        let is_known = leadership.epoch.is_none() || self.agrees_with == leadership.epoch;
        self.last_epoch.filter(|_| !is_known)
    }

    /// A leader's log agrees with what was read.
    pub(super) fn agreed(&mut self, epoch: Option<LeaderEpoch>) {
        self.agrees_with = epoch;
    }

    pub(super) fn wait_until(&mut self, at: Option<Instant>) {
        self.not_before = at;
    }

    pub(super) fn not_before(&self) -> Option<Instant> {
        self.not_before
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.not_before.is_none_or(|at| at <= now)
    }
}
