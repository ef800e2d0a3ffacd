use std::time::Duration;

use serde_json::{Value, json};

use super::load::Sent;

/// The least, the middle and the most of some times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spread {
    pub(super) min: Duration,
    pub(super) median: Duration,
    pub(super) max: Duration,
}

impl Spread {
    pub(super) fn of(mut durations: Vec<Duration>) -> Option<Self> {
        durations.sort_unstable();
        Some(Self {
            min: *durations.first()?,
            median: durations[durations.len() / 2],
            max: *durations.last()?,
        })
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "min": millis(self.min),
            "median": millis(self.median),
            "max": millis(self.max),
        })
    }

    pub(super) fn text(&self) -> String {
        format!(
            "min {} ms, median {} ms, max {} ms",
            self.min.as_millis(),
            self.median.as_millis(),
            self.max.as_millis()
        )
    }
}

/// The longest that a record of a partition waited to be acknowledged, of the waits in a span of time.
pub(super) fn longest_wait(sent: &[Sent], (from, until): (Duration, Duration)) -> Option<Duration> {
    let waits = sent
        .iter()
        .filter(|sent| sent.at < until && sent.ended > from);
    waits
        .map(|sent| sent.ended.saturating_sub(sent.at.max(from)))
        .max()
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn waits_count_from_the_kill_on() {
        let sent = |at, ended| Sent {
            at: ms(at),
            ended: ms(ended),
            failure: None,
        };
        let away = (ms(100), ms(500));
        let records = [
            sent(0, 90),
            sent(95, 300),
            sent(250, 310),
            sent(490, 495),
            sent(500, 900),
        ];
        assert_eq!(longest_wait(&records, away), Some(ms(200)));
        assert_eq!(longest_wait(&records[..1], away), None);
    }

    #[test]
    fn spreads() {
        assert_eq!(Spread::of(Vec::new()), None);
        let spread = Spread::of(vec![ms(9), ms(1), ms(4)]).unwrap();
        assert_eq!(
            (spread.min, spread.median, spread.max),
            (ms(1), ms(4), ms(9))
        );
        assert_eq!(spread.text(), "min 1 ms, median 4 ms, max 9 ms");
    }
}
