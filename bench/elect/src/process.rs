//! Time and memory of a whole process.
//!
//! The system tells the most memory that any child of a process held. Every sample therefore has a
//! small parent of its own: this program again, started with [`MARKER`].

use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use klamm_java_peer::Java;
use nix::sys::resource::{UsageWho, getrusage};

/// The first argument of the process that measures one sample.
pub(crate) const MARKER: &str = "--measure-one";

/// What one run took, or the median of several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// From start to end.
    pub(crate) milliseconds: f64,
    /// The most memory held at one time (resident set).
    pub(crate) mebibytes: f64,
}

impl Sample {
    /// The shortest of several runs, in milliseconds.
    pub(crate) fn least(samples: &[Self]) -> f64 {
        let times = samples.iter().map(|sample| sample.milliseconds);
        times.fold(f64::INFINITY, f64::min)
    }

    /// Time and memory in the middle of several runs, each on its own.
    pub(crate) fn median(samples: Vec<Self>) -> Self {
        let middle = |of: fn(&Self) -> f64| median(samples.iter().map(of));
        Self {
            milliseconds: middle(|sample| sample.milliseconds),
            mebibytes: middle(|sample| sample.mebibytes),
        }
    }
}

/// The value in the middle; there is at least one.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Runs a command and measures it.
pub(crate) fn sample(command: &[&str], arguments: &[&str]) -> Result<Sample, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(this)
        .arg(MARKER)
        .args(command)
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("{} failed", command.join(" ")));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut numbers = text.split_whitespace().map(str::parse::<f64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(milliseconds)), Some(Ok(kibibytes))) => Ok(Sample {
            milliseconds,
            mebibytes: kibibytes / 1024.0,
        }),
        _ => Err(format!("no measurement in {text:?}")),
    }
}

/// Runs the command and prints the milliseconds and kibibytes that it took.
pub(crate) fn measure_here(command: &[String]) -> ExitCode {
    let Some((program, arguments)) = command.split_first() else {
        return ExitCode::FAILURE;
    };
    let start = Instant::now();
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output();
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    let (Ok(output), Ok(usage)) = (output, getrusage(UsageWho::RUSAGE_CHILDREN)) else {
        return ExitCode::FAILURE;
    };
    if !output.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&output.stdout));
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        return ExitCode::FAILURE;
    }
    println!("{milliseconds} {}", usage.max_rss());
    ExitCode::SUCCESS
}

/// Apache Kafka's tool with the options of its own start script.
pub(crate) fn apache_tool() -> Vec<String> {
    let class = "org.apache.kafka.tools.LeaderElectionCommand";
    let command = Java::prepared().as_scripts_do(class, &["-Xmx256M"]);
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}
