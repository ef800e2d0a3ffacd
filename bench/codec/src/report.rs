use std::fmt;

use serde::Serialize;

use crate::row::{Figures, Measured};

/// The least geometric mean of all ratios.
const MEAN_TARGET: f64 = 3.0;
/// The least ratio of a row.
const ROW_TARGET: f64 = 0.95;

/// Every row, and what they come to.
pub(crate) struct Report {
    rows: Vec<Measured>,
}

impl Report {
    pub(crate) fn new(rows: Vec<Measured>) -> Self {
        Self { rows }
    }

    /// The geometric mean as a connection sends: with segments instead of one buffer where a row
    /// has both.
    pub(crate) fn mean(&self) -> f64 {
        self.mean_of(|row| !self.has_twin(row, "segments"))
    }

    /// The geometric mean with everything in one buffer.
    pub(crate) fn mean_one_buffer(&self) -> f64 {
        self.mean_of(|row| row.ours.how != "segments")
    }

    pub(crate) fn meets_target(&self) -> bool {
        self.mean() >= MEAN_TARGET && self.lowest().is_none_or(|row| row.ratio >= ROW_TARGET)
    }

    pub(crate) fn json(&self) -> String {
        let json = Json {
            rows: self.rows.iter().map(JsonRow::of).collect(),
            geometric_mean: self.mean(),
            geometric_mean_one_buffer: self.mean_one_buffer(),
            encode_mean: self.mean_of(|row| self.counts(row, "encode")),
            decode_mean: self.mean_of(|row| self.counts(row, "decode")),
            lowest: self.lowest().map_or(f64::NAN, |row| row.ratio),
        };
        serde_json::to_string_pretty(&json).expect("numbers and texts are JSON")
    }

    fn counts(&self, row: &Measured, operation: &str) -> bool {
        row.operation == operation && !self.has_twin(row, "segments")
    }

    /// Whether another row does the same in the way `how`.
    fn has_twin(&self, row: &Measured, how: &str) -> bool {
        row.ours.how != how
            && self.rows.iter().any(|other| {
                (other.message, other.operation) == (row.message, row.operation)
                    && other.ours.how == how
            })
    }

    fn mean_of(&self, counts: impl Fn(&Measured) -> bool) -> f64 {
        let logs: Vec<f64> = self
            .rows
            .iter()
            .filter(|row| counts(row))
            .map(|row| row.ratio.ln())
            .collect();
        (logs.iter().sum::<f64>() / logs.len() as f64).exp()
    }

    fn lowest(&self) -> Option<&Measured> {
        self.rows
            .iter()
            .min_by(|one, other| one.ratio.total_cmp(&other.ratio))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<20} {:>3} {:<7}{:<11}{:>9} {:>11} {:>11} {:>7} {:>8} {:>6} {:>6} {:>9} {:>9}  peer's way",
            "message",
            "v",
            "",
            "",
            "bytes",
            "klamm ns",
            "peer ns",
            "ratio",
            "MB/s",
            "allocs",
            "peer",
            "alloc B",
            "peer B"
        )?;
        for row in &self.rows {
            let megabytes_a_second = row.len as f64 * 1e3 / row.ours.nanoseconds;
            writeln!(
                f,
                "{:<20} {:>3} {:<7}{:<11}{:>9} {:>11.1} {:>11.1} {:>6.2}x {:>8.0} {:>6} {:>6} {:>9} {:>9}  {}",
                row.message,
                row.version,
                row.operation,
                row.ours.how,
                row.len,
                row.ours.nanoseconds,
                row.peer.nanoseconds,
                row.ratio,
                megabytes_a_second,
                row.ours.allocated.count,
                row.peer.allocated.count,
                row.ours.allocated.bytes,
                row.peer.allocated.bytes,
                row.peer.how,
            )?;
        }
        writeln!(f)?;
        writeln!(
            f,
            "geometric mean {:.2}x (encode {:.2}x, decode {:.2}x); with everything in one buffer {:.2}x",
            self.mean(),
            self.mean_of(|row| self.counts(row, "encode")),
            self.mean_of(|row| self.counts(row, "decode")),
            self.mean_one_buffer(),
        )?;
        if let Some(row) = self.lowest() {
            let how = row.ours.how;
            writeln!(
                f,
                "lowest row {:.2}x: {} {} {how}",
                row.ratio, row.message, row.operation
            )?;
        }
        writeln!(
            f,
            "target: {MEAN_TARGET}x in the mean, no row below {ROW_TARGET}x: {}",
            if self.meets_target() { "met" } else { "missed" }
        )
    }
}

#[derive(Serialize)]
struct Json {
    rows: Vec<JsonRow>,
    geometric_mean: f64,
    geometric_mean_one_buffer: f64,
    encode_mean: f64,
    decode_mean: f64,
    lowest: f64,
}

#[derive(Serialize)]
struct JsonRow {
    message: &'static str,
    version: i16,
    operation: &'static str,
    bytes: usize,
    ratio: f64,
    klamm: JsonSide,
    peer: JsonSide,
}

#[derive(Serialize)]
struct JsonSide {
    how: &'static str,
    nanoseconds: f64,
    megabytes_a_second: f64,
    allocations: usize,
    allocated_bytes: usize,
}

impl JsonRow {
    fn of(row: &Measured) -> Self {
        let side = |figures: &Figures| JsonSide {
            how: figures.how,
            nanoseconds: figures.nanoseconds,
            megabytes_a_second: row.len as f64 * 1e3 / figures.nanoseconds,
            allocations: figures.allocated.count,
            allocated_bytes: figures.allocated.bytes,
        };
        Self {
            message: row.message,
            version: row.version,
            operation: row.operation,
            bytes: row.len,
            ratio: row.ratio,
            klamm: side(&row.ours),
            peer: side(&row.peer),
        }
    }
}
