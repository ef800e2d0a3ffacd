//! Runs klamm's controller and Apache Kafka's in turns, on the same requests of the same driver.
//!
//! `bench/run controller` is how it is meant to be started; docs/benchmarks.md says how to read it.

mod broker;
mod failover;
mod partitions;
mod scripted;
mod server;

use std::process::ExitCode;

use bench_common::{HEAD, Options, Row, Samples, Target, Unit};
use failover::Failover;
use server::Program;

const USAGE: &str = "\
Usage: bench-controller [--quick] [--json] [--check] --klamm FILE

  --klamm FILE     the klamm command
  --quick          klamm alone, with scripted brokers, each once; of the targets memory's alone
  --json           the rows as JSON
  --check          exit with 1 if a target is missed";

/// Partitions of the topic whose leaders are killed.
const FAILOVER_PARTITIONS: usize = 300;
/// How often a broker is killed.
const FAILOVER_SAMPLES: usize = 5;

fn main() -> ExitCode {
    bench_common::main("bench-controller", USAGE, run)
}

/// Whether every target is met.
fn run(options: &Options) -> Result<bool, String> {
    let mut show = |row: &Row| {
        if !options.json {
            println!("{row}");
        }
    };
    if !options.json {
        println!("{HEAD}");
    }
    // The driver's brokers go on while the main thread waits for a process.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let klamm = Program::Klamm(options.klamm.clone());
    let (programs, size) = match options.quick {
        true => (vec![klamm], scripted::Size::QUICK),
        false => (vec![klamm, Program::Apache], scripted::Size::FULL),
    };
    let mut rows = runtime.block_on(scripted::measure(&programs, size, &mut show))?;
    if !options.quick {
        let mut samples = Samples::default();
        for program in &programs {
            let is_klamm = matches!(program, Program::Klamm(_));
            eprintln!("starting three Apache Kafka brokers");
            let failover = Failover::start(program, FAILOVER_PARTITIONS)?;
            for nth in 0..FAILOVER_SAMPLES {
                samples.add_time(is_klamm, failover.sample(&runtime, nth)?);
            }
        }
        let target = Target {
            most: Some(500.0),
            ratio: Some(10.0),
        };
        let name = "from kill -9 of a broker until others lead";
        let row = samples.row(name, Unit::Milliseconds, target);
        show(&row);
        rows.push(row);
    }
    if options.json {
        let json = serde_json::to_string_pretty(&rows);
        println!("{}", json.map_err(|error| error.to_string())?);
    }
    let counts = |row: &&Row| !options.quick || row.is_steady();
    Ok(rows.iter().filter(counts).all(Row::is_met))
}
