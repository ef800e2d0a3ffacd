//! Runs the simulation: `--seed N` shows one run, `--seeds A..B` checks many.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool of the project that shows runs"
)]

use std::process::ExitCode;

use klamm_sim::{Plan, run, trace};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [flag, seed] if flag == "--seed" => match seed.parse() {
            Ok(seed) => show(seed),
            Err(_) => usage(),
        },
        [flag, range] if flag == "--seeds" => {
            let ends = range
                .split_once("..")
                .and_then(|(first, end)| Some((first.parse().ok()?, end.parse().ok()?)));
            match ends {
                Some((first, end)) => check(first, end),
                None => usage(),
            }
        }
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: klamm-sim --seed N | --seeds FIRST..END");
    ExitCode::from(2)
}

fn show(seed: u64) -> ExitCode {
    let plan = Plan::new(seed);
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

fn check(first: u64, end: u64) -> ExitCode {
    let mut totals = [0u64; 6];
    for seed in first..end {
        match run(Plan::new(seed)) {
            Ok(report) => {
                let counts = [
                    report.events,
                    report.elections,
                    report.crashes,
                    report.truncations,
                    report.installs,
                    report.committed.0.unsigned_abs(),
                ];
                for (total, count) in totals.iter_mut().zip(counts) {
                    *total += count;
                }
            }
            Err(failure) => {
                println!("{failure}");
                return ExitCode::FAILURE;
            }
        }
    }
    let [events, elections, crashes, truncations, installs, committed] = totals;
    println!(
        "{} runs passed: {events} events, {elections} elections, {crashes} crashes, \
         {truncations} truncations, {installs} snapshots installed, {committed} records committed",
        end.saturating_sub(first)
    );
    ExitCode::SUCCESS
}
