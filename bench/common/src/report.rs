use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// What a row measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Time.
    Milliseconds,
    /// Resident memory.
    MiB,
    /// CPU time for 10^9 bytes of records.
    CpuSecondsPerGb,
    /// 10^6 bytes of records.
    MbPerSecond,
    /// Of one core.
    Percent,
}

/// What a row has to show.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Target {
    /// At most so much, in the row's unit.
    pub most: Option<f64>,
    /// At least so many times better than Apache Kafka's.
    pub ratio: Option<f64>,
}

impl Target {
    /// At most so much, in the row's unit.
    pub fn most(most: f64) -> Self {
        let most = Some(most);
        Self { most, ratio: None }
    }

    /// At least so many times better than Apache Kafka's.
    pub fn ratio(ratio: f64) -> Self {
        let ratio = Some(ratio);
        Self { most: None, ratio }
    }
}

/// Samples of both programs.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    klamm: Vec<f64>,
    apache: Vec<f64>,
}

impl Samples {
    /// Adds one, in the unit of the row that it is for.
    pub fn add(&mut self, is_klamm: bool, value: f64) {
        match is_klamm {
            true => self.klamm.push(value),
            false => self.apache.push(value),
        }
    }

    /// Adds one in milliseconds.
    pub fn add_time(&mut self, is_klamm: bool, time: Duration) {
        self.add(is_klamm, time.as_secs_f64() * 1e3);
    }

    /// The row of these.
    pub fn row(self, name: impl Into<String>, unit: Unit, target: Target) -> Row {
        let best = match unit.is_more_better() {
            true => self.klamm.iter().copied().reduce(f64::max),
            false => self.klamm.iter().copied().reduce(f64::min),
        };
        // Neighbours had the same weather.
        let neighbours = self.klamm.iter().zip(&self.apache);
        let ratios = neighbours.map(|(klamm, apache)| match unit.is_more_better() {
            true => klamm / apache,
            false => apache / klamm,
        });
        Row {
            name: name.into(),
            unit,
            ratio: median(ratios.collect()),
            klamm: median(self.klamm.clone()).unwrap_or(f64::NAN),
            klamm_best: best.unwrap_or(f64::NAN),
            apache: median(self.apache.clone()),
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

impl Unit {
    fn is_more_better(self) -> bool {
        self == Self::MbPerSecond
    }

    fn of(self, value: f64) -> String {
        match self {
            Self::Milliseconds if value >= 1_000.0 => format!("{:.2} s", value / 1e3),
            Self::Milliseconds if value >= 100.0 => format!("{value:.0} ms"),
            Self::Milliseconds => format!("{value:.1} ms"),
            Self::MiB => format!("{value:.1} MiB"),
            Self::CpuSecondsPerGb => format!("{value:.1} s/GB"),
            Self::MbPerSecond => format!("{value:.1} MB/s"),
            Self::Percent => format!("{value:.1} %"),
        }
    }
}

/// A line of the report.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    name: String,
    unit: Unit,
    klamm: f64,
    klamm_best: f64,
    apache: Option<f64>,
    ratio: Option<f64>,
    samples: usize,
    target: Target,
}

impl Row {
    /// Whether the target is met, as far as it was measured.
    pub fn is_met(&self) -> bool {
        let Target { most, ratio } = self.target;
        most.is_none_or(|most| self.klamm <= most)
            && ratio.is_none_or(|least| self.ratio.is_none_or(|ratio| ratio >= least))
    }

    /// Whether the target does not depend on what else the machine does.
    pub fn is_steady(&self) -> bool {
        self.unit == Unit::MiB
    }

    /// Whether there is a target, and everything was measured that it is about.
    fn is_judged(&self) -> bool {
        let Target { most, ratio } = self.target;
        most.is_some() || ratio.is_some() && self.ratio.is_some()
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |value| self.unit.of(value);
        let dash = || "-".to_owned();
        let apache = self.apache.map_or_else(dash, of);
        let ratio = self.ratio.map_or_else(dash, |ratio| format!("{ratio:.1}x"));
        let Target { most, ratio: least } = self.target;
        let most = most.map(|most| format!("at most {}", of(most)));
        let least = least.map(|least| format!("{least}x"));
        let targets: Vec<String> = most.into_iter().chain(least).collect();
        let outcome = match (self.is_judged(), self.is_met()) {
            (false, _) => "",
            (true, true) => ": met",
            (true, false) => ": missed",
        };
        let (klamm, best) = (of(self.klamm), of(self.klamm_best));
        let targets = targets.join(", ");
        write!(
            f,
            "| {} | {klamm} | {best} | {apache} | {ratio} | {targets}{outcome} |",
            self.name
        )
    }
}

/// The table's head.
pub const HEAD: &str = "\
| | klamm | klamm's best | Apache's | ratio | target |
| --- | ---: | ---: | ---: | ---: | --- |";
