//! A cluster that `klamm up` runs.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A running cluster of three brokers; it ends when this is dropped, and when this process dies.
pub(crate) struct Up {
    child: Child,
    pub(crate) bootstrap: String,
    dir: PathBuf,
}

impl Up {
    /// Starts one on free ports, and waits until it is ready.
    pub(crate) fn start() -> Self {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]);
        command.arg(klamm_suite::binary());
        command.args(["up", "--port", "0", "--output", "json"]);
        command.args(["--property", "min.insync.replicas=2"]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut line = String::new();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("klamm up says {line:?}: {error}"));
        let text = |name: &str| ready[name].as_str().unwrap().to_owned();
        Self {
            bootstrap: text("bootstrap_servers"),
            dir: text("dir").into(),
            child,
        }
    }

    /// The directory of a partition on a broker.
    pub(crate) fn partition_dir(&self, broker: i32, partition: &str) -> PathBuf {
        let of_broker = |dir: &Path| dir.join(format!("broker-{broker}"));
        of_broker(&self.dir).join(partition)
    }

    /// Whether it has not ended by itself.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let id = self.child.id().to_string();
        // It removes its directory when it is asked to end.
        let _ = Command::new("kill").args(["-TERM", &id]).status();
        let _ = self.child.wait();
    }
}
