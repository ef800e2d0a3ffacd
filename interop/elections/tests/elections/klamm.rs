//! The `klamm` binary, run as a person runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use klamm_cluster::Cluster;

/// What a run of `klamm` ended with.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `klamm` with arguments that are separated by spaces.
pub(crate) fn klamm(args: &str) -> Ran {
    let output = Command::new(binary())
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

/// The binary that `KLAMM` names, or else one that is built now.
fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| std::env::var_os("KLAMM").map_or_else(build, PathBuf::from))
}

fn build() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--package", "klamm-cli"])
        .args(["--message-format", "json", "--manifest-path"])
        .arg(root.join("Cargo.toml"))
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "klamm cannot be built: {}",
        output.status
    );
    let messages = String::from_utf8(output.stdout).unwrap();
    messages
        .lines()
        .filter_map(|line| {
            klamm_java_peer::parse(line)["executable"]
                .as_str()
                .map(PathBuf::from)
        })
        .next_back()
        .expect("cargo says where the binary is")
}
