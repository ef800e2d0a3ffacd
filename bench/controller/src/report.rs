use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// What a row measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    Milliseconds,
    MiB,
}

/// What a row has to show.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Target {
    /// At most so much, in the row's unit.
    pub(crate) most: Option<f64>,
    /// At least so many times less than Apache Kafka's.
    pub(crate) ratio: Option<f64>,
}

/// Samples of both controllers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    pub(crate) klamm: Vec<f64>,
    pub(crate) apache: Vec<f64>,
}

impl Samples {
    pub(crate) fn add(&mut self, is_klamm: bool, value: f64) {
        match is_klamm {
            true => self.klamm.push(value),
            false => self.apache.push(value),
        }
    }

    pub(crate) fn add_time(&mut self, is_klamm: bool, time: Duration) {
        self.add(is_klamm, time.as_secs_f64() * 1e3);
    }

    pub(crate) fn row(self, name: impl Into<String>, unit: Unit, target: Target) -> Row {
        let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
        // Neighbours had the same weather.
        let ratios = self.klamm.iter().zip(&self.apache);
        Row {
            name: name.into(),
            unit,
            klamm: median(self.klamm.clone()).unwrap_or(f64::NAN),
            klamm_least: least(&self.klamm),
            apache: median(self.apache.clone()),
            ratio: median(ratios.map(|(klamm, apache)| apache / klamm).collect()),
            samples: self.klamm.len(),
            target,
        }
    }
}

/// The value in the middle.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// A line of the report.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    name: String,
    unit: Unit,
    klamm: f64,
    klamm_least: f64,
    apache: Option<f64>,
    ratio: Option<f64>,
    samples: usize,
    target: Target,
}

impl Row {
    /// Whether the target is met, as far as it was measured.
    pub(crate) fn is_met(&self) -> bool {
        let Target { most, ratio } = self.target;
        most.is_none_or(|most| self.klamm <= most)
            && ratio.is_none_or(|least| self.ratio.is_none_or(|ratio| ratio >= least))
    }

    /// Whether the target does not depend on what else the machine does.
    pub(crate) fn is_steady(&self) -> bool {
        self.unit == Unit::MiB
    }

    fn has_target(&self) -> bool {
        self.target.most.is_some() || self.target.ratio.is_some()
    }

    fn value(&self, value: f64) -> String {
        match self.unit {
            Unit::Milliseconds if value >= 1_000.0 => format!("{:.2} s", value / 1e3),
            Unit::Milliseconds if value >= 100.0 => format!("{value:.0} ms"),
            Unit::Milliseconds => format!("{value:.1} ms"),
            Unit::MiB => format!("{value:.1} MiB"),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dash = || "-".to_owned();
        let apache = self.apache.map_or_else(dash, |value| self.value(value));
        let ratio = self.ratio.map_or_else(dash, |ratio| format!("{ratio:.1}x"));
        let target = match self.target {
            Target {
                most: Some(most), ..
            } => format!("at most {}", self.value(most)),
            Target {
                ratio: Some(ratio), ..
            } => format!("{ratio:.0}x"),
            Target { .. } => String::new(),
        };
        let outcome = match (self.has_target(), self.is_met()) {
            (false, _) => "",
            (true, true) => ": met",
            (true, false) => ": missed",
        };
        let (klamm, least) = (self.value(self.klamm), self.value(self.klamm_least));
        write!(
            f,
            "| {} | {klamm} | {least} | {apache} | {ratio} | {target}{outcome} |",
            self.name
        )
    }
}

/// The table's head.
pub(crate) const HEAD: &str = "\
| | klamm | klamm's least | Apache's | ratio | target |
| --- | ---: | ---: | ---: | ---: | --- |";
