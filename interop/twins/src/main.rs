//! The same random histories of requests for Apache Kafka's controller and klamm's.
//!
//! Brokers are scripted: they exist in requests only. Every answer is compared, and every record of
//! the metadata log, with names put in for what each side numbers in its own way.
//!
//! `--histories N --operations M` says how much; `--seed N` runs one history again, and shrinks it.

#![allow(clippy::print_stdout, reason = "it reports what it compared")]

mod args;
mod history;
mod known;
mod log;
mod names;
mod operations;
mod pair;
mod shrink;
mod side;
mod wire;

use std::process::ExitCode;
use std::time::Instant;

use args::Args;
use history::Tally;
use pair::Pair;

/// The levels that clusters are formatted with, in turn; the rest is as in a new cluster.
const LEVELS: [&[&str]; 2] = [&[], &["eligible.leader.replicas.version=0"]];
/// After so many differences there is enough to look at.
const MAX_DIFFERENCES: usize = 12;

fn main() -> ExitCode {
    let args = match Args::parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(error) => {
            println!("{error}");
            return ExitCode::from(2);
        }
    };
    let start = Instant::now();
    let mut tally = Tally::default();
    let mut different = Vec::new();
    for (number, levels) in LEVELS.into_iter().enumerate() {
        let seeds: Vec<u64> = args
            .seeds()
            .filter(|seed| seed % LEVELS.len() as u64 == number as u64)
            .collect();
        if seeds.is_empty() {
            continue;
        }
        let mut pair = Pair::start(levels);
        println!(
            "twins: controllers with {levels:?} after {:.1?}",
            start.elapsed()
        );
        for seed in seeds {
            pair.clean();
            let (steps, difference) = history::random(&mut pair, seed, args.operations, &mut tally);
            let Some(difference) = difference else {
                continue;
            };
            println!(
                "\nseed {seed}, operation {}: {}",
                difference.at, difference.text
            );
            if args.shrink {
                shrink::shrink(&mut pair, &steps, &difference);
            }
            different.push(seed);
            if different.len() == MAX_DIFFERENCES {
                break;
            }
        }
    }
    for (api, (asked, changed)) in &tally.apis {
        println!("  {api}: {asked} times, {changed} with records");
    }
    println!("  errors: {:?}", tally.errors);
    for (what, times) in &tally.known {
        println!("  {times} times: {what}");
    }
    println!(
        "twins: {} histories, {} operations, {} records, {} differences, {:.1?}",
        args.histories,
        tally.operations,
        tally.records,
        different.len(),
        start.elapsed()
    );
    match different.is_empty() {
        true => ExitCode::SUCCESS,
        false => {
            println!("twins: again with --seed, one of {different:?}");
            ExitCode::FAILURE
        }
    }
}
