//! Encodes and decodes the same messages with klamm and with the `kafka-protocol` crate, in turns.
//!
//! `bench/run codec` is how it is meant to be started; docs/benchmarks.md says how to read it.

mod measure;
mod messages;
mod report;
mod row;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: bench_alloc::Counting = bench_alloc::Counting;

const USAGE: &str = "\
Usage: bench-codec [--quick] [--samples N] [--only TEXT] [--json] [--check]
       bench-codec --spin TEXT SECONDS

  --quick        few and short samples: shows that it works, the figures are rough
  --samples N    samples a row and side (61)
  --only TEXT    rows whose name contains TEXT
  --json         JSON instead of a table
  --check        exit with 1 if the mean or a row misses its target
  --spin TEXT S  run klamm's side of the rows whose name contains TEXT for S seconds each, for a
                 profiler";

struct Options {
    plan: measure::Plan,
    only: String,
    json: bool,
    check: bool,
    spin_seconds: Option<u64>,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("bench-codec: {problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut rows = messages::rows();
    rows.retain(|row| row.name().contains(&options.only));
    if let Some(seconds) = options.spin_seconds {
        for row in &mut rows {
            println!("{}", row.name());
            measure::spin(row, seconds);
        }
        return ExitCode::SUCCESS;
    }
    let measured = rows
        .into_iter()
        .map(|row| measure::measure(row, options.plan))
        .collect();
    let report = report::Report::new(measured);
    if options.json {
        println!("{}", report.json());
    } else {
        print!("{report}");
    }
    if options.check && !report.meets_target() {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        plan: measure::Plan::FULL,
        only: String::new(),
        json: false,
        check: false,
        spin_seconds: None,
    };
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or_else(|| format!("{argument} needs a value"))
        };
        let number = |text: String| {
            text.parse()
                .map_err(|_| format!("{text:?} is not a number"))
        };
        match argument.as_str() {
            "--quick" => options.plan = measure::Plan::QUICK,
            "--samples" => options.plan.samples = number(value()?)? as usize,
            "--only" => options.only = value()?,
            "--json" => options.json = true,
            "--check" => options.check = true,
            "--spin" => {
                options.only = value()?;
                options.spin_seconds = Some(number(value()?)?);
            }
            _ => return Err(format!("{argument} is not known")),
        }
    }
    Ok(options)
}
