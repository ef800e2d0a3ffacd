use std::collections::VecDeque;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Java;

/// How long one answer may take; the slowest are tools that wait for a dead broker.
const ANSWER_DEADLINE: Duration = Duration::from_secs(180);
/// Lines of the child's standard error that are kept for an error message.
const STDERR_LINES: usize = 40;

/// A JVM that runs Apache Kafka's code on request. It ends when this value is dropped, and when
/// this process dies, since its standard input ends then.
#[derive(Debug)]
pub struct Peer {
    child: Child,
    stdin: BufWriter<ChildStdin>,
    answers: Receiver<String>,
    stderr: Arc<Mutex<VecDeque<String>>>,
}

/// Why the peer gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// Apache Kafka's code threw.
    #[error("Apache Kafka says: {message} (at {at})")]
    Refused {
        /// The exception.
        message: String,
        /// The top of its stack trace.
        at: String,
    },
    /// The JVM is gone, or its answer makes no sense.
    #[error("the Java helper broke ({cause}); its standard error ends with:\n{stderr}")]
    Broken {
        /// What was seen.
        cause: String,
        /// The last lines.
        stderr: String,
    },
}

impl Peer {
    /// Starts a peer; it takes a second or two to answer its first call.
    ///
    /// # Panics
    /// If no JVM can be started.
    pub fn start() -> Self {
        let mut child = Java::prepared()
            .command("klamm.interop.Peer", 512, &[])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("cannot start java: {e}"));
        let stdin = BufWriter::new(child.stdin.take().expect("stdin was asked for"));
        let stdout = BufReader::new(child.stdout.take().expect("stdout was asked for"));
        let errors = BufReader::new(child.stderr.take().expect("stderr was asked for"));
        let (sender, answers) = channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&stderr);
        thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                if kept.len() == STDERR_LINES {
                    kept.pop_front();
                }
                kept.push_back(line);
            }
        });
        Self {
            child,
            stdin,
            answers,
            stderr,
        }
    }

    /// Asks for `op` with the fields of `args`, a JSON object.
    pub fn call(&mut self, op: &str, mut args: Value) -> Result<Value, PeerError> {
        args["op"] = op.into();
        if let Err(e) = writeln!(self.stdin, "{args}").and_then(|()| self.stdin.flush()) {
            return Err(self.broken(format!("{op} could not be sent: {e}")));
        }
        let line = match self.answers.recv_timeout(ANSWER_DEADLINE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                // The answer may still come, and would be taken for that of the next call.
                let _ = self.child.kill();
                return Err(self.broken(format!("no answer to {op} in {ANSWER_DEADLINE:?}")));
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait();
                return Err(self.broken(format!("it ended during {op}: {status:?}")));
            }
        };
        let mut answer: Value = serde_json::from_str(&line)
            .map_err(|e| self.broken(format!("{op} was answered with {line:?}: {e}")))?;
        if let Some(error) = answer.get("error") {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            return Err(PeerError::Refused {
                message: text(error),
                at: text(&answer["at"]),
            });
        }
        Ok(answer["ok"].take())
    }

    /// Runs a class of `org.apache.kafka.tools` inside the peer: exit status, then what it printed.
    pub fn tool(&mut self, tool: &str, args: &[&str]) -> Result<(i64, String), PeerError> {
        let answer = self.call("tool", json!({ "tool": tool, "args": args }))?;
        let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
        Ok((
            answer["status"].as_i64().unwrap_or(-1),
            text("stdout") + &text("stderr"),
        ))
    }

    fn broken(&self, cause: String) -> PeerError {
        let lines = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let stderr = lines.iter().map(|line| format!("  {line}\n")).collect();
        PeerError::Broken { cause, stderr }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
