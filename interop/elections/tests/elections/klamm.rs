//! The `klamm` binary, run as a person runs it.

use std::process::{Command, Stdio};

use klamm_cluster::Cluster;

/// What a run of `klamm` ended with.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `klamm` with arguments that are separated by spaces.
pub(crate) fn klamm(args: &str) -> Ran {
    let output = Command::new(klamm_suite::binary())
        .args(args.split_whitespace())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran {
        status: output.status.code().expect("klamm ends by itself"),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Runs `klamm` against the brokers of a cluster.
pub(crate) fn klamm_on(cluster: &Cluster, args: &str) -> Ran {
    klamm(&format!(
        "{args} --bootstrap-server {}",
        cluster.bootstrap()
    ))
}

impl Ran {
    /// Everything a person sees, for a snapshot; ports and what is left of a deadline differ between runs.
    pub(crate) fn shown(&self) -> String {
        let mut text = String::new();
        for (name, stream) in [("output", &self.stdout), ("errors", &self.stderr)] {
            if !stream.is_empty() {
                text += &format!(
                    "--- {name}\n{}\n",
                    without_times(&without_ports(stream)).trim_end()
                );
            }
        }
        text + &format!("--- exit status {}\n", self.status)
    }
}

fn without_ports(text: &str) -> String {
    const HOST: &str = "127.0.0.1:";
    let mut parts = text.split(HOST);
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        out += HOST;
        out += "PORT";
        out += part.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out
}

fn without_times(text: &str) -> String {
    let Some((before, rest)) = text.split_once(" within ") else {
        return text.to_owned();
    };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    format!(
        "{before} within TIME{}",
        rest.strip_prefix(" ms")
            .or(rest.strip_prefix(" s"))
            .unwrap()
    )
}
