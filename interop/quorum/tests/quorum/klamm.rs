//! The `klamm` binary, run as a person runs it.

use std::process::{Command, Stdio};

/// Runs `klamm`, which has to succeed, and gives what it printed.
pub(crate) fn klamm(args: &[&str]) -> String {
    let output = Command::new(klamm_suite::binary())
        .args(args)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert!(
        output.status.success(),
        "klamm {args:?}: {}\n{stdout}{stderr}",
        output.status
    );
    stdout
}
