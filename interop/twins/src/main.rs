//! The same random histories of requests for Apache Kafka's controller and klamm's.
//!
//! Brokers are scripted: they exist in requests only. Every answer is compared, and every record of
//! the metadata log, with names put in for what each side numbers in its own way.
//!
//! `--histories N --operations M` says how much; `--seed N` runs one history again, and shrinks it.

#![allow(clippy::print_stdout, reason = "it reports what it compared")]

mod acls;
mod args;
mod history;
mod kind;
mod known;
mod log;
mod names;
mod operations;
mod pair;
mod run;
mod shrink;
mod side;
mod wire;

use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use args::Args;
use run::Report;

/// The levels that clusters are formatted with, in turn; the rest is as in a new cluster.
const LEVELS: [&[&str]; 2] = [&[], &["eligible.leader.replicas.version=0"]];
/// In so many operations every row of the table of differences is met that is not rare.
const ALL_ROWS: usize = 40_000;

fn main() -> ExitCode {
    let args = match Args::parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(error) => {
            println!("{error}");
            return ExitCode::from(2);
        }
    };
    let start = Instant::now();
    let report = all(&args);
    let Report {
        tally,
        passed,
        different,
    } = &report;
    for (api, (asked, changed)) in &tally.apis {
        println!("  {api}: {asked} times, {changed} with records");
    }
    println!("  errors: {:?}", tally.errors);
    let mut is_met = true;
    for row in known::ROWS {
        let times = tally.known.get(row).copied().unwrap_or_default();
        println!("  {times} times: {row}");
        is_met &= times > 0 || known::RARE.contains(&row);
    }
    println!(
        "twins: {passed} passed, {} failed, {} operations, {} records, {:.1?}",
        different.len(),
        tally.operations,
        tally.records,
        start.elapsed()
    );
    if !different.is_empty() {
        println!("twins: again with --seed, one of {different:?}");
        return ExitCode::FAILURE;
    }
    if tally.operations >= ALL_ROWS && !is_met {
        println!("twins: a row of the table of differences was never met, and is to go");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Runs the histories, those of each of the levels on a thread of its own.
fn all(args: &Args) -> Report {
    let mut all = Report::default();
    thread::scope(|scope| {
        let runs = LEVELS.into_iter().enumerate().map(|(number, levels)| {
            let is_its = |seed: &u64| seed % LEVELS.len() as u64 == number as u64;
            let seeds: Vec<u64> = args.seeds().filter(is_its).collect();
            (!seeds.is_empty()).then(|| scope.spawn(move || run::run(levels, &seeds, args)))
        });
        for run in runs.collect::<Vec<_>>().into_iter().flatten() {
            let report = run.join().expect("a history that panics is caught");
            all.tally.add(&report.tally);
            all.passed += report.passed;
            all.different.extend(report.different);
        }
    });
    all
}
