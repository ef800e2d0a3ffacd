//! A test runner for suites whose tests share something expensive, such as a cluster.
//!
//! The usual runner has no place to keep a shared value that is dropped at the end, and a cluster
//! has to be. Tests run one after the other, in the order they are given.

#![allow(
    clippy::print_stdout,
    reason = "it reports results, as every test runner does"
)]

mod failures;
mod klamm;
mod python;
mod wire;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

pub use klamm::binary;
pub use python::{prepared, python};
pub use wire::Wire;

/// Whether the full form of a suite was asked for, with `KLAMM_FULL=1`, instead of the short one.
pub fn is_full() -> bool {
    std::env::var("KLAMM_FULL").is_ok_and(|value| !value.is_empty() && value != "0")
}

/// A test: its name, and what it does with what the tests share.
#[derive(Debug)]
pub struct Test<C>(pub &'static str, pub fn(&mut C));

/// Of what a test said when it failed, what the summary repeats.
const SUMMARY_LINES: usize = 5;

/// Prepares what the tests share, runs those whose names contain an argument of the command line
/// (all, without arguments), and says how each went.
///
/// The first that fails is the last that runs, unless `--keep-going` is given: others would find what
/// it left behind. What it said is repeated at the end, where the end of a long log shows it.
/// `prepare` is not called when there is nothing to run, which is a failure.
pub fn run<C>(suite: &str, tests: &[Test<C>], prepare: impl FnOnce() -> C) -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--list") {
        for Test(name, _) in tests {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let filters: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let chosen: Vec<&Test<C>> = tests
        .iter()
        .filter(|Test(name, _)| {
            filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()))
        })
        .collect();
    if chosen.is_empty() {
        println!("{suite}: no test matches {filters:?}");
        return ExitCode::FAILURE;
    }
    let form = if is_full() { "full" } else { "short" };
    println!(
        "{suite}: {} of {} tests, {form} form",
        chosen.len(),
        tests.len()
    );
    let start = Instant::now();
    let mut shared = prepare();
    println!("{suite}: ready after {:.1?}", start.elapsed());
    let keep_going = args.iter().any(|arg| arg == "--keep-going");
    let mut passed = 0;
    let mut failed = Vec::new();
    failures::keep();
    for Test(name, test) in &chosen {
        let begun = Instant::now();
        let ok = catch_unwind(AssertUnwindSafe(|| test(&mut shared))).is_ok();
        let outcome = if ok { "ok" } else { "FAILED" };
        println!("test {name} ... {outcome} ({:.1?})", begun.elapsed());
        let said = failures::take();
        if ok {
            passed += 1;
            continue;
        }
        failed.push((name, said.unwrap_or_default()));
        if !keep_going {
            break;
        }
    }
    drop(shared);
    println!(
        "{suite}: {passed} passed, {} failed, {} not run, {:.1?}",
        failed.len(),
        chosen.len() - passed - failed.len(),
        start.elapsed()
    );
    for (name, said) in &failed {
        let said: Vec<&str> = said.lines().take(SUMMARY_LINES).collect();
        println!("  failed: {name}: {}", said.join("\n    "));
    }
    if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
