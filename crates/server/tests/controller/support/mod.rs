//! A controller to test, and what is needed around it.

pub(crate) mod admin;
mod broker;
mod follower;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use klamm_config::Properties;
use klamm_net::{Connection, ConnectionOptions, ServerAddress, TcpConnector};
use klamm_protocol::Request;
use klamm_server::format::{InitialQuorum, Plan, Request as FormatRequest};
use klamm_server::settings::ControllerSettings;
use klamm_server::{ControllerNode, StartError};
use tokio::time::Instant;

pub(crate) use broker::Broker;
pub(crate) use follower::Follower;

/// How long a condition is waited for. It is there after milliseconds, or never.
const PATIENCE: Duration = Duration::from_secs(60);

/// The id of the controller.
pub(crate) const NODE: i32 = 100;

/// The cluster's id.
pub(crate) const CLUSTER: &str = "AAAAAAAAAAAAAAAAAAAAAQ";

/// A directory that a controller is started on, again and again.
pub(crate) struct Home {
    dir: tempfile::TempDir,
    properties: Vec<(String, String)>,
}

impl Home {
    /// A formatted directory.
    pub(crate) fn new() -> Self {
        let home = Self::unformatted();
        home.format(InitialQuorum::Standalone);
        home
    }

    /// A directory with nothing in it.
    pub(crate) fn unformatted() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let properties = Vec::new();
        Self { dir, properties }
    }

    /// Sets a property from the next start on.
    pub(crate) fn set(&mut self, key: &str, value: &str) {
        self.properties.push((key.to_owned(), value.to_owned()));
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    /// The directory of the metadata log.
    pub(crate) fn log_dir(&self) -> PathBuf {
        self.data().join("__cluster_metadata-0")
    }

    pub(crate) fn settings(&self) -> ControllerSettings {
        let mut text = format!(
            "node.id={NODE}\n\
             process.roles=controller\n\
             listeners=CONTROLLER://127.0.0.1:0\n\
             controller.listener.names=CONTROLLER\n\
             auto.leader.rebalance.enable=false\n\
             log.dirs={}\n",
            self.dir.path().display()
        );
        if !self
            .properties
            .iter()
            .any(|(key, _)| key == "controller.quorum.voters")
        {
            text.push_str("controller.quorum.bootstrap.servers=127.0.0.1:1\n");
        }
        for (key, value) in &self.properties {
            text.push_str(&format!("{key}={value}\n"));
        }
        let properties = Properties::parse("server.properties", &text).expect("a file");
        let (settings, warnings) = ControllerSettings::read(&properties).expect("settings");
        assert_eq!(warnings, []);
        settings
    }

    /// Formats it for the voters in the configuration.
    pub(crate) fn format_as_configured(&self) {
        self.format(InitialQuorum::Unsaid);
    }

    fn format(&self, quorum: InitialQuorum) {
        // The first voters are known by an address, which is not yet known.
        let mut node = self.settings().node;
        node.controller_listeners[0].port = 1;
        node.controller_listeners[0].advertised_port = 1;
        let request = FormatRequest {
            cluster_id: CLUSTER.to_owned(),
            release: None,
            features: Vec::new(),
            quorum,
            scram: Vec::new(),
            ignore_formatted: false,
        };
        let plan = Plan::new(&node, &request).expect("a plan");
        plan.carry_out(1).expect("a formatted directory");
    }

    /// Starts the controller.
    pub(crate) async fn start(&self) -> Controller {
        self.try_start().await.expect("a controller")
    }

    pub(crate) async fn try_start(&self) -> Result<Controller, StartError> {
        let node = ControllerNode::start(self.settings()).await?;
        let address = node.addresses()[0];
        Ok(Controller {
            address: ServerAddress::new(address.ip().to_string(), address.port()),
            node,
        })
    }

    /// The names of the files of the metadata log.
    pub(crate) fn files(&self) -> Vec<String> {
        names(&self.log_dir())
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a directory");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string())
        .map(|name| name.expect("a text"))
        .collect();
    names.sort();
    names
}

/// A controller that runs.
pub(crate) struct Controller {
    address: ServerAddress,
    node: ControllerNode,
}

impl Controller {
    pub(crate) fn address(&self) -> &ServerAddress {
        &self.address
    }

    pub(crate) fn node(&self) -> &ControllerNode {
        &self.node
    }

    /// Where it tells of itself.
    pub(crate) fn http_address(&self) -> SocketAddr {
        self.node
            .http_address()
            .expect("klamm.http.listener is set")
    }

    pub(crate) async fn connect(&self) -> Client {
        Client::connect(&self.address).await
    }

    /// Waits until it stops by itself, and says why.
    pub(crate) async fn failed(mut self) -> String {
        let failed = self.node.failed().await;
        failed.expect_err("nothing else stops it").to_string()
    }

    /// Stops it, as a signal does.
    pub(crate) async fn stop(self) {
        let stopped = tokio::task::spawn_blocking(|| self.node.stop());
        stopped
            .await
            .expect("it does not panic")
            .expect("it stops well");
    }
}

/// A connection to a controller.
#[derive(Clone)]
pub(crate) struct Client {
    connection: Connection,
}

impl Client {
    pub(crate) async fn connect(address: &ServerAddress) -> Self {
        let connector = TcpConnector { timeout: PATIENCE };
        let options = ConnectionOptions::default();
        let connection = Connection::open(&connector, address, options, deadline()).await;
        Self {
            connection: connection.expect("the controller listens"),
        }
    }

    /// Sends a request in its latest version, and waits for the answer.
    pub(crate) async fn ask<R: Request>(&self, request: &R) -> R::Response {
        self.ask_in(R::STABLE.max, request).await
    }

    pub(crate) async fn ask_in<R: Request>(&self, version: i16, request: &R) -> R::Response {
        let answer = self
            .connection
            .call(version, request, deadline(), |_| Duration::ZERO);
        answer
            .await
            .unwrap_or_else(|error| panic!("{}: {error}", R::NAME))
    }

    /// Sends a request that gets no answer, since the connection is closed.
    pub(crate) async fn is_refused<R: Request>(&self, version: i16, request: &R) -> bool {
        let answer = self
            .connection
            .call(version, request, deadline(), |_| Duration::ZERO);
        answer.await.is_err()
    }
}

fn deadline() -> Instant {
    Instant::now() + PATIENCE
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = deadline();
    while !holds().await {
        assert!(Instant::now() < deadline, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
