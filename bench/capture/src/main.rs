//! Reads a large capture with `klamm explain`, beside reading the file alone and beside tshark.
//!
//! `bench/run capture` is how it is meant to be started; docs/benchmarks.md says how to read it.

mod traffic;

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

const USAGE: &str = "\
Usage: bench-capture [--quick] [--check] [--megabytes N] --klamm FILE

  --klamm FILE     the klamm command
  --megabytes N    how large the capture is (1000)
  --quick          64 MB, and no tshark
  --check          exit with 1 if the target is missed";

/// At most so many times as long as reading the file alone.
const TARGET: f64 = 2.0;
/// Runs of each; the shortest counts, as nothing makes one too short.
const RUNS: usize = 5;

struct Options {
    klamm: String,
    megabytes: u64,
    has_tshark: bool,
    check: bool,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("bench-capture: {problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(is_met) if is_met || !options.check => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("bench-capture: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        klamm: String::new(),
        megabytes: 1000,
        has_tshark: true,
        check: false,
    };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--klamm" => options.klamm = value()?,
            "--megabytes" => {
                options.megabytes = value()?.parse().map_err(|_| "--megabytes needs a number")?;
            }
            "--quick" => (options.megabytes, options.has_tshark) = (64, false),
            "--check" => options.check = true,
            other => return Err(format!("unknown argument {other}")),
        }
    }
    if options.klamm.is_empty() {
        return Err("--klamm is missing".into());
    }
    Ok(options)
}

fn run(options: &Options) -> Result<bool, String> {
    let said = |error: std::io::Error| error.to_string();
    let dir = tempfile::tempdir().map_err(said)?;
    let path = dir.path().join("capture.pcap");
    let mut out = BufWriter::new(File::create(&path).map_err(said)?);
    let bytes = traffic::write(&mut out, options.megabytes * 1_000_000).map_err(said)?;
    out.flush().map_err(said)?;
    drop(out);
    let file = path.to_string_lossy().into_owned();

    // In turns, so that all have the same weather; the first pass brings the file into memory.
    read_alone(&path).map_err(said)?;
    let mut least = [f64::INFINITY; 3];
    for _ in 0..RUNS {
        let cat = ["cat", &file];
        let klamm = [
            options.klamm.as_str(),
            "explain",
            "--summary",
            "--file",
            &file,
        ];
        let seconds = [
            read_alone(&path).map_err(said)?,
            command(&cat)?,
            command(&klamm)?,
        ];
        for (least, seconds) in least.iter_mut().zip(seconds) {
            *least = least.min(seconds);
        }
    }
    let [read, cat, klamm] = least;
    let rate = |seconds: f64| format!("{:.0} MB/s", bytes as f64 / 1e6 / seconds);
    println!("| {} MB | time | rate |", bytes / 1_000_000);
    println!("| --- | ---: | ---: |");
    println!(
        "| reading in pieces of 1 MiB | {read:.3} s | {} |",
        rate(read)
    );
    println!("| `cat` | {cat:.3} s | {} |", rate(cat));
    println!("| `klamm explain` | {klamm:.3} s | {} |", rate(klamm));
    if options.has_tshark {
        let fields = [
            "kafka.api_key",
            "kafka.correlation_id",
            "kafka.client_id",
            "kafka.error",
        ];
        let mut arguments = vec!["tshark", "-n", "-r", &file, "-d", "tcp.port==9092,kafka"];
        arguments.extend(["-T", "fields"]);
        for field in fields {
            arguments.extend(["-e", field]);
        }
        let tshark = command(&arguments)?;
        println!("| `tshark -T fields` | {tshark:.1} s | {} |", rate(tshark));
    }
    let ratio = klamm / read;
    let word = if ratio <= TARGET { "met" } else { "missed" };
    println!("target: klamm takes {ratio:.2}x as long as reading, at most {TARGET}x: {word}");
    Ok(ratio <= TARGET)
}

/// Seconds to read a file and do nothing with it.
fn read_alone(path: &Path) -> std::io::Result<f64> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    let start = Instant::now();
    while file.read(&mut buffer)? > 0 {}
    Ok(start.elapsed().as_secs_f64())
}

/// Seconds that a command takes, whose output nobody reads.
fn command(command: &[&str]) -> Result<f64, String> {
    let start = Instant::now();
    let status = Command::new(command[0])
        .args(&command[1..])
        .stdout(Stdio::null())
        .status()
        .map_err(|error| format!("{} cannot be run: {error}", command[0]))?;
    if status.success() {
        Ok(start.elapsed().as_secs_f64())
    } else {
        Err(format!("{}: {status}", command.join(" ")))
    }
}
