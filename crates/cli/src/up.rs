//! `klamm up`: a cluster in this process until a signal ends it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use klamm_server::{EmbeddedCluster, EmbeddedError, StartError};
use serde_json::json;

use crate::errors::Problem;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::node::{self, LogLevel};
use crate::output::{Output, WriteError};

/// Run a Kafka cluster in one process, for development and tests.
///
/// A controller and brokers on 127.0.0.1, in Kafka's protocol and files. When every broker serves, a
/// line on standard output says where. Ctrl-C and SIGTERM stop it in good order; a second one ends it
/// at once. Without --dir the records go with it.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  klamm up
  klamm up --brokers 1 --port 0 --output json
  klamm up --dir ./cluster --property min.insync.replicas=2

Exit status: 1 it could not start or go on, 2 misuse, 0 stopped by a signal.")]
pub(crate) struct UpArgs {
    /// How many brokers there are.
    #[arg(long, value_name = "N", default_value_t = 3,
        value_parser = clap::value_parser!(u16).range(1..=99))]
    brokers: u16,

    /// The port of the first broker; the others have the next ones.
    ///
    /// With 0 each has one that is free.
    #[arg(long, value_name = "PORT", default_value_t = 9092)]
    port: u16,

    /// Keep the records in this directory; a cluster that is there goes on.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// A property of all nodes, with Apache Kafka's name. May be given several times.
    #[arg(long = "property", value_name = "KEY=VALUE", value_parser = property)]
    properties: Vec<(String, String)>,

    /// The form of the line that says where the cluster is.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    output: Form,

    /// The least that log lines are about.
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    log_level: LogLevel,
}

/// The form of the line that says where the cluster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A sentence.
    Text,
    /// One JSON object.
    Json,
}

fn property(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().into(), value.into())),
        _ => Err("a property is KEY=VALUE".into()),
    }
}

pub(crate) fn run(args: &UpArgs, out: &Output) -> Result<Exit, Problem> {
    node::log_lines(args.log_level);
    node::run(serve(args, out))
}

async fn serve(args: &UpArgs, out: &Output) -> Result<Exit, Problem> {
    let mut interrupt = Interrupt::new();
    let mut builder = EmbeddedCluster::builder()
        .brokers(args.brokers)
        .first_port(args.port);
    for (key, value) in &args.properties {
        builder = builder.property(key, value);
    }
    if let Some(dir) = &args.dir {
        builder = builder.dir(dir);
    }
    let began = Instant::now();
    let Ok(started) = interrupt.race(builder.start()).await else {
        return Ok(Exit::Done);
    };
    let mut cluster = started.map_err(|error| start_problem(&error))?;
    let ready = ready(&cluster, began.elapsed(), args.output);
    match out.results(&ready) {
        // Whoever started it in the background may not read what it says.
        Ok(()) | Err(WriteError::Closed) => {}
        Err(WriteError::Problem(problem)) => return Err(problem),
    }
    if out.stderr_is_terminal {
        let what = if cluster.is_temporary() {
            "Ctrl-C stops it; its records go with it (--dir keeps them)."
        } else {
            "Ctrl-C stops it; the same command goes on with its records."
        };
        out.talk(what);
    }
    if let Ok(error) = interrupt.race(cluster.failed()).await {
        return Err(Problem::failure("the cluster has stopped").because(error.to_string()));
    }
    match Interrupt::new().race(cluster.stop()).await {
        Ok(stopped) => stopped.map_err(|error| {
            Problem::failure("the cluster did not stop well").because(error.to_string())
        })?,
        Err(_) => tracing::warn!("ended at once: logs are checked at the next start"),
    }
    Ok(Exit::Done)
}

/// Where the cluster is.
fn ready(cluster: &EmbeddedCluster, took: Duration, form: Form) -> String {
    let servers = cluster.bootstrap_servers();
    let count = cluster.brokers().count();
    match form {
        Form::Text => {
            let brokers = match count {
                1 => "1 broker".to_owned(),
                count => format!("{count} brokers"),
            };
            let seconds = took.as_secs_f64();
            format!("ready: {brokers} in {seconds:.2} s, bootstrap servers {servers}\n")
        }
        Form::Json => {
            let brokers = cluster.brokers().map(|(id, address)| {
                let address = address.map(|address| address.to_string());
                json!({ "id": id.0, "address": address })
            });
            let controller = cluster.controller_address();
            let ready = json!({
                "bootstrap_servers": servers,
                "brokers": brokers.collect::<Vec<_>>(),
                "controller": controller.map(|address| address.to_string()),
                "dir": cluster.dir().display().to_string(),
                "is_temporary": cluster.is_temporary(),
                "ready_ms": took.as_millis() as u64,
            });
            format!("{ready}\n")
        }
    }
}

fn start_problem(error: &EmbeddedError) -> Problem {
    let problem = match error {
        EmbeddedError::Count(_)
        | EmbeddedError::Ports { .. }
        | EmbeddedError::DirName(_)
        | EmbeddedError::OtherCount { .. }
        | EmbeddedError::OwnProperty(_)
        | EmbeddedError::Properties(_)
        | EmbeddedError::Config { .. } => Problem::misuse("there is no such cluster"),
        _ => Problem::failure("the cluster could not start"),
    };
    let problem = problem.because(error.to_string());
    match error {
        EmbeddedError::Start {
            source: StartError::Bind { .. },
            ..
        } => problem.next("give another first port with --port, or 0 for ports that are free"),
        _ => problem,
    }
}
