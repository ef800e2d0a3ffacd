//! klamm clusters whose nodes are killed, paused and parted at random under a load of records.
//!
//! A controller and three brokers are processes of their own. `--seeds N` runs the plans of so many
//! seeds, `--seed N` one, and tells every step of it; `--times N` runs that one so often.

#![allow(clippy::print_stdout, reason = "it reports what it did and found")]

mod args;
mod check;
mod disk;
mod load;
mod patience;
mod plan;
mod reader;
mod record;
mod run;
mod stage;
mod witness;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use args::Args;
use plan::Plan;
use run::Report;
use tokio::task::JoinError;

/// Of a run's faults so many are printed; all of them are in its directory.
const SHOWN_FAULTS: usize = 10;

fn main() -> ExitCode {
    let args = match Args::parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(error) => {
            println!("{error}");
            return ExitCode::from(2);
        }
    };
    // Built, where it is not given, before anything is measured.
    klamm_suite::binary();
    let start = Instant::now();
    let reports = all(&args);
    let failed: Vec<u64> = reports
        .iter()
        .filter(|report| !report.faults.is_empty())
        .map(|report| report.seed)
        .collect();
    let sum = |count: fn(&Report) -> usize| reports.iter().map(count).sum::<usize>();
    let longest = reports.iter().map(|report| report.longest).max();
    println!(
        "safety: {} passed, {} failed, {} steps, {} of {} records acknowledged, {} read all \
         along, longest wait {:.1?}, {:.1?}",
        reports.len() - failed.len(),
        failed.len(),
        sum(|report| report.steps),
        sum(|report| report.acked),
        sum(|report| report.sent),
        sum(|report| report.read_along),
        longest.unwrap_or_default(),
        start.elapsed()
    );
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("safety: again with --seed, one of {failed:?}");
    ExitCode::FAILURE
}

/// Runs all seeds, some at a time.
fn all(args: &Args) -> Vec<Report> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut reports = Vec::new();
        while let Some(seed) = args.seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let report = one(*seed, args.is_told);
            tell(&report);
            reports.push(report);
        }
        reports
    };
    thread::scope(|scope| {
        let jobs: Vec<_> = (0..args.jobs).map(|_| scope.spawn(work)).collect();
        let reports = jobs.into_iter().flat_map(|job| match job.join() {
            Ok(reports) => reports,
            Err(panic) => resume_unwind(panic),
        });
        reports.collect()
    })
}

/// Runs a seed. One that panics fails, and the others go on.
fn one(seed: u64, is_told: bool) -> Report {
    let plan = Plan::new(seed);
    if is_told {
        println!("{plan}");
    }
    let ran = catch_unwind(AssertUnwindSafe(|| run::run(&plan, is_told)));
    ran.unwrap_or_else(|_| Report::panicked(seed))
}

fn tell(report: &Report) {
    println!("{report}");
    for fault in report.faults.iter().take(SHOWN_FAULTS) {
        println!("  {fault}");
    }
    if report.faults.len() > SHOWN_FAULTS {
        println!("  and {} more", report.faults.len() - SHOWN_FAULTS);
    }
    if let Some(dir) = &report.dir {
        println!("  its files are kept in {}", dir.display());
    }
}

/// What a task that nobody aborts has ended with.
fn joined<T>(ended: Result<T, JoinError>) -> T {
    ended.unwrap_or_else(|error| resume_unwind(error.into_panic()))
}
