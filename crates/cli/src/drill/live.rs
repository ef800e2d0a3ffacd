//! The lines that are drawn anew in place while a drill runs.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use klamm_client::BrokerId;
use tokio::sync::watch;

use super::load::{Counts, Totals};
use super::news::{named, shown};
use super::watch::Now;
use crate::cut::cut;
use crate::table::{Look, Style, plural};

/// What rates and latencies are of.
const SPAN: Duration = Duration::from_secs(1);

/// What is looked at for each drawing.
#[derive(Debug, Default)]
pub(super) struct Live {
    load: Option<Arc<Counts>>,
    now: Option<watch::Receiver<Now>>,
    /// What the load was, and the longest wait since the one before, over the last second.
    last: VecDeque<Sample>,
    /// Every broker that was seen.
    known: BTreeSet<BrokerId>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Duration,
    totals: Totals,
    longest: Duration,
}

/// How the load went in the last second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Second {
    acked: u64,
    mean: Duration,
    longest: Duration,
}

impl Live {
    pub(super) fn follow_load(&mut self, load: Arc<Counts>) {
        self.load = Some(load);
    }

    pub(super) fn follow_cluster(&mut self, now: watch::Receiver<Now>) {
        self.now = Some(now);
    }

    /// The lines as they are now, each no wider than the terminal.
    pub(super) fn lines(&mut self, at: Duration, step: &str, look: Look) -> Vec<String> {
        let mut lines =
            vec![Style::Bold.paint(&format!("{:6.1} s  {step}", at.as_secs_f64()), look)];
        if let Some(now) = self.now.as_ref().map(|now| now.borrow().clone()) {
            lines.extend(self.cluster(&now, look));
        }
        if let Some(load) = self.load.clone() {
            let totals = load.totals();
            self.sample(Sample {
                at,
                totals,
                longest: load.take_longest(),
            });
            lines.push(format!("{:>8}  {}", "load", self.second(totals)));
        }
        let width = look.width.unwrap_or(usize::MAX);
        lines.iter().map(|line| cut(line, width)).collect()
    }

    fn cluster(&mut self, now: &Now, look: Look) -> Vec<String> {
        if now.trouble.is_some() {
            let silent = Style::Bad.paint("no broker answers", look);
            return vec![format!("{:>8}  {silent}", "leaders")];
        }
        let led = &now.seen.led;
        let is_leaderless = |index: &usize| led[*index].leader.is_none();
        let leaderless: Vec<usize> = (0..led.len()).filter(is_leaderless).collect();
        let partitions = plural(led.len(), "partition");
        let first = if leaderless.is_empty() {
            format!("{partitions}, each with a leader")
        } else {
            let count = leaderless.len();
            let named = named(&leaderless);
            Style::Bad.paint(
                &format!("{count} of {partitions} without a leader: {named}"),
                look,
            )
        };
        self.known.extend(&now.seen.brokers);
        let leads = now.seen.leads(self.known.iter().copied());
        let brokers = leads.iter().map(|(id, leads)| {
            if now.seen.brokers.contains(id) {
                format!("broker {id} leads {leads}")
            } else {
                Style::Warn.paint(&format!("broker {id} is away"), look)
            }
        });
        let brokers: Vec<String> = brokers.collect();
        let brokers = brokers.join(", ");
        vec![
            format!("{:>8}  {first}", "leaders"),
            format!("{:>8}  {brokers}", ""),
        ]
    }

    fn sample(&mut self, sample: Sample) {
        self.last.push_back(sample);
        let begin = sample.at.saturating_sub(SPAN);
        // The last one before the second is what it begins with.
        while self.last.get(1).is_some_and(|next| next.at <= begin) {
            self.last.pop_front();
        }
    }

    fn second(&self, totals: Totals) -> String {
        let waiting = totals.sent.saturating_sub(totals.ended);
        let Some(second) = self.rate() else {
            return format!("{waiting} records wait");
        };
        let rate = format!("{} records/s acknowledged, {waiting} wait", second.acked);
        if second.acked == 0 {
            return rate;
        }
        let mean = second.mean.as_secs_f64() * 1e3;
        let longest = shown(second.longest);
        format!("{rate}; latency {mean:.1} ms, at most {longest}")
    }

    fn rate(&self) -> Option<Second> {
        let (first, last) = (self.last.front()?, self.last.back()?);
        let span = last
            .at
            .checked_sub(first.at)
            .filter(|span| !span.is_zero())?;
        let acked = last.totals.acked - first.totals.acked;
        let waited = last.totals.waited_us - first.totals.waited_us;
        let longest = self.last.iter().skip(1).map(|sample| sample.longest);
        Some(Second {
            acked: (acked as f64 / span.as_secs_f64()).round() as u64,
            mean: Duration::from_micros(waited.checked_div(acked).unwrap_or(0)),
            longest: longest.max()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::seen::testing::seen;
    use super::*;

    fn live(now: Now) -> Live {
        let (_, now) = watch::channel(now);
        let load = Arc::new(Counts::default());
        load.sent_one();
        let mut live = Live::default();
        live.follow_cluster(now);
        live.follow_load(load);
        live
    }

    fn shows(now: Now, look: Look) -> String {
        let mut live = live(now);
        live.known.insert(BrokerId(2));
        let load = live.load.clone().expect("a load");
        live.lines(Duration::from_secs(3), "", look);
        for wait in [2, 4, 600] {
            load.sent_one();
            load.ended(Duration::from_millis(wait), true);
        }
        load.ended(Duration::from_secs(9), false);
        let lines = live.lines(Duration::from_secs(4), "others are to lead", look);
        let lines = lines
            .iter()
            .map(|line| format!("|{}\n", line.replace('\x1b', "^")));
        lines.collect()
    }

    #[test]
    fn what_is_seen_now() {
        let now = Now {
            seen: Arc::new(seen(
                0,
                &[1, 3],
                &[(1, 1, 3), (-1, 2, 2), (3, 1, 3), (-1, 1, 1)],
            )),
            trouble: None,
        };
        expect![[r#"
            |   4.0 s  others are to lead
            | leaders  2 of 4 partitions without a leader: 1, 3
            |          broker 1 leads 1, broker 2 is away, broker 3 leads 1
            |    load  3 records/s acknowledged, 0 wait; latency 202.0 ms, at most 600 ms
        "#]]
        .assert_eq(&shows(now.clone(), Look::default()));
        let narrow = Look {
            colour: true,
            width: Some(40),
        };
        expect![[r#"
            |^[1m   4.0 s  others are to lead^[0m
            | leaders  ^[31m2 of 4 partitions without a l…^[0m
            |          broker 1 leads 1, ^[33mbroker 2 is…^[0m
            |    load  3 records/s acknowledged, 0 w…
        "#]]
        .assert_eq(&shows(now, narrow));
    }

    #[test]
    fn nobody_answers() {
        let now = Now {
            seen: Arc::default(),
            trouble: Some("connection refused".into()),
        };
        let text = shows(now, Look::default());
        assert!(text.contains("no broker answers"), "{text}");
    }

    #[test]
    fn the_last_second_counts() {
        let load = Arc::new(Counts::default());
        let mut live = Live::default();
        live.follow_load(Arc::clone(&load));
        for tick in 0..100 {
            let waits = if tick < 50 { 900 } else { 1 };
            load.sent_one();
            load.ended(Duration::from_millis(waits), true);
            live.lines(Duration::from_millis(100 * tick), "", Look::default());
        }
        let second = Second {
            acked: 10,
            mean: Duration::from_millis(1),
            longest: Duration::from_millis(1),
        };
        assert_eq!(live.rate(), Some(second));
        assert!(live.last.len() <= 12, "{}", live.last.len());
    }
}
