//! Runs `klamm elect` and Apache Kafka's own tool in turns, on one cluster and the same elections.
//!
//! `bench/run elect` is how it is meant to be started; docs/benchmarks.md says how to read it.

mod cluster;
mod process;

use std::path::Path;
use std::process::ExitCode;

use klamm_cluster::Spec;

use cluster::{Bare, Topic};
use process::Sample;

const USAGE: &str = "\
Usage: bench-elect [--samples N] [--partitions N] [--check] --klamm FILE

  --klamm FILE     the klamm command
  --samples N      how often each runs for one partition (15); for all it is a third of that
  --partitions N   partitions of the large topic (3000)
  --check          exit with 1 if a target is missed";

/// At least so many times as fast as the other tool, for one partition.
const SPEED_TARGET: f64 = 100.0;
/// The most memory that klamm may hold, in MiB.
const MEMORY_TARGET_MIB: f64 = 20.0;

struct Options {
    klamm: String,
    samples: usize,
    partitions: i32,
    check: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // A sample is measured by a process of its own: see `process`.
    if let Some((marker, command)) = arguments.split_first()
        && marker == process::MARKER
    {
        return process::measure_here(command);
    }
    let options = match options(arguments.into_iter()) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("bench-elect: {problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(is_met) if is_met || !options.check => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("bench-elect: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<bool, String> {
    let apache = process::apache_tool();
    eprintln!("starting three Apache Kafka brokers");
    let cluster = Spec::combined(3).heap_mib(512).start();
    let one = Topic::create(&cluster, "one", 1)?;
    let probe = Topic::create(&cluster, "probe", 1)?;
    eprintln!("creating {} partitions", options.partitions);
    let many = Topic::create(&cluster, "many", options.partitions)?;

    println!(
        "| elections | klamm | the least | Apache's tool | ratio | klamm's memory | Apache's memory |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let bootstrap = cluster.bootstrap();
    let mut is_met = true;
    let part = &["--topic", "one", "--partition", "0"][..];
    let all = &["--all-topic-partitions"][..];
    let rows = [
        (
            &one,
            "one partition, nothing to elect",
            part,
            false,
            options.samples,
        ),
        (&one, "one partition, elected", part, true, options.samples),
        (
            &many,
            "all partitions, elected",
            all,
            true,
            options.samples.div_ceil(3),
        ),
    ];
    for (topic, name, scope, is_elected, samples) in rows {
        let arguments: Vec<&str> = [
            "--bootstrap-server",
            &bootstrap,
            "--election-type",
            "preferred",
        ]
        .into_iter()
        .chain(scope.iter().copied())
        .collect();
        let mut klamm = Vec::new();
        let mut theirs = Vec::new();
        for _ in 0..samples {
            if is_elected {
                prepare(topic, &probe)?;
            }
            klamm.push(process::sample(
                &[options.klamm.as_str(), "elect"],
                &arguments,
            )?);
            if is_elected {
                prepare(topic, &probe)?;
            }
            let apache: Vec<&str> = apache.iter().map(String::as_str).collect();
            theirs.push(process::sample(&apache, &arguments)?);
        }
        let least = Sample::least(&klamm);
        let (klamm, theirs) = (Sample::median(klamm), Sample::median(theirs));
        let speed = theirs.milliseconds / klamm.milliseconds;
        println!(
            "| {name} ({}) | {:.1} ms | {least:.1} ms | {:.0} ms | {speed:.0}x | {:.1} MiB | {:.0} MiB |",
            topic.partitions(),
            klamm.milliseconds,
            theirs.milliseconds,
            klamm.mebibytes,
            theirs.mebibytes,
        );
        is_met &= klamm.mebibytes < MEMORY_TARGET_MIB;
        is_met &= topic.partitions() > 1 || speed >= SPEED_TARGET;
    }
    println!("\n| ElectLeaders on an open connection | answered | shown by the broker after |");
    println!("| --- | --- | --- |");
    for (topic, name, _, is_elected, samples) in rows {
        let mut bare = Vec::new();
        for _ in 0..samples {
            if is_elected {
                prepare(topic, &probe)?;
            }
            bare.push(topic.elect()?);
        }
        let (answered, shown) = Bare::median(&bare);
        println!(
            "| {name} ({}) | {answered:.1} ms | {shown:.1} ms |",
            topic.partitions()
        );
    }
    let outcome = if is_met { "met" } else { "missed" };
    println!(
        "\ntarget: {SPEED_TARGET}x for one partition, less than {MEMORY_TARGET_MIB} MiB: {outcome}"
    );
    Ok(is_met)
}

/// Makes every partition of a topic need an election, and waits until the brokers are done with it.
/// They make changes in the order in which they learn of them: one that shows a later change, to
/// another topic, is done with the earlier ones.
fn prepare(topic: &Topic, probe: &Topic) -> Result<(), String> {
    topic.move_preferred_leaders()?;
    probe.move_preferred_leaders()
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        klamm: String::new(),
        samples: 15,
        partitions: 3_000,
        check: false,
    };
    while let Some(argument) = arguments.next() {
        let mut value = || {
            let value = arguments.next();
            value.ok_or_else(|| format!("{argument} needs a value"))
        };
        let number = |text: String| {
            let number = text.parse::<i32>().ok().filter(|number| *number > 0);
            number.ok_or_else(|| format!("{text:?} is not a number"))
        };
        match argument.as_str() {
            "--klamm" => options.klamm = value()?,
            "--check" => options.check = true,
            "--samples" => options.samples = number(value()?)? as usize,
            "--partitions" => options.partitions = number(value()?)?,
            _ => return Err(format!("{argument} is not known")),
        }
    }
    if !Path::new(&options.klamm).is_file() {
        return Err("--klamm names no file".into());
    }
    Ok(options)
}
