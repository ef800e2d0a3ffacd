//! `klamm explain` on captures that tcpdump makes of real clients and a real broker.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "it is a test")]

mod broken;
mod klamm;
mod pcap;
mod sessions;
mod tcpdump;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use klamm_cluster::{Cluster, Spec};
use klamm_java_peer::json;
use klamm_suite::{Test, is_full};
use tempfile::TempDir;

use tcpdump::Tcpdump;

/// What the tests share: a capture of each client.
struct Context {
    java: PathBuf,
    librdkafka: PathBuf,
    port: u16,
    /// Where they are.
    _dir: TempDir,
}

impl Context {
    fn captures(&self) -> [(&'static str, PathBuf); 2] {
        [
            ("java", self.java.clone()),
            ("librdkafka", self.librdkafka.clone()),
        ]
    }
}

/// Starts a broker, and has each client talk to it while tcpdump listens.
fn prepare() -> Context {
    let python = klamm_suite::python();
    let cluster = Spec::combined(1).start();
    let port = cluster
        .broker(1)
        .rsplit_once(':')
        .unwrap()
        .1
        .parse()
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let records = if is_full() { 2_000 } else { 40 };
    let java = dir.path().join("java.pcap");
    let tcpdump = Tcpdump::start(&java, port);
    let bootstrap = cluster.bootstrap();
    let args = json!({"bootstrap": bootstrap, "topic": "java", "records": records});
    let answer = cluster.admin("session", args);
    assert_eq!(answer["consumed"], 2 * records);
    tcpdump.stop();
    let librdkafka = dir.path().join("librdkafka.pcap");
    let tcpdump = Tcpdump::start(&librdkafka, port);
    run_librdkafka(python, &cluster, records);
    tcpdump.stop();
    if let Some(directory) = std::env::var_os("KLAMM_RECORD") {
        for capture in [&java, &librdkafka] {
            let name = capture.file_name().unwrap();
            std::fs::copy(capture, PathBuf::from(&directory).join(name)).unwrap();
        }
    }
    Context {
        java,
        librdkafka,
        port,
        _dir: dir,
    }
}

fn run_librdkafka(python: &Path, cluster: &Cluster, records: usize) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/librdkafka.py");
    let output = Command::new(python)
        .args([
            script,
            &cluster.bootstrap(),
            "librdkafka",
            &records.to_string(),
        ])
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "{script}: {}", output.status);
    let consumed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(consumed.trim(), (2 * records).to_string());
}

fn main() -> ExitCode {
    klamm_suite::run(
        "captures",
        &[
            Test("sessions::java", sessions::java),
            Test("sessions::librdkafka", sessions::librdkafka),
            Test("sessions::a_line_for_each_message", sessions::lines),
            Test("broken::packets_are_missing", broken::packets_missing),
            Test("broken::packets_are_out_of_order", broken::out_of_order),
            Test("broken::packets_come_twice", broken::twice),
            Test("broken::packets_are_cut", broken::snap_length),
        ],
        prepare,
    )
}
