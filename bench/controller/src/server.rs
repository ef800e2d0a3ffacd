//! A controller as a process of its own, klamm's or Apache Kafka's.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use klamm_cluster::free_ports;
use klamm_java_peer::Java;
use klamm_net::ServerAddress;
use klamm_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig, IncrementalAlterConfigsRequest,
};
use tempfile::TempDir;
use tokio::time::sleep;

use bench_common::Client;

/// The cluster's id.
pub(crate) const CLUSTER: &str = "AAAAAAAAAAAAAAAAAAAAAQ";
/// The controller's id.
const NODE: i32 = 100;
/// How long a start may take.
const START_DEADLINE: Duration = Duration::from_secs(120);
/// Between two looks at a controller that starts.
const START_INTERVAL: Duration = Duration::from_millis(1);

/// Whose controller it is.
#[derive(Clone, Debug)]
pub(crate) enum Program {
    /// The `klamm` command.
    Klamm(PathBuf),
    /// Apache Kafka's, with the options of its own start script.
    Apache,
}

/// A controller and its directory.
#[derive(Debug)]
pub(crate) struct Server {
    program: Program,
    dir: TempDir,
    address: ServerAddress,
    child: Option<Child>,
}

impl Server {
    /// Formats a directory; nothing runs yet.
    pub(crate) fn format(program: Program) -> Result<Self, String> {
        let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
        let port = free_ports(1)[0];
        let properties = format!(
            "node.id={NODE}\n\
             process.roles=controller\n\
             listeners=CONTROLLER://127.0.0.1:{port}\n\
             controller.listener.names=CONTROLLER\n\
             listener.security.protocol.map=CONTROLLER:PLAINTEXT\n\
             controller.quorum.bootstrap.servers=127.0.0.1:{port}\n\
             auto.leader.rebalance.enable=false\n\
             broker.session.timeout.ms=120000\n\
             log.dirs={}\n",
            dir.path().join("data").display()
        );
        let config = dir.path().join("server.properties");
        std::fs::write(&config, properties).map_err(|error| error.to_string())?;
        let mut command = match &program {
            Program::Klamm(binary) => {
                let mut command = Command::new(binary);
                command.args(["format", "--cluster-id", CLUSTER, "--config"]);
                command
            }
            Program::Apache => {
                let mut command =
                    Java::prepared().as_scripts_do("kafka.tools.StorageTool", &["-Xmx256M"]);
                command.args(["format", "-t", CLUSTER, "-c"]);
                command
            }
        };
        let output = command.arg(&config).arg("--standalone").output();
        let output = output.map_err(|error| format!("{command:?}: {error}"))?;
        if !output.status.success() {
            return Err(format!("{command:?}: {output:?}"));
        }
        Ok(Self {
            program,
            dir,
            address: ServerAddress::new("127.0.0.1", port),
            child: None,
        })
    }

    pub(crate) fn address(&self) -> &ServerAddress {
        &self.address
    }

    pub(crate) fn is_klamm(&self) -> bool {
        matches!(self.program, Program::Klamm(_))
    }

    /// Starts the process, and says how long it took until a change was made and answered.
    pub(crate) async fn start(&mut self) -> Result<Duration, String> {
        let config = self.dir.path().join("server.properties");
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.dir.path().join("server.log"));
        let log = log.map_err(|error| error.to_string())?;
        let mut command = match &self.program {
            Program::Klamm(binary) => {
                let mut command = Command::new(binary);
                command.args(["controller", "--config"]);
                command
            }
            Program::Apache => Java::prepared().as_scripts_do("kafka.Kafka", &["-Xmx1G", "-Xms1G"]),
        };
        let also = log.try_clone().map_err(|error| error.to_string())?;
        let start = Instant::now();
        let child = command
            .arg(config)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(also)
            .spawn();
        self.child = Some(child.map_err(|error| format!("{command:?}: {error}"))?);
        while !self.makes_changes().await {
            let ended = self.child.as_mut().map(Child::try_wait);
            if let Some(Ok(Some(status))) = ended {
                return Err(format!(
                    "the controller ended with {status}: {}",
                    self.tail()
                ));
            }
            if start.elapsed() > START_DEADLINE {
                return Err(format!(
                    "the controller does not get ready: {}",
                    self.tail()
                ));
            }
            sleep(START_INTERVAL).await;
        }
        Ok(start.elapsed())
    }

    /// Whether a change is committed.
    async fn makes_changes(&self) -> bool {
        /// The type of a config resource.
        const BROKER: i8 = 4;
        let Ok(client) = Client::connect(&self.address).await else {
            return false;
        };
        let request = IncrementalAlterConfigsRequest {
            resources: vec![AlterConfigsResource {
                resource_type: BROKER,
                configs: vec![AlterableConfig {
                    name: "log.retention.ms".into(),
                    value: Some("86400000".into()),
                    ..AlterableConfig::default()
                }],
                ..AlterConfigsResource::default()
            }],
            ..IncrementalAlterConfigsRequest::default()
        };
        let answer = client.ask(&request).await;
        answer.is_ok_and(|answer| answer.responses.iter().all(|one| one.error_code == 0))
    }

    /// As `kill -9` does.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// The memory that is resident, in MiB.
    pub(crate) fn resident_mib(&self) -> Result<f64, String> {
        let child = self.child.as_ref().ok_or("the controller does not run")?;
        bench_common::resident_mib(child.id())
    }

    /// The end of its log, for a problem.
    pub(crate) fn tail(&self) -> String {
        const BYTES: usize = 2_000;
        let log = std::fs::read(self.dir.path().join("server.log")).unwrap_or_default();
        String::from_utf8_lossy(&log[log.len().saturating_sub(BYTES)..]).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
