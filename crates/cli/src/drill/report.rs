use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use klamm_client::{BrokerId, SmallString};
use serde_json::{Map, Value, json};

use super::args::Form;
use super::audit::Audit;
use super::load::Sent;
use super::spread::{Spread, millis};
use super::talk::Event;
use crate::table::plural;

/// How a drill went.
#[derive(Clone, Debug)]
pub(super) struct Report {
    pub(super) partitions: u16,
    pub(super) rate: u32,
    pub(super) took: Duration,
    pub(super) audit: Audit,
    /// How long no record of a partition was acknowledged, of those that were hit.
    pub(super) unavailability: Option<Spread>,
    /// How many partitions were hit.
    pub(super) hit: usize,
    /// Why records were given up, each once.
    pub(super) failures: Vec<String>,
    /// Who led how many partitions, and when.
    pub(super) leaders: Vec<(&'static str, BTreeMap<BrokerId, usize>)>,
    pub(super) events: Vec<Event>,
    pub(super) form: ClusterForm,
}

/// What is told of one kind of cluster only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ClusterForm {
    /// The drill's own.
    Own {
        /// Until its brokers served.
        ready: Duration,
        killed: BrokerId,
        /// From the kill until brokers said that others lead.
        led_again: Duration,
        /// From the start until all replicas were in sync.
        in_sync_again: Duration,
    },
    /// One that somebody else disturbs.
    Other {
        topic: SmallString,
        /// How long brokers said that a partition has no leader, each time.
        leaderless: Option<Spread>,
    },
}

/// The most reasons that are told.
const MAX_FAILURES: usize = 5;

/// Why records were given up, the first reasons.
pub(super) fn failures(sent: &[Vec<Sent>]) -> Vec<String> {
    let mut failures: Vec<String> = Vec::new();
    for failure in sent
        .iter()
        .flatten()
        .filter_map(|sent| sent.failure.as_deref())
    {
        if failures.len() < MAX_FAILURES && !failures.iter().any(|known| known == failure) {
            failures.push(failure.to_owned());
        }
    }
    failures
}

impl Report {
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

    /// Every broker that is counted anywhere.
    pub(super) fn brokers(&self) -> Vec<BrokerId> {
        let ids = self.leaders.iter().flat_map(|(_, counts)| counts.keys());
        let mut ids: Vec<BrokerId> = ids.copied().collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (name, line) in self.lines() {
            let _ = writeln!(text, "{name:<16}{line}");
        }
        let titles = self
            .leaders
            .iter()
            .map(|(moment, _)| format!("{moment:>9}"));
        let titles: Vec<String> = titles.collect();
        let _ = writeln!(text, "leaders         {}", titles.join(" ").trim_start());
        for id in self.brokers() {
            let _ = write!(text, "  broker {:<6}", id.0);
            for (_, counts) in &self.leaders {
                let _ = write!(text, " {:>9}", counts.get(&id).copied().unwrap_or(0));
            }
            text.push('\n');
        }
        let _ = writeln!(text, "took            {}", self.took_text());
        text
    }

    /// What was found, but for the leaders: its name where there is one, and a line.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let Audit {
            sent,
            acked,
            lost,
            doubled,
            out_of_order,
            unacked_and_there,
        } = self.audit;
        let records = format!(
            "{sent} sent, {acked} acknowledged, {lost} lost, {doubled} doubled, \
             {out_of_order} out of order"
        );
        let mut lines = vec![("records", records)];
        let unacked = sent - acked;
        if unacked > 0 {
            let there =
                format!("{unacked} not acknowledged, of which {unacked_and_there} are there");
            lines.push(("", there));
        }
        lines.extend(self.failures.iter().map(|failure| ("", failure.clone())));
        if let Some(spread) = self.unavailability {
            let which = match &self.form {
                ClusterForm::Own { killed, .. } => {
                    format!("{} that broker {killed} led", plural(self.hit, "partition"))
                }
                ClusterForm::Other { .. } => {
                    format!("{} that were hit", plural(self.hit, "partition"))
                }
            };
            lines.push((
                "unavailability",
                format!("{}, of the {which}", spread.text()),
            ));
        }
        match &self.form {
            ClusterForm::Own {
                led_again,
                in_sync_again,
                ..
            } => {
                let known = format!(
                    "{} ms after the kill; in sync {} ms after the restart",
                    led_again.as_millis(),
                    in_sync_again.as_millis()
                );
                lines.push(("leaders known", known));
            }
            ClusterForm::Other { leaderless, .. } => {
                let none = || "no partition, as brokers say".to_owned();
                lines.push((
                    "without leader",
                    leaderless.map_or_else(none, |spread| spread.text()),
                ));
            }
        }
        lines
    }

    pub(super) fn took_text(&self) -> String {
        let took = self.took.as_secs_f64();
        match &self.form {
            ClusterForm::Own { ready, .. } => format!(
                "{took:.1} s, {:.2} s of it until {} served",
                ready.as_secs_f64(),
                plural(self.brokers().len(), "broker")
            ),
            ClusterForm::Other { .. } => format!("{took:.1} s"),
        }
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
        let leaders = self.leaders.iter();
        let leaders: BTreeMap<&str, Value> = leaders
            .map(|(moment, counts)| (*moment, by_broker(counts)))
            .collect();
        let events = self.events.iter();
        let events = events.map(|Event { at, what }| json!({ "at_ms": millis(*at), "what": what }));
        let mut report = json!({
            "sent": sent,
            "acked": acked,
            "lost": lost,
            "doubled": doubled,
            "out_of_order": out_of_order,
            "unacked_and_there": unacked_and_there,
            "failures": self.failures,
            "unavailability_ms": self.unavailability.map(|spread| spread.json()),
            "partitions_hit": self.hit,
            "leaders": leaders,
            "brokers": self.brokers().len(),
            "partitions": self.partitions,
            "rate": self.rate,
            "took_ms": millis(self.took),
            "events": events.collect::<Vec<_>>(),
        });
        if let Value::Object(report) = &mut report {
            report.extend(self.form.json());
        }
        report
    }
}

impl ClusterForm {
    fn json(&self) -> Map<String, Value> {
        let told = match self {
            Self::Own {
                ready,
                killed,
                led_again,
                in_sync_again,
            } => [
                ("killed", json!(killed.0)),
                ("led_again_ms", json!(millis(*led_again))),
                ("in_sync_again_ms", json!(millis(*in_sync_again))),
                ("ready_ms", json!(millis(*ready))),
            ]
            .to_vec(),
            Self::Other { topic, leaderless } => [
                ("topic", json!(&**topic)),
                (
                    "leaderless_ms",
                    json!(leaderless.map(|spread| spread.json())),
                ),
            ]
            .to_vec(),
        };
        told.into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

fn by_broker(counts: &BTreeMap<BrokerId, usize>) -> Value {
    let counts = counts
        .iter()
        .map(|(id, count)| (id.0.to_string(), json!(count)));
    Value::Object(counts.collect())
}
