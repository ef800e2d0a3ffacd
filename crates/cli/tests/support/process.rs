use std::fmt;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

/// How a klamm process ended and what it said.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// What went to both, with ports replaced, for snapshots.
    pub(crate) fn shown(&self, port: u16) -> String {
        self.to_string().replace(&format!(":{port}"), ":PORT")
    }
}

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self
            .code
            .map_or("a signal".to_owned(), |code| code.to_string());
        write!(
            f,
            "{}--- stderr\n{}--- exit {code}\n",
            self.stdout, self.stderr
        )
    }
}

/// Starts klamm without a terminal.
pub(crate) fn start(words: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_klamm"))
        .args(words.split_whitespace())
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("klamm starts")
}

/// Runs klamm to its end.
pub(crate) async fn klamm(words: &str) -> Finished {
    klamm_with_input(words, "").await
}

/// Runs klamm to its end, with this on its standard input.
pub(crate) async fn klamm_with_input(words: &str, input: &str) -> Finished {
    let mut child = start(words);
    let mut stdin = child.stdin.take().expect("a pipe");
    // A command that does not read its input may be gone already.
    let _ = stdin.write_all(input.as_bytes()).await;
    drop(stdin);
    finish(child).await
}

pub(crate) async fn finish(child: Child) -> Finished {
    let output = child.wait_with_output().await.expect("klamm ends");
    Finished {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// What Ctrl-C does.
pub(crate) async fn interrupt(child: &Child) {
    signal(child, "-INT").await;
}

/// Sends a signal, named as `kill` names it.
pub(crate) async fn signal(child: &Child, name: &str) {
    let id = child.id().expect("it runs").to_string();
    let status = Command::new("kill").args([name, &id]).status().await;
    assert!(status.expect("kill works").success());
}

/// A file below the build's directory for this.
pub(crate) fn file(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("a file can be written");
    path
}
