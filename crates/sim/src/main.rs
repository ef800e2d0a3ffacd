//! Runs the simulation: `--seed N` shows one run, `--seeds A..B` checks many.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool of the project that shows runs"
)]

use std::process::ExitCode;

use klamm_sim::{Plan, Report, run, trace};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["--controller", rest @ ..] => of(Plan::controller, rest),
        rest => of(Plan::new, rest),
    }
}

/// Runs seeds of one kind of plan.
fn of(plan: fn(u64) -> Plan, args: &[&str]) -> ExitCode {
    match args {
        ["--seed", seed] => match seed.parse() {
            Ok(seed) => show(plan(seed)),
            Err(_) => usage(),
        },
        ["--seeds", range] => {
            let ends = range
                .split_once("..")
                .and_then(|(first, end)| Some((first.parse().ok()?, end.parse().ok()?)));
            match ends {
                Some((first, end)) => check(plan, first, end),
                None => usage(),
            }
        }
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: klamm-sim [--controller] --seed N | --seeds FIRST..END");
    ExitCode::from(2)
}

fn show(plan: Plan) -> ExitCode {
    println!("{plan:#?}");
    let (result, lines) = trace(plan);
    for line in lines {
        println!("{line}");
    }
    match result {
        Ok(report) => {
            println!("{report:#?}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            println!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn check(plan: fn(u64) -> Plan, first: u64, end: u64) -> ExitCode {
    let mut total = Report::default();
    for seed in first..end {
        match run(plan(seed)) {
            Ok(report) => total.add(report),
            Err(failure) => {
                println!("{failure}");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{} runs passed: {total:#?}", end.saturating_sub(first));
    ExitCode::SUCCESS
}
