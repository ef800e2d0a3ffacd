//! `klamm explain` on a file.

use std::path::Path;
use std::process::{Command, Stdio};

use klamm_java_peer::{Value, parse};

pub(crate) struct Explained {
    pub(crate) status: i32,
    pub(crate) messages: Vec<Value>,
    pub(crate) connections: Vec<Value>,
    pub(crate) findings: Vec<Value>,
    pub(crate) capture: Value,
}

/// What `--output json` says about a capture.
pub(crate) fn explain(file: &Path) -> Explained {
    let (status, text) = run(file, &["--output", "json"]);
    let mut explained = Explained {
        status,
        messages: Vec::new(),
        connections: Vec::new(),
        findings: Vec::new(),
        capture: Value::Null,
    };
    for line in text.lines() {
        let line = parse(line);
        match line["kind"].as_str() {
            Some("connection") => explained.connections.push(line),
            Some("finding") => explained.findings.push(line),
            Some("capture") => explained.capture = line,
            _ => explained.messages.push(line),
        }
    }
    explained
}

/// Exit status and standard output of `klamm explain`.
pub(crate) fn run(file: &Path, args: &[&str]) -> (i32, String) {
    let output = Command::new(klamm_suite::binary())
        .args(["explain", "--file"])
        .arg(file)
        .args(args)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let status = output.status.code().expect("klamm ends by itself");
    (status, String::from_utf8(output.stdout).unwrap())
}

impl Explained {
    /// What is said, without when: it does not depend on the order of the packets.
    pub(crate) fn said(&self) -> Vec<String> {
        let mut said: Vec<String> = self
            .messages
            .iter()
            .map(|message| {
                format!(
                    "{} {} {} {} {}",
                    message["connection"],
                    message["kind"],
                    message["name"],
                    message["correlation_id"],
                    message["hex"]
                )
            })
            .collect();
        said.sort();
        said
    }

    /// The sum of a number over all connections.
    pub(crate) fn sum(&self, key: &str) -> u64 {
        let connections = self.connections.iter();
        connections
            .filter_map(|connection| connection[key].as_u64())
            .sum()
    }
}
