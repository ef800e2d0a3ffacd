//! The text that Prometheus reads, version 0.0.4 of it.

use std::fmt::{Display, Write};

use super::window::{QUANTILES, Summary};

/// What kind of a metric it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A value that goes up and down.
    Gauge,
    /// A count since the start.
    Counter,
    /// Quantiles of late, and a count and a sum since the start.
    Summary,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gauge => "gauge",
            Self::Counter => "counter",
            Self::Summary => "summary",
        }
    }
}

/// What is said of a metric before its samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The label that tells its samples apart; empty where there is one sample.
    pub(crate) label: &'static str,
    pub(crate) help: &'static str,
}

/// The samples of a metric, as they are written.
#[derive(Debug)]
pub(crate) struct Samples<'a> {
    head: Head,
    text: &'a mut String,
}

impl<'a> Samples<'a> {
    /// Begins a metric.
    pub(crate) fn begin(head: Head, text: &'a mut String) -> Self {
        let Head { name, help, .. } = head;
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        let kind = head.kind.name();
        write_to(
            text,
            format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"),
        );
        Self { head, text }
    }

    /// The only sample.
    pub(crate) fn value(&mut self, value: impl Display) {
        write_to(self.text, format_args!("{} {value}\n", self.head.name));
    }

    /// A sample among others.
    pub(crate) fn labelled(&mut self, of: impl Display, value: impl Display) {
        let of = escaped(&of.to_string());
        let Head { name, label, .. } = self.head;
        write_to(
            self.text,
            format_args!("{name}{{{label}=\"{of}\"}} {value}\n"),
        );
    }

    pub(crate) fn summary(&mut self, summary: &Summary) {
        for ((quantile, _), value) in QUANTILES.iter().zip(summary.quantiles_ms) {
            self.labelled(quantile, value);
        }
        let (name, count, sum) = (self.head.name, summary.count, summary.sum_ms);
        write_to(
            self.text,
            format_args!("{name}_sum {sum}\n{name}_count {count}\n"),
        );
    }
}

fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    value.replace('\n', "\\n")
}

fn write_to(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).expect("a String takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn metrics_are_written_as_prometheus_reads_them() {
        let head = |name, kind, label, help| Head {
            name,
            kind,
            label,
            help,
        };
        let mut text = String::new();
        let counter = head("a_total", Kind::Counter, "", "As \\ and\nso.");
        Samples::begin(counter, &mut text).value(7_u64);
        let gauge = head("b", Kind::Gauge, "name", "B.");
        let mut samples = Samples::begin(gauge, &mut text);
        samples.labelled("a \"b\" \\ \n", -1);
        samples.labelled(5, f64::NAN);
        samples.labelled(6, 0.000_001);
        let summary = Summary {
            count: 3,
            sum_ms: 4.5,
            quantiles_ms: [1.0, 2.0, 3.0, 4.0, 5.0, 6.5],
            mean_ms: 1.0,
            max_ms: 7.0,
        };
        let head = head("c", Kind::Summary, "quantile", "C.");
        Samples::begin(head, &mut text).summary(&summary);
        expect![[r##"
            # HELP a_total As \\ and\nso.
            # TYPE a_total counter
            a_total 7
            # HELP b B.
            # TYPE b gauge
            b{name="a \"b\" \\ \n"} -1
            b{name="5"} NaN
            b{name="6"} 0.000001
            # HELP c C.
            # TYPE c summary
            c{quantile="0.50"} 1
            c{quantile="0.75"} 2
            c{quantile="0.95"} 3
            c{quantile="0.98"} 4
            c{quantile="0.99"} 5
            c{quantile="0.999"} 6.5
            c_sum 4.5
            c_count 3
        "##]]
        .assert_eq(&text);
    }
}
