//! Three brokers and their controller, klamm's or Apache Kafka's.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bench_common::Client;
use klamm_cluster::Spec;
use klamm_net::ServerAddress;
use serde_json::Value;
use tempfile::TempDir;

/// The heap of one of Apache Kafka's nodes, as its start script has it.
pub(crate) const HEAP_MIB: u32 = 1024;

/// A cluster that runs, until it is dropped.
#[derive(Debug)]
pub(crate) enum Cluster {
    /// `klamm up`: all in one process.
    Klamm(Up),
    /// Three processes that are broker and controller.
    Apache(Box<klamm_cluster::Cluster>),
}

/// `klamm up`.
#[derive(Debug)]
pub(crate) struct Up {
    child: Child,
    bootstrap: String,
    dir: TempDir,
}

impl Cluster {
    /// Starts one, and says how long it took until it was ready.
    pub(crate) fn start(klamm: Option<&Path>) -> Result<(Self, Duration), String> {
        match klamm {
            Some(binary) => {
                let (up, took) = Up::start(binary)?;
                Ok((Self::Klamm(up), took))
            }
            None => {
                let spec = Spec::combined(3).heap_mib(HEAP_MIB).as_scripts_do();
                // What Kafka has by default, and the spec makes small.
                let threads = [("num.io.threads", "8"), ("num.network.threads", "3")];
                let spec = threads
                    .iter()
                    .fold(spec, |spec, (key, value)| spec.property(key, value));
                let start = Instant::now();
                let cluster = spec.start();
                Ok((Self::Apache(Box::new(cluster)), start.elapsed()))
            }
        }
    }

    pub(crate) fn is_klamm(&self) -> bool {
        matches!(self, Self::Klamm(_))
    }

    pub(crate) fn bootstrap(&self) -> String {
        match self {
            Self::Klamm(up) => up.bootstrap.clone(),
            Self::Apache(cluster) => cluster.bootstrap(),
        }
    }

    pub(crate) async fn connect(&self) -> Result<Client, String> {
        let servers = ServerAddress::parse_list(&self.bootstrap());
        let servers = servers.map_err(|error| error.to_string())?;
        let server = servers.first().ok_or("there are no brokers")?;
        Client::connect(server).await
    }

    /// The CPU time of all its processes.
    pub(crate) fn cpu_time(&self) -> Result<Duration, String> {
        self.pids().into_iter().map(bench_common::cpu_time).sum()
    }

    /// The memory of all its processes that is resident, in MiB.
    pub(crate) fn resident_mib(&self) -> Result<f64, String> {
        self.pids()
            .into_iter()
            .map(bench_common::resident_mib)
            .sum()
    }

    fn pids(&self) -> Vec<u32> {
        match self {
            Self::Klamm(up) => vec![up.child.id()],
            Self::Apache(cluster) => cluster.process_ids(),
        }
    }

    /// The end of its logs, for a problem.
    pub(crate) fn tail(&self) -> String {
        match self {
            Self::Klamm(up) => up.tail(),
            Self::Apache(cluster) => cluster.tails(),
        }
    }
}

impl Up {
    fn start(binary: &Path) -> Result<(Self, Duration), String> {
        let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
        let log = File::create(log_of(&dir)).map_err(|error| error.to_string())?;
        let start = Instant::now();
        let child = Command::new(binary)
            .args(["up", "--port", "0", "--output", "json", "--dir"])
            .arg(dir.path().join("data"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn();
        let child = child.map_err(|error| format!("{}: {error}", binary.display()))?;
        let mut up = Self {
            child,
            bootstrap: String::new(),
            dir,
        };
        let stdout = up.child.stdout.take().ok_or("there is no output")?;
        let mut line = String::new();
        let read = BufReader::new(stdout).read_line(&mut line);
        let took = start.elapsed();
        read.map_err(|error| error.to_string())?;
        let ready: Value = serde_json::from_str(&line)
            .map_err(|error| format!("klamm up: {error}: {line}{}", up.tail()))?;
        let servers = ready["bootstrap_servers"].as_str();
        up.bootstrap = servers
            .ok_or("klamm up tells no bootstrap_servers")?
            .to_owned();
        Ok((up, took))
    }

    fn tail(&self) -> String {
        const BYTES: usize = 2_000;
        let log = std::fs::read(log_of(&self.dir)).unwrap_or_default();
        String::from_utf8_lossy(&log[log.len().saturating_sub(BYTES)..]).into_owned()
    }
}

fn log_of(dir: &TempDir) -> PathBuf {
    dir.path().join("up.log")
}

impl Drop for Up {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
