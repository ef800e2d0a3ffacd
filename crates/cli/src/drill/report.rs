use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use klamm_client::BrokerId;
use serde_json::{Value, json};

use super::args::{DrillArgs, Form};
use super::audit::Audit;
use super::load::Sent;
use super::story::Told;
use crate::table::plural;

/// How a drill went.
#[derive(Debug)]
pub(super) struct Report {
    brokers: u16,
    partitions: u16,
    rate: u32,
    ready: Duration,
    took: Duration,
    told: Told,
    audit: Audit,
    unavailability: Option<Spread>,
    /// Why records were given up, each once.
    failures: Vec<String>,
}

/// Of the partitions that the killed broker led, how long no record of theirs was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spread {
    min: Duration,
    median: Duration,
    max: Duration,
}

/// What leaders are counted after.
const MOMENTS: [&str; 4] = ["before", "failover", "restart", "election"];
/// The most reasons that are told.
const MAX_FAILURES: usize = 5;

impl Report {
    pub(super) fn new(
        args: &DrillArgs,
        ready: Duration,
        told: Told,
        audit: Audit,
        took: Duration,
    ) -> Self {
        let hit = told.sent.iter().zip(&told.hit).filter(|(_, hit)| **hit);
        let waits = hit.filter_map(|(sent, _)| longest_wait(sent, told.away));
        let unavailability = Spread::of(waits.collect());
        let mut failures: Vec<String> = Vec::new();
        for failure in told
            .sent
            .iter()
            .flatten()
            .filter_map(|sent| sent.failure.as_ref())
        {
            if failures.len() < MAX_FAILURES && !failures.contains(failure) {
                failures.push(failure.clone());
            }
        }
        Self {
            brokers: args.brokers,
            partitions: args.partitions,
            rate: args.rate,
            ready,
            took,
            told,
            audit,
            unavailability,
            failures,
        }
    }

    /// Whether no record was lost, doubled or moved.
    pub(super) fn is_sound(&self) -> bool {
        let Audit {
            lost,
            doubled,
            out_of_order,
            ..
        } = self.audit;
        lost == 0 && doubled == 0 && out_of_order == 0
    }

    pub(super) fn render(&self, form: Form) -> String {
        match form {
            Form::Text => self.text(),
            Form::Json => format!("{:#}\n", self.json()),
        }
    }

    fn text(&self) -> String {
        let Audit {
            sent,
            acked,
            lost,
            doubled,
            out_of_order,
            unacked_and_there,
        } = self.audit;
        let told = &self.told;
        let mut text = format!(
            "records         {sent} sent, {acked} acknowledged, {lost} lost, {doubled} doubled, \
             {out_of_order} out of order\n"
        );
        let unacked = sent - acked;
        if unacked > 0 {
            let _ = writeln!(
                text,
                "                {unacked} not acknowledged, of which {unacked_and_there} are there"
            );
        }
        for failure in &self.failures {
            let _ = writeln!(text, "                {failure}");
        }
        let hit = told.hit.iter().filter(|hit| **hit).count();
        if let Some(Spread { min, median, max }) = self.unavailability {
            let _ = writeln!(
                text,
                "unavailability  min {} ms, median {} ms, max {} ms, of the {} that broker {} led",
                min.as_millis(),
                median.as_millis(),
                max.as_millis(),
                plural(hit, "partition"),
                told.killed
            );
        }
        let _ = writeln!(
            text,
            "leaders known   {} ms after the kill; in sync {} ms after the restart",
            told.led_again.as_millis(),
            told.in_sync_again.as_millis()
        );
        let _ = writeln!(text, "leaders         {}", titles());
        for id in told.leaders[0].keys() {
            let _ = write!(text, "  broker {:<6}", id.0);
            for counts in &told.leaders {
                let _ = write!(text, " {:>9}", counts.get(id).copied().unwrap_or(0));
            }
            text.push('\n');
        }
        let _ = writeln!(
            text,
            "took            {:.1} s, {:.2} s of it until {} served",
            self.took.as_secs_f64(),
            self.ready.as_secs_f64(),
            plural(self.brokers.into(), "broker")
        );
        text
    }

    fn json(&self) -> Value {
        let Audit {
            sent,
            acked,
            lost,
            doubled,
            out_of_order,
            unacked_and_there,
        } = self.audit;
        let told = &self.told;
        let leaders = MOMENTS.iter().zip(&told.leaders);
        let leaders: BTreeMap<&str, Value> = leaders
            .map(|(moment, counts)| (*moment, by_broker(counts)))
            .collect();
        json!({
            "sent": sent,
            "acked": acked,
            "lost": lost,
            "doubled": doubled,
            "out_of_order": out_of_order,
            "unacked_and_there": unacked_and_there,
            "failures": self.failures,
            "unavailability_ms": self.unavailability.map(|spread| json!({
                "min": millis(spread.min),
                "median": millis(spread.median),
                "max": millis(spread.max),
            })),
            "killed": told.killed.0,
            "partitions_hit": told.hit.iter().filter(|hit| **hit).count(),
            "led_again_ms": millis(told.led_again),
            "in_sync_again_ms": millis(told.in_sync_again),
            "leaders": leaders,
            "brokers": self.brokers,
            "partitions": self.partitions,
            "rate": self.rate,
            "ready_ms": millis(self.ready),
            "took_ms": millis(self.took),
        })
    }
}

fn titles() -> String {
    let titles = MOMENTS.map(|moment| format!("{moment:>9}"));
    titles.join(" ").split_off(1)
}

fn by_broker(counts: &BTreeMap<BrokerId, usize>) -> Value {
    let counts = counts
        .iter()
        .map(|(id, count)| (id.0.to_string(), json!(count)));
    Value::Object(counts.collect())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The longest that a record of a partition waited to be acknowledged, of the waits in a span of time.
fn longest_wait(sent: &[Sent], (from, until): (Duration, Duration)) -> Option<Duration> {
    let waits = sent
        .iter()
        .filter(|sent| sent.at < until && sent.ended > from);
    waits
        .map(|sent| sent.ended.saturating_sub(sent.at.max(from)))
        .max()
}

impl Spread {
    fn of(mut durations: Vec<Duration>) -> Option<Self> {
        durations.sort_unstable();
        Some(Self {
            min: *durations.first()?,
            median: durations[durations.len() / 2],
            max: *durations.last()?,
        })
    }
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
    }
}
