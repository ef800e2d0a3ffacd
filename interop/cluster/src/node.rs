use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use klamm_java_peer::{Java, Release};

use crate::links::Links;
use crate::spec::{Address, Program, Role, Spec};
use crate::wait_until;

/// The directory of the partitions, beside the configuration.
pub(crate) const DATA: &str = "data";

/// Shutdown hooks of a broker wait for its controlled shutdown, which Kafka gives up on after a while.
const STOP_DEADLINE: Duration = Duration::from_secs(120);

/// A node's files, and its process while it runs.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) address: Address,
    pub(crate) program: Program,
    release: Release,
    heap_mib: u32,
    as_scripts_do: bool,
    metrics: bool,
    config: PathBuf,
    log: PathBuf,
    child: Option<Child>,
}

impl Node {
    pub(crate) fn new(
        spec: &Spec,
        address: Address,
        all: &[Address],
        links: &Links,
        dir: &Path,
    ) -> Self {
        let dir = dir.join(format!("node-{}", address.id));
        std::fs::create_dir_all(&dir).expect("the temporary directory is writable");
        let config = dir.join("server.properties");
        let properties = spec.server_properties(&address, all, links, &dir.join(DATA));
        std::fs::write(&config, properties).expect("the temporary directory is writable");
        let log = dir.join("server.log");
        Self {
            address,
            program: spec.program(&address),
            release: spec.release,
            heap_mib: spec.heap_mib,
            as_scripts_do: spec.as_scripts_do,
            metrics: spec.metrics && address.role == Role::Controller,
            config,
            log,
            child: None,
        }
    }

    /// Starts the process; with a cluster id it formats its directory first.
    pub(crate) fn start(&mut self, format: Option<(&str, &[String])>) {
        assert!(
            self.child.is_none(),
            "node {} runs already",
            self.address.id
        );
        let mut command = match &self.program {
            Program::Apache => self.apache(format),
            Program::Klamm(binary) => self.klamm(binary, format),
        };
        let log = self.open_log();
        let also = log.try_clone().expect("a log file can be opened twice");
        let child = command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(log)
            .stderr(also)
            .spawn();
        let child = child.unwrap_or_else(|e| panic!("cannot start {command:?}: {e}"));
        self.child = Some(child);
    }

    /// One process that formats and runs.
    fn apache(&self, format: Option<(&str, &[String])>) -> Command {
        const CLASS: &str = "klamm.interop.Node";
        let java = Java::prepared();
        let heap = |limit: &str| format!("{limit}{}m", self.heap_mib);
        let mut options = match self.as_scripts_do {
            true => vec![heap("-Xmx"), heap("-Xms")],
            false => vec!["-Xms64m".to_owned()],
        };
        options.push("-Dklamm.log.level=INFO".to_owned());
        if self.metrics {
            options.extend(jmx(self.address.metrics_port));
        }
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let mut command = match self.as_scripts_do {
            true => java.as_scripts_do(CLASS, &options),
            false => java.command_of(self.release, CLASS, self.heap_mib, &options),
        };
        if let Some((cluster_id, args)) = format {
            command.args(["--format", cluster_id]).args(args);
        }
        command.arg(&self.config);
        command
    }

    /// Formats, and makes a process that dies with the one that starts it.
    fn klamm(&self, binary: &Path, format: Option<(&str, &[String])>) -> Command {
        if let Some((cluster_id, args)) = format {
            let output = Command::new(binary)
                .args(["format", "--cluster-id", cluster_id, "--config"])
                .arg(&self.config)
                .args(args)
                .output()
                .unwrap_or_else(|e| panic!("cannot run {}: {e}", binary.display()));
            assert!(output.status.success(), "klamm format: {output:?}");
        }
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).arg(binary);
        let role = match self.address.role {
            Role::Controller => "controller",
            Role::Broker => "broker",
            Role::Combined => unreachable!("only Apache Kafka's code runs such nodes"),
        };
        command.args([role, "--config"]).arg(&self.config);
        command
    }

    /// Sets a property from the next start on.
    pub(crate) fn set_property(&self, key: &str, value: &str) {
        let text = std::fs::read_to_string(&self.config).expect("it was written");
        let lines = text.lines().filter(|line| {
            let of_line = line.split_once('=').map(|(key, _)| key);
            of_line != Some(key)
        });
        let mut text: String = lines.map(|line| format!("{line}\n")).collect();
        text.push_str(&format!("{key}={value}\n"));
        std::fs::write(&self.config, text).expect("the temporary directory is writable");
    }

    /// Like `kill -9`.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// A controlled shutdown, as `kill -TERM` starts it.
    pub(crate) fn stop(&mut self) {
        let Some(child) = &mut self.child else { return };
        match self.program {
            Program::Apache => {
                let stdin = child.stdin.as_mut().expect("stdin was asked for");
                stdin
                    .write_all(b"stop\n")
                    .expect("the node reads its lifeline");
            }
            Program::Klamm(_) => send(child, "TERM"),
        }
        let stopped = wait_until(STOP_DEADLINE, || {
            child.try_wait().is_ok_and(|status| status.is_some())
        });
        if !stopped {
            self.kill();
            panic!(
                "node {} did not stop in {STOP_DEADLINE:?}\n{}",
                self.address.id,
                self.tail()
            );
        }
        self.child = None;
    }

    /// Sends a signal, if it runs.
    pub(crate) fn signal(&mut self, signal: &str) {
        if let Some(child) = &self.child {
            send(child, signal);
        }
    }

    pub(crate) fn process_id(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    pub(crate) fn is_running(&self) -> bool {
        self.child.is_some()
    }

    /// The status of a process that ended by itself.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.as_mut()?.try_wait().ok().flatten()
    }

    pub(crate) fn log_contains(&self, text: &str) -> bool {
        std::fs::read_to_string(&self.log).is_ok_and(|log| log.contains(text))
    }

    /// The last lines of the log, for a panic message.
    pub(crate) fn tail(&self) -> String {
        const LINES: usize = 25;
        let text = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let tail = &lines[lines.len().saturating_sub(LINES)..];
        let tail: String = tail.iter().map(|line| format!("    {line}\n")).collect();
        let state = if self.is_running() {
            "started"
        } else {
            "stopped"
        };
        format!(
            "  log of node {} ({state}) ends with:\n{tail}",
            self.address.id
        )
    }

    fn open_log(&self) -> File {
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.log)
            .expect("the temporary directory is writable")
    }
}

fn send(child: &Child, signal: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-s", signal, &id]).status();
    assert!(sent.is_ok_and(|status| status.success()), "kill works");
}

/// Options of a JVM whose MBeans are read at a port.
fn jmx(port: u16) -> Vec<String> {
    let of_jmx = |key: &str, value: &str| format!("-Dcom.sun.management.jmxremote.{key}={value}");
    let port = port.to_string();
    vec![
        of_jmx("host", "127.0.0.1"),
        of_jmx("port", &port),
        of_jmx("rmi.port", &port),
        of_jmx("authenticate", "false"),
        of_jmx("ssl", "false"),
        "-Djava.rmi.server.hostname=127.0.0.1".to_owned(),
    ]
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}
