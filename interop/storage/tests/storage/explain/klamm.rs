//! `klamm explain` on a file or a directory.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use klamm_java_peer::{Value, parse};

/// The objects that `--output json` prints, which says that nothing is wrong.
///
/// # Panics
/// If something is wrong.
pub(crate) fn explain(path: &Path, args: &[&str]) -> Vec<Value> {
    let mut command = Command::new(klamm_suite::binary());
    let command = command
        .args(["explain", "--output", "json", "--show-secrets", "--file"])
        .arg(path)
        .args(args);
    run(command)
}

/// The number of a type of record, by the list that klamm prints.
///
/// # Panics
/// If the list does not have it.
pub(crate) fn code(kind: &str) -> i64 {
    static LIST: OnceLock<Vec<Value>> = OnceLock::new();
    let list = LIST.get_or_init(|| {
        let mut command = Command::new(klamm_suite::binary());
        run(command.args(["explain", "--list", "--records", "--output", "json"]))
    });
    let found = list.iter().find(|line| line["name"] == kind);
    found.and_then(|line| line["type"].as_i64()).unwrap()
}

fn run(command: &mut Command) -> Vec<Value> {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && errors.is_empty(),
        "{command:?}: {}\n{errors}{text}",
        output.status
    );
    text.lines().map(parse).collect()
}

/// The objects of a kind.
pub(crate) fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["kind"] == kind).collect()
}
