//! `klamm controller` as a process: how it starts, ends, and what a crash leaves.

use std::path::{Path, PathBuf};
use std::time::Duration;

use klamm_net::{Connection, ConnectionOptions, NetError, ServerAddress, TcpConnector};
use klamm_protocol::Request;
use klamm_protocol::messages::describe_configs::{DescribeConfigsRequest, DescribeConfigsResource};
use klamm_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig, IncrementalAlterConfigsRequest,
};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::support::{finish, klamm, signal, start};

const PATIENCE: Duration = Duration::from_secs(60);
/// How often the controller is killed.
const KILLS: u64 = 20;
/// A config that the controller itself does not go by.
const KEY: &str = "log.retention.ms";
/// The kind of resource that nodes are, in requests about configs.
const NODES: i8 = 4;

/// A formatted directory and a configuration.
struct Home {
    _dir: tempfile::TempDir,
    config: PathBuf,
}

impl Home {
    async fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        // The quorum's voter is known by an address; what listens takes any free port.
        let formatted = write(dir.path(), "format.properties", 1);
        let config = write(dir.path(), "server.properties", 0);
        let line = format!(
            "format --config {} --cluster-id AAAAAAAAAAAAAAAAAAAAAQ --standalone",
            formatted.display()
        );
        let finished = klamm(&line).await;
        assert_eq!(finished.code, Some(0), "{finished}");
        Self { _dir: dir, config }
    }

    async fn start(&self) -> Controller {
        let mut child = start(&format!("controller --config {}", self.config.display()));
        let stderr = child.stderr.take().expect("a pipe");
        let mut lines = BufReader::new(stderr).lines();
        let address = loop {
            let line = lines.next_line().await.expect("text");
            let line = line.expect("it says where it listens");
            if let Some((_, address)) = line.split_once("listening node=100 address=") {
                break address.parse().expect("an address");
            }
        };
        // Somebody has to read what it says.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Controller { child, address }
    }
}

fn write(dir: &Path, name: &str, port: u16) -> PathBuf {
    let file = dir.join(name);
    let text = format!(
        "node.id=100\n\
         process.roles=controller\n\
         listeners=CONTROLLER://127.0.0.1:{port}\n\
         controller.listener.names=CONTROLLER\n\
         controller.quorum.bootstrap.servers=127.0.0.1:1\n\
         log.dirs={}\n",
        dir.join("data").display()
    );
    std::fs::write(&file, text).expect("a file");
    file
}

struct Controller {
    child: Child,
    address: ServerAddress,
}

impl Controller {
    async fn connect(&self) -> Connection {
        let connector = TcpConnector { timeout: PATIENCE };
        let options = ConnectionOptions::default();
        let opened = Connection::open(&connector, &self.address, options, deadline()).await;
        opened.expect("it listens")
    }
}

fn deadline() -> Instant {
    Instant::now() + PATIENCE
}

async fn ask<R: Request>(connection: &Connection, request: &R) -> Result<R::Response, NetError> {
    let version = R::STABLE.max;
    connection
        .call(version, request, deadline(), |_| Duration::ZERO)
        .await
}

/// Sets the value for all nodes.
async fn set(connection: &Connection, value: u64) -> Result<(), NetError> {
    let request = IncrementalAlterConfigsRequest {
        resources: vec![AlterConfigsResource {
            resource_type: NODES,
            configs: vec![AlterableConfig {
                name: KEY.into(),
                value: Some(value.to_string().as_str().into()),
                ..AlterableConfig::default()
            }],
            ..AlterConfigsResource::default()
        }],
        ..IncrementalAlterConfigsRequest::default()
    };
    let response = ask(connection, &request).await?;
    assert_eq!(response.responses[0].error_code, 0, "{response:?}");
    Ok(())
}

/// The value that is set for all nodes.
async fn value(connection: &Connection) -> u64 {
    let request = DescribeConfigsRequest {
        resources: vec![DescribeConfigsResource {
            resource_type: NODES,
            ..DescribeConfigsResource::default()
        }],
        ..DescribeConfigsRequest::default()
    };
    let response = ask(connection, &request).await.expect("an answer");
    let configs = &response.results[0].configs;
    let config = configs.iter().find(|config| &*config.name == KEY);
    let value = config.and_then(|config| config.value.as_deref());
    value.map_or(0, |value| value.parse().expect("a number"))
}

#[tokio::test]
async fn nothing_that_was_answered_is_lost_by_kill_9() {
    let home = Home::new().await;
    let (mut answered, mut sent) = (0, 0);
    for round in 0..KILLS {
        let mut controller = home.start().await;
        let connection = controller.connect().await;
        let found = value(&connection).await;
        assert!(
            answered <= found && found <= sent,
            "{answered} was answered, {sent} was sent, {found} is there"
        );
        (answered, sent) = (found, found);
        // They are sent one after the other on one connection, and so decided in that order.
        let mut changes = JoinSet::new();
        for _ in 0..10 {
            sent += 1;
            let (connection, value) = (connection.clone(), sent);
            changes.spawn(async move { set(&connection, value).await.map(|()| value) });
        }
        let mut count = 0;
        while let Some(change) = changes.join_next().await {
            if let Ok(value) = change.expect("it does not panic") {
                answered = answered.max(value);
                count += 1;
            }
            if count == 1 + round % 7 {
                controller.child.kill().await.expect("it is killed");
            }
        }
    }
    assert!(answered >= KILLS);
}

#[tokio::test]
async fn a_signal_stops_it_and_it_starts_again() {
    let home = Home::new().await;
    for name in ["-TERM", "-INT"] {
        let controller = home.start().await;
        set(&controller.connect().await, 7)
            .await
            .expect("an answer");
        signal(&controller.child, name).await;
        let finished = finish(controller.child).await;
        assert_eq!(finished.code, Some(0), "{name}\n{finished}");
    }
    let controller = home.start().await;
    assert_eq!(value(&controller.connect().await).await, 7);
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let finished = klamm("controller --config /nonexistent").await;
    assert_eq!(finished.code, Some(2), "{finished}");
    assert!(
        finished
            .stderr
            .contains("check the path given with --config"),
        "{finished}"
    );

    let dir = tempfile::tempdir().expect("a temporary directory");
    let config = write(dir.path(), "server.properties", 0);
    for has_directory in [false, true] {
        if has_directory {
            std::fs::create_dir(dir.path().join("data")).expect("a directory");
        }
        let finished = klamm(&format!("controller --config {}", config.display())).await;
        assert_eq!(finished.code, Some(1), "{finished}");
        assert!(
            finished
                .stderr
                .contains("is not formatted: run klamm format first"),
            "{finished}"
        );
    }

    std::fs::write(&config, "node.id=x\n").expect("a file");
    let finished = klamm(&format!("controller --config {}", config.display())).await;
    assert_eq!(finished.code, Some(2), "{finished}");
    assert!(finished.stderr.contains("node.id"), "{finished}");
}
