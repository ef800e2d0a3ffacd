//! Apache Kafka's own tools as the load, and what the brokers spend on it.

use std::process::{Command, Stdio};
use std::time::Instant;

use klamm_java_peer::Java;

use crate::cluster::Cluster;

/// What is written or read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) records: usize,
    pub(crate) record_bytes: usize,
}

/// What it took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) cpu_seconds_per_gb: f64,
    pub(crate) mb_per_second: f64,
}

impl Load {
    fn bytes(self) -> f64 {
        (self.records * self.record_bytes) as f64
    }

    /// `ProducerPerformance` with acks=all, which is its default; the throughput is what it says.
    pub(crate) fn produce(self, cluster: &Cluster, topic: &str) -> Result<Cost, String> {
        let mut command = tool("org.apache.kafka.tools.ProducerPerformance");
        command.args(["--topic", topic, "--throughput", "-1"]);
        command.args(["--num-records", &self.records.to_string()]);
        command.args(["--record-size", &self.record_bytes.to_string()]);
        command.args(["--bootstrap-server", &cluster.bootstrap()]);
        command.args(["--command-property", "acks=all"]);
        let before = cluster.cpu_time()?;
        let output = run(&mut command, Stdio::piped(), cluster)?;
        let used = cluster.cpu_time()? - before;
        let last = output.lines().last().unwrap_or_default();
        let sent = last.split_whitespace().next();
        if sent != Some(&*self.records.to_string()) {
            return Err(format!("not all was sent: {output}"));
        }
        let rate = last.split_once(" records/sec").and_then(|(before, _)| {
            let rate = before.split_whitespace().last()?;
            rate.parse::<f64>().ok()
        });
        let rate = rate.ok_or_else(|| format!("no records/sec in: {output}"))?;
        Ok(Cost {
            cpu_seconds_per_gb: used.as_secs_f64() * 1e9 / self.bytes(),
            mb_per_second: rate * self.record_bytes as f64 / 1e6,
        })
    }

    /// `ConsoleConsumer --partition`, from a partition that has as many records at least. Its time is
    /// that of the whole process.
    pub(crate) fn consume(self, cluster: &Cluster, topic: &str) -> Result<Cost, String> {
        let mut command = tool("org.apache.kafka.tools.consumer.ConsoleConsumer");
        command.args(["--topic", topic, "--partition", "0", "--offset", "earliest"]);
        command.args(["--max-messages", &self.records.to_string()]);
        command.args(["--bootstrap-server", &cluster.bootstrap()]);
        let before = cluster.cpu_time()?;
        let start = Instant::now();
        run(&mut command, Stdio::null(), cluster)?;
        let took = start.elapsed();
        let used = cluster.cpu_time()? - before;
        Ok(Cost {
            cpu_seconds_per_gb: used.as_secs_f64() * 1e9 / self.bytes(),
            mb_per_second: self.bytes() / took.as_secs_f64() / 1e6,
        })
    }
}

fn tool(class: &str) -> Command {
    Java::prepared().as_scripts_do(class, &["-Xmx512M"])
}

fn run(command: &mut Command, stdout: Stdio, cluster: &Cluster) -> Result<String, String> {
    let child = command
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn();
    let output = child.and_then(|child| child.wait_with_output());
    let output = output.map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        let tail = cluster.tail();
        return Err(format!("{command:?}: {output:?}\n{tail}"));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}
