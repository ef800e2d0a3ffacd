use std::time::Duration;

use hdrhistogram::Histogram;

/// How long a half of a window is: what is told is of the last one or two.
const HALF: Duration = Duration::from_secs(150);
/// The longest time that is told apart from longer ones.
const MAX_MICROS: u64 = 600_000_000;
/// How exact times are: to two decimal digits, so that a histogram takes 11 kB.
const DIGITS: u8 = 2;

/// How long something took lately, as Apache Kafka's histograms tell of the last five minutes.
#[derive(Debug)]
pub(crate) struct Window {
    /// The current half and the one before, in microseconds.
    halves: [Histogram<u32>; 2],
    turns_at: Duration,
    count: u64,
    sum: Duration,
}

/// What a window tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summary {
    /// How often it happened since the start.
    pub(crate) count: u64,
    /// How long it took in all since the start, in milliseconds.
    pub(crate) sum_ms: f64,
    /// How long it took lately, by [`QUANTILES`], in milliseconds; NaN where it did not happen.
    pub(crate) quantiles_ms: [f64; QUANTILES.len()],
    /// How long it took lately on average.
    pub(crate) mean_ms: f64,
    /// The longest that it took lately.
    pub(crate) max_ms: f64,
}

/// The quantiles that Apache Kafka tells of.
pub(crate) const QUANTILES: [(&str, f64); 6] = [
    ("0.50", 0.5),
    ("0.75", 0.75),
    ("0.95", 0.95),
    ("0.98", 0.98),
    ("0.99", 0.99),
    ("0.999", 0.999),
];

impl Window {
    pub(crate) fn new(now: Duration) -> Self {
        let empty = || Histogram::new_with_max(MAX_MICROS, DIGITS).expect("bounds that it takes");
        Self {
            halves: [empty(), empty()],
            turns_at: now.saturating_add(HALF),
            count: 0,
            sum: Duration::ZERO,
        }
    }

    /// Notes how long it took this time.
    pub(crate) fn record(&mut self, took: Duration, now: Duration) {
        self.turn(now);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.halves[0].saturating_record(micros);
        self.count += 1;
        self.sum = self.sum.saturating_add(took);
    }

    pub(crate) fn summary(&mut self, now: Duration) -> Summary {
        self.turn(now);
        let mut both = self.halves[0].clone();
        both.add(&self.halves[1])
            .expect("histograms of the same bounds");
        let ms = |micros: f64| match both.is_empty() {
            true => f64::NAN,
            false => micros / 1e3,
        };
        Summary {
            count: self.count,
            sum_ms: self.sum.as_secs_f64() * 1e3,
            quantiles_ms: QUANTILES.map(|(_, at)| ms(both.value_at_quantile(at) as f64)),
            mean_ms: ms(both.mean()),
            max_ms: ms(both.max() as f64),
        }
    }

    fn turn(&mut self, now: Duration) {
        if now < self.turns_at {
            return;
        }
        self.halves.swap(0, 1);
        self.halves[0].reset();
        if now >= self.turns_at.saturating_add(HALF) {
            self.halves[1].reset();
        }
        self.turns_at = now.saturating_add(HALF);
    }
}

/// Which part of the time passed lately was spent with waiting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle {
    waited: Duration,
    /// What was waited until when, at the last two turns.
    marks: [(Duration, Duration); 2],
}

impl Idle {
    pub(crate) fn new(now: Duration) -> Self {
        let waited = Duration::ZERO;
        Self {
            waited,
            marks: [(now, waited); 2],
        }
    }

    /// Notes that nothing was done for so long, until now.
    pub(crate) fn waited(&mut self, time: Duration, now: Duration) {
        self.waited += time;
        if now.saturating_sub(self.marks[0].0) >= HALF {
            self.marks = [(now, self.waited), self.marks[0]];
        }
    }

    /// The part, from 0 to 1.
    pub(crate) fn ratio(&self, now: Duration) -> f64 {
        let (since, before) = self.marks[1];
        let passed = now.saturating_sub(since).as_secs_f64();
        match passed > 0.0 {
            true => ((self.waited - before).as_secs_f64() / passed).min(1.0),
            false => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn near(value: f64, expected: f64) -> bool {
        (value - expected).abs() <= expected * 0.01
    }

    #[test]
    fn what_happened_lately_is_told_and_counted_since_the_start() {
        let mut window = Window::new(ms(0));
        assert!(window.summary(ms(1)).quantiles_ms[0].is_nan());
        for took in 1..=100 {
            window.record(ms(took), ms(1));
        }
        let summary = window.summary(ms(2));
        assert!(near(summary.quantiles_ms[0], 50.0), "{summary:?}");
        assert!(near(summary.quantiles_ms[4], 99.0), "{summary:?}");
        assert!(near(summary.max_ms, 100.0) && near(summary.mean_ms, 50.5));
        assert_eq!((summary.count, summary.sum_ms), (100, 5_050.0));
        // It is there for a half, and another, and is gone then.
        assert!(near(window.summary(HALF).max_ms, 100.0));
        assert!(near(window.summary(HALF * 2 - ms(1)).max_ms, 100.0));
        window.record(ms(7), HALF * 2);
        let summary = window.summary(HALF * 2);
        assert!(near(summary.max_ms, 7.0), "{summary:?}");
        assert_eq!(summary.count, 101);
        assert!(window.summary(HALF * 9).max_ms.is_nan());
    }

    #[test]
    fn any_time_can_be_recorded() {
        let mut window = Window::new(ms(0));
        for took in [Duration::ZERO, Duration::from_nanos(1), Duration::MAX] {
            window.record(took, ms(1));
        }
        assert_eq!(window.summary(ms(1)).count, 3);
    }

    #[test]
    fn idleness_is_the_part_that_was_waited() {
        let mut idle = Idle::new(ms(0));
        idle.waited(ms(750), ms(1_000));
        assert_eq!(idle.ratio(ms(1_000)), 0.75);
        idle.waited(ms(0), HALF);
        idle.waited(HALF, HALF * 2);
        idle.waited(HALF, HALF * 3);
        assert_eq!(idle.ratio(HALF * 3), 1.0, "what was long ago is gone");
        assert_eq!(Idle::new(ms(5)).ratio(ms(5)), 1.0);
    }
}
