use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::Cluster;

/// What a node is, Kafka's `process.roles`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Controller and broker in one process.
    Combined,
    /// A broker only.
    Broker,
    /// A controller only.
    Controller,
}

/// Whose code a node runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// Apache Kafka's.
    Apache,
    /// The `klamm` binary at this path, which runs controllers only.
    Klamm(PathBuf),
}

/// The cluster to start.
#[derive(Clone, Debug)]
pub struct Spec {
    pub(crate) nodes: Vec<(u32, Role)>,
    properties: Vec<(String, String)>,
    format_args: Vec<String>,
    controllers: Program,
    dynamic: bool,
    pub(crate) heap_mib: u32,
}

/// Where a node is found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) id: u32,
    pub(crate) role: Role,
    pub(crate) broker_port: u16,
    pub(crate) controller_port: u16,
}

/// What every node gets: little memory, few threads, and no leadership that moves by itself.
const DEFAULTS: &[(&str, &str)] = &[
    (
        "listener.security.protocol.map",
        "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    ),
    ("controller.listener.names", "CONTROLLER"),
    ("inter.broker.listener.name", "PLAINTEXT"),
    ("auto.create.topics.enable", "false"),
    ("auto.leader.rebalance.enable", "false"),
    ("group.initial.rebalance.delay.ms", "0"),
    ("log.cleaner.dedupe.buffer.size", "2097152"),
    ("num.io.threads", "2"),
    ("num.network.threads", "2"),
    ("background.threads", "2"),
    ("offsets.topic.num.partitions", "3"),
    ("offsets.topic.replication.factor", "1"),
    ("transaction.state.log.num.partitions", "3"),
    ("transaction.state.log.replication.factor", "1"),
    ("transaction.state.log.min.isr", "1"),
];

impl Spec {
    /// `count` nodes, ids from 1, each a controller and a broker.
    pub fn combined(count: u32) -> Self {
        Self::of((1..=count).map(|id| (id, Role::Combined)).collect())
    }

    /// `controllers` with ids from 101, and `brokers` with ids from 1.
    pub fn separate(controllers: u32, brokers: u32) -> Self {
        let controllers = (101..=100 + controllers).map(|id| (id, Role::Controller));
        Self::of(
            controllers
                .chain((1..=brokers).map(|id| (id, Role::Broker)))
                .collect(),
        )
    }

    fn of(nodes: Vec<(u32, Role)>) -> Self {
        let format_args = Vec::new();
        Self {
            nodes,
            properties: Vec::new(),
            format_args,
            controllers: Program::Apache,
            dynamic: false,
            heap_mib: 256,
        }
    }

    /// Sets a server property on every node, over the defaults.
    #[must_use]
    pub fn property(mut self, key: &str, value: &str) -> Self {
        self.properties.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Passes more arguments to `StorageTool format`, such as `--feature` and `NAME=LEVEL`.
    #[must_use]
    pub fn format_args(mut self, args: &[&str]) -> Self {
        self.format_args
            .extend(args.iter().map(|&arg| arg.to_owned()));
        self
    }

    /// Everyone may do everything until an ACL says otherwise.
    #[must_use]
    pub fn authorizer(self) -> Self {
        self.property(
            "authorizer.class.name",
            "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        )
        .property("allow.everyone.if.no.acl.found", "true")
    }

    /// Whose code the nodes run that are controllers and nothing else; Apache Kafka's unless set.
    #[must_use]
    pub fn controllers(mut self, program: Program) -> Self {
        self.controllers = program;
        self
    }

    /// The quorum's voters can change (KIP-853); there is one controller to begin with.
    #[must_use]
    pub fn dynamic_quorum(mut self) -> Self {
        self.dynamic = true;
        self
    }

    /// The heap of each node in MiB, 256 unless set.
    #[must_use]
    pub fn heap_mib(mut self, heap_mib: u32) -> Self {
        self.heap_mib = heap_mib;
        self
    }

    /// Starts the cluster and waits until every broker is in service.
    ///
    /// # Panics
    /// If that does not happen in time.
    pub fn start(self) -> Cluster {
        Cluster::start(self)
    }

    /// Whose code a node with this role runs.
    pub(crate) fn program(&self, role: Role) -> Program {
        match role {
            Role::Controller => self.controllers.clone(),
            Role::Broker | Role::Combined => Program::Apache,
        }
    }

    /// More arguments of `format` for a node with this role.
    pub(crate) fn format(&self, role: Role) -> Vec<String> {
        let mut args = self.format_args.clone();
        if self.dynamic && role != Role::Broker {
            args.push("--standalone".to_owned());
        }
        args
    }

    /// The node's properties file; in Kafka the last of two values for a key counts.
    pub(crate) fn server_properties(&self, node: &Address, all: &[Address], log: &Path) -> String {
        let broker = format!("PLAINTEXT://127.0.0.1:{}", node.broker_port);
        let controller = format!("CONTROLLER://127.0.0.1:{}", node.controller_port);
        let (roles, listeners) = match node.role {
            Role::Combined => ("broker,controller", format!("{broker},{controller}")),
            Role::Broker => ("broker", broker),
            Role::Controller => ("controller", controller),
        };
        let controllers = all.iter().filter(|node| node.role != Role::Broker);
        let (quorum, controllers): (&str, Vec<String>) = if self.dynamic {
            let server = |node: &Address| format!("127.0.0.1:{}", node.controller_port);
            let key = "controller.quorum.bootstrap.servers";
            (key, controllers.map(server).collect())
        } else {
            let voter = |node: &Address| format!("{}@127.0.0.1:{}", node.id, node.controller_port);
            ("controller.quorum.voters", controllers.map(voter).collect())
        };
        let mut text = String::new();
        let mut line = |key: &str, value: &str| {
            writeln!(text, "{key}={value}").expect("a String takes everything");
        };
        line("node.id", &node.id.to_string());
        line("process.roles", roles);
        line("listeners", &listeners);
        line(quorum, &controllers.join(","));
        line("log.dirs", &log.display().to_string());
        for (key, value) in DEFAULTS {
            let is_of_brokers = key.starts_with("inter.broker");
            if !(is_of_brokers && node.role == Role::Controller) {
                line(key, value);
            }
        }
        for (key, value) in &self.properties {
            line(key, value);
        }
        text
    }
}
