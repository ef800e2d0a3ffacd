use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The Python that has confluent-kafka, which is librdkafka, kafka-python and aiokafka; made ready
/// where it is missing.
///
/// # Panics
/// If it cannot be: a suite that cannot run fails.
pub fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| prepared(concat!(env!("CARGO_MANIFEST_DIR"), "/prepare-python")))
}

/// Runs a script that makes something ready, and gives the path that it prints.
///
/// # Panics
/// If it fails: a suite that cannot run fails.
pub fn prepared(script: &str) -> PathBuf {
    let output = Command::new(script)
        .stderr(Stdio::inherit())
        .output()
        .unwrap_or_else(|error| panic!("cannot run {script}: {error}"));
    assert!(output.status.success(), "{script}: {}", output.status);
    let path = String::from_utf8(output.stdout).expect("it prints a path");
    PathBuf::from(path.trim())
}
