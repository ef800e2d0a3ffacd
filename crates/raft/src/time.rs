use core::time::Duration;

/// The time at which an input arrives, measured by the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Time since an arbitrary start. It never goes back; every timeout is measured with it.
    pub elapsed: Duration,
    /// Milliseconds since 1970, for what is written to the log or shown to people. It may jump.
    pub timestamp_ms: i64,
}

impl Now {
    /// The moment `wait` from now.
    pub(crate) fn after(self, wait: Duration) -> Duration {
        self.elapsed.saturating_add(wait)
    }

    /// Whether a moment has come.
    pub(crate) fn is_past(self, moment: Duration) -> bool {
        self.elapsed >= moment
    }
}

/// A small generator (splitmix64) for timeouts. Its seed is a setting, so that a run repeats.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 for a bound of 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        match bound {
            0 => 0,
            bound => self.next() % bound,
        }
    }

    /// A wait from `base` to twice that, so that nodes do not start elections at one time.
    pub(crate) fn spread(&mut self, base: Duration) -> Duration {
        let micros = u64::try_from(base.as_micros()).unwrap_or(u64::MAX);
        base.saturating_add(Duration::from_micros(self.below(micros)))
    }
}
