//! How the load went over time, as shapes.

use std::fmt::Write;
use std::time::Duration;

use super::super::load::Sent;

/// How wide a picture is, in its own units.
pub(super) const WIDTH: f64 = 1_000.0;
/// How high a curve is.
pub(super) const HEIGHT: f64 = 100.0;
/// How many pieces the time is cut into.
const PIECES: usize = 120;

/// The load in pieces of time.
pub(super) struct Pieces {
    piece: Duration,
    /// Records acknowledged in each.
    acked: Vec<u64>,
    /// Of the records that were sent in each and acknowledged, how long the middle one and the one
    /// that waited longest waited, in milliseconds.
    waits_ms: Vec<Option<(f64, f64)>>,
}

impl Pieces {
    pub(super) fn of(sent: &[Vec<Sent>], end: Duration) -> Self {
        let piece = (end / PIECES as u32).max(Duration::from_millis(1));
        let at = |time: Duration| {
            let index = time.as_nanos() / piece.as_nanos();
            usize::try_from(index).unwrap_or(usize::MAX).min(PIECES - 1)
        };
        let mut acked = vec![0; PIECES];
        let mut waits: Vec<Vec<f64>> = vec![Vec::new(); PIECES];
        for sent in sent.iter().flatten().filter(|sent| sent.failure.is_none()) {
            acked[at(sent.ended)] += 1;
            let wait = sent.ended.saturating_sub(sent.at);
            waits[at(sent.at)].push(wait.as_secs_f64() * 1e3);
        }
        let waits_ms = waits.into_iter().map(|mut waits| {
            waits.sort_unstable_by(f64::total_cmp);
            Some((*waits.get(waits.len() / 2)?, *waits.last()?))
        });
        Self {
            piece,
            acked,
            waits_ms: waits_ms.collect(),
        }
    }

    /// The most records a second.
    pub(super) fn most(&self) -> f64 {
        let most = self.acked.iter().max().copied().unwrap_or(0);
        most as f64 / self.piece.as_secs_f64()
    }

    /// Records a second as an area, the most of them at the top.
    pub(super) fn throughput(&self) -> String {
        let most = self.acked.iter().max().copied().unwrap_or(0).max(1) as f64;
        let mut path = format!("M0 {HEIGHT}");
        for (index, count) in self.acked.iter().enumerate() {
            let y = HEIGHT - *count as f64 / most * HEIGHT;
            let _ = write!(path, "V{}H{}", short(y), short(x(index + 1)));
        }
        let _ = write!(path, "V{HEIGHT}Z");
        path
    }

    /// The powers of ten, in milliseconds, that the waits are between; `None` where there are none.
    pub(super) fn decades(&self) -> Option<(i32, i32)> {
        let waits = || self.waits_ms.iter().flatten();
        let least = waits().map(|(middle, _)| *middle).min_by(f64::total_cmp)?;
        let most = waits()
            .map(|(_, longest)| *longest)
            .max_by(f64::total_cmp)?;
        let low = least.max(0.1).log10().floor() as i32;
        let high = most.max(0.1).log10().ceil() as i32;
        Some((low, high.max(low + 1)))
    }

    /// The middle wait and the longest one as lines, between powers of ten.
    pub(super) fn latency(&self, (low, high): (i32, i32)) -> (String, String) {
        let y = |ms: f64| {
            let part = (ms.max(0.1).log10() - f64::from(low)) / f64::from(high - low);
            HEIGHT - part.clamp(0.0, 1.0) * HEIGHT
        };
        let line = |of: &dyn Fn(&(f64, f64)) -> f64| {
            let mut path = String::new();
            let mut is_drawn = false;
            for (index, waits) in self.waits_ms.iter().enumerate() {
                if let Some(waits) = waits {
                    let command = if is_drawn { 'L' } else { 'M' };
                    let x = (x(index) + x(index + 1)) / 2.0;
                    let _ = write!(path, "{command}{} {}", short(x), short(y(of(waits))));
                }
                is_drawn = waits.is_some();
            }
            path
        };
        (line(&|(middle, _)| *middle), line(&|(_, longest)| *longest))
    }
}

fn x(index: usize) -> f64 {
    index as f64 * WIDTH / PIECES as f64
}

/// A number with at most one digit after the point.
pub(super) fn short(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Where a time is, in the units of a picture.
pub(super) fn place(at: Duration, end: Duration) -> f64 {
    let end = end.as_secs_f64().max(f64::MIN_POSITIVE);
    (at.as_secs_f64() / end).clamp(0.0, 1.0) * WIDTH
}

/// Times at even distances, few enough to be read.
pub(super) fn ticks(end: Duration) -> Vec<Duration> {
    const STEPS: [u64; 15] = [
        1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 18_000, 36_000,
    ];
    const MOST: u64 = 6;
    let end = end.as_secs();
    let step = STEPS.into_iter().find(|step| end / step <= MOST);
    let step = step.unwrap_or(86_400);
    (0..=end / step)
        .map(|n| Duration::from_secs(n * step))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_few_and_round() {
        let at = |seconds| ticks(Duration::from_secs_f64(seconds));
        assert_eq!(at(0.4), [Duration::ZERO]);
        let ten = [0, 2, 4, 6, 8, 10].map(Duration::from_secs);
        assert_eq!(at(10.4), ten);
        for seconds in 1..200_000 {
            assert!(at(f64::from(seconds)).len() <= 7, "{seconds}");
        }
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([short(1.04), short(99.95), short(0.0)], ["1", "100", "0"]);
        assert_eq!(short(12.34), "12.3");
    }

    #[test]
    fn a_load_in_pieces() {
        let sent = |at, ended| Sent {
            at: Duration::from_millis(at),
            ended: Duration::from_millis(ended),
            failure: None,
        };
        let none = Pieces::of(&[], Duration::ZERO);
        assert_eq!((none.most(), none.decades()), (0.0, None));
        let all = [
            vec![sent(0, 2), sent(1, 4), sent(1, 501)],
            vec![sent(990, 1_000)],
        ];
        let pieces = Pieces::of(&all, Duration::from_secs(1));
        assert_eq!(pieces.decades(), Some((0, 3)));
        let (middle, longest) = pieces.latency((0, 3));
        assert_eq!(middle, "M4.2 84.1M987.5 66.7");
        assert_eq!(longest, "M4.2 10M987.5 66.7");
        // Two records within eight milliseconds, and then none.
        assert_eq!(pieces.most().round(), 240.0);
        assert!(pieces.throughput().starts_with("M0 100V0H8.3V100H16.7"));
    }
}
