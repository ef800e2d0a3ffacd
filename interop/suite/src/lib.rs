//! A test runner for suites whose tests share something expensive, such as a cluster.
//!
//! The usual runner has no place to keep a shared value that is dropped at the end, and a cluster
//! has to be. Tests run one after the other, in the order they are given.

#![allow(
    clippy::print_stdout,
    reason = "it reports results, as every test runner does"
)]

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

/// Prepares what the tests share, runs those whose names contain an argument of the command line
/// (all, without arguments), and says how each went.
///
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
    let mut failed = Vec::new();
    for Test(name, test) in &chosen {
        let begun = Instant::now();
        let passed = catch_unwind(AssertUnwindSafe(|| test(&mut shared))).is_ok();
        let outcome = if passed { "ok" } else { "FAILED" };
        println!("test {name} ... {outcome} ({:.1?})", begun.elapsed());
        if !passed {
            failed.push(*name);
        }
    }
    drop(shared);
    let passed = chosen.len() - failed.len();
    println!(
        "{suite}: {passed} passed, {} failed, {:.1?}",
        failed.len(),
        start.elapsed()
    );
    for name in &failed {
        println!("  failed: {name}");
    }
    if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
