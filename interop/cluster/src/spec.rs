use std::fmt::Write;
use std::path::{Path, PathBuf};

use klamm_java_peer::Release;

use crate::links::Links;
use crate::{Cluster, Nodes};

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
    /// The `klamm` binary at this path, which runs controllers and brokers, not both in one process.
    Klamm(PathBuf),
}

/// The cluster to start.
#[derive(Clone, Debug)]
pub struct Spec {
    pub(crate) nodes: Vec<(u32, Role)>,
    /// Brokers that do not start with the others.
    pub(crate) spares: Vec<u32>,
    /// Each with the nodes that it is for; none is all of them.
    properties: Vec<(Option<Role>, String, String)>,
    format_args: Vec<String>,
    pub(crate) cluster_id: Option<String>,
    controllers: Program,
    /// Brokers that do not run Apache Kafka's code.
    programs: Vec<(u32, Program)>,
    /// What brokers run.
    pub(crate) release: Release,
    dynamic: bool,
    /// Whether brokers reach the controller through a proxy.
    pub(crate) proxied: bool,
    /// Whether brokers reach every other node through a proxy of their own.
    pub(crate) linked: bool,
    /// Whether brokers have a listener for clients that say who they are.
    sasl: bool,
    /// Whether controllers tell their metrics.
    pub(crate) metrics: bool,
    pub(crate) heap_mib: u32,
    /// Whether the JVMs have the options of Kafka's own start script.
    pub(crate) as_scripts_do: bool,
}

/// Where a node is found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) id: u32,
    pub(crate) role: Role,
    pub(crate) broker_port: u16,
    pub(crate) controller_port: u16,
    pub(crate) sasl_port: u16,
    /// Where a controller tells its metrics: klamm's by HTTP, Apache Kafka's by JMX.
    pub(crate) metrics_port: u16,
    /// Where others reach the controller: its own port, or that of a proxy before it.
    pub(crate) advertised_port: u16,
}

/// What every node gets: little memory, few threads, and no leadership that moves by itself.
const DEFAULTS: &[(&str, &str)] = &[
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

const MECHANISM: &str = "SCRAM-SHA-256";
const JAAS_KEY: &str = "listener.name.clients.scram-sha-256.sasl.jaas.config";
const JAAS: &str = "org.apache.kafka.common.security.scram.ScramLoginModule required;";

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
        Self {
            nodes,
            spares: Vec::new(),
            properties: Vec::new(),
            format_args: Vec::new(),
            cluster_id: None,
            controllers: Program::Apache,
            programs: Vec::new(),
            release: Release::Latest,
            dynamic: false,
            proxied: false,
            linked: false,
            sasl: false,
            metrics: false,
            heap_mib: 256,
            as_scripts_do: false,
        }
    }

    /// Sets a server property on every node, over the defaults.
    #[must_use]
    pub fn property(self, key: &str, value: &str) -> Self {
        self.property_of(None, key, value)
    }

    /// Sets a server property on the nodes with this role.
    #[must_use]
    pub fn role_property(self, role: Role, key: &str, value: &str) -> Self {
        self.property_of(Some(role), key, value)
    }

    fn property_of(mut self, role: Option<Role>, key: &str, value: &str) -> Self {
        self.properties
            .push((role, key.to_owned(), value.to_owned()));
        self
    }

    /// One more broker, with the next id, that starts when it is told to ([`Nodes::join`]).
    #[must_use]
    pub fn spare_broker(mut self) -> Self {
        let brokers = self.nodes.iter().filter(|(_, role)| *role == Role::Broker);
        let id = brokers.map(|(id, _)| *id).max().map_or(1, |id| id + 1);
        self.nodes.push((id, Role::Broker));
        self.spares.push(id);
        self
    }

    /// Brokers and clients find the only controller through [`Nodes::proxy`].
    #[must_use]
    pub fn proxied_controller(mut self) -> Self {
        self.proxied = true;
        self
    }

    /// Every broker reaches every other node through a proxy of its own, [`Nodes::link`]; clients reach
    /// brokers directly.
    #[must_use]
    pub fn linked(mut self) -> Self {
        self.linked = true;
        self
    }

    /// Brokers also have a listener for clients that authenticate, with SCRAM-SHA-256.
    #[must_use]
    pub fn sasl_listener(mut self) -> Self {
        self.sasl = true;
        self
    }

    /// Controllers tell their metrics, at [`Nodes::metrics_port`](crate::Nodes::metrics_port).
    #[must_use]
    pub fn metrics(mut self) -> Self {
        self.metrics = true;
        self
    }

    /// Which release of Apache Kafka brokers run; the latest unless set.
    #[must_use]
    pub fn brokers(mut self, release: Release) -> Self {
        self.release = release;
        self
    }

    /// Passes more arguments to `StorageTool format`, such as `--feature` and `NAME=LEVEL`.
    #[must_use]
    pub fn format_args(mut self, args: &[&str]) -> Self {
        self.format_args
            .extend(args.iter().map(|&arg| arg.to_owned()));
        self
    }

    /// The cluster's id, a random one unless set.
    #[must_use]
    pub fn cluster_id(mut self, id: &str) -> Self {
        self.cluster_id = Some(id.to_owned());
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

    /// Whose code one broker runs; Apache Kafka's unless set.
    #[must_use]
    pub fn broker(mut self, id: u32, program: Program) -> Self {
        self.programs.push((id, program));
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

    /// Runs the nodes as Apache Kafka's start script does, which is slower to start and faster in the
    /// end: for benches.
    #[must_use]
    pub fn as_scripts_do(mut self) -> Self {
        self.as_scripts_do = true;
        self
    }

    /// Starts the cluster and waits until every broker is in service.
    ///
    /// # Panics
    /// If that does not happen in time.
    pub fn start(self) -> Cluster {
        Cluster::start(&self)
    }

    /// Starts the nodes and waits until they are ready, as the caller sees it. Nobody is there to ask
    /// them anything, and no Java is needed but for Apache Kafka's nodes.
    ///
    /// # Panics
    /// If that does not happen in time.
    pub fn start_nodes(self, ready: impl FnMut(&Nodes) -> bool) -> Nodes {
        Nodes::start(&self, ready)
    }

    /// Whose code a node runs.
    pub(crate) fn program(&self, node: &Address) -> Program {
        match node.role {
            Role::Controller => self.controllers.clone(),
            Role::Broker => {
                let mut programs = self.programs.iter();
                let own = programs.find(|(id, _)| *id == node.id);
                own.map_or(Program::Apache, |(_, program)| program.clone())
            }
            Role::Combined => Program::Apache,
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
    pub(crate) fn server_properties(
        &self,
        node: &Address,
        all: &[Address],
        links: &Links,
        log: &Path,
    ) -> String {
        let mut text = String::new();
        let mut line = |key: &str, value: &str| {
            writeln!(text, "{key}={value}").expect("a String takes everything");
        };
        line("node.id", &node.id.to_string());
        line("log.dirs", &log.display().to_string());
        for (key, value) in DEFAULTS {
            let is_of_brokers = key.starts_with("inter.broker");
            if !(is_of_brokers && node.role == Role::Controller) {
                line(key, value);
            }
        }
        for (key, value) in self
            .quorum(node, all, links)
            .into_iter()
            .chain(self.listeners(node, links))
        {
            line(key, &value);
        }
        for (role, key, value) in &self.properties {
            if role.is_none_or(|role| role == node.role) {
                line(key, value);
            }
        }
        text
    }

    fn quorum(
        &self,
        node: &Address,
        all: &[Address],
        links: &Links,
    ) -> Vec<(&'static str, String)> {
        let roles = match node.role {
            Role::Combined => "broker,controller",
            Role::Broker => "broker",
            Role::Controller => "controller",
        };
        let controllers = all.iter().filter(|node| node.role != Role::Broker);
        let server = |to: &Address| {
            let link = links.between(node.id, to.id);
            let port = link.map_or(to.advertised_port, |link| link.proxy().port());
            format!("127.0.0.1:{port}")
        };
        let voter = |node: &Address| format!("{}@{}", node.id, server(node));
        let (key, list): (_, Vec<String>) = if self.dynamic {
            let key = "controller.quorum.bootstrap.servers";
            (key, controllers.map(server).collect())
        } else {
            ("controller.quorum.voters", controllers.map(voter).collect())
        };
        vec![("process.roles", roles.to_owned()), (key, list.join(","))]
    }

    fn listeners(&self, node: &Address, links: &Links) -> Vec<(&'static str, String)> {
        // Each with its port, and the one that others are told.
        let mut listeners = Vec::new();
        let mut lines = Vec::new();
        if node.role != Role::Controller {
            listeners.push(("PLAINTEXT", node.broker_port, node.broker_port));
            if self.sasl {
                listeners.push(("CLIENTS", node.sasl_port, node.sasl_port));
                let of_clients = |key, value: &str| (key, value.to_owned());
                lines.extend([
                    of_clients("listener.name.clients.sasl.enabled.mechanisms", MECHANISM),
                    of_clients(JAAS_KEY, JAAS),
                ]);
            }
        }
        if node.role != Role::Broker {
            listeners.push(("CONTROLLER", node.controller_port, node.advertised_port));
        }
        if node.role == Role::Controller && self.metrics {
            let metrics = format!("127.0.0.1:{}", node.metrics_port);
            lines.push(("klamm.http.listener", metrics));
        }
        let linked = links.to(node.id);
        listeners.extend(linked.map(|link| (&*link.name, link.port, link.proxy().port())));
        let list = |port: fn(&(&str, u16, u16)) -> u16| {
            let listeners = listeners.iter();
            let list = listeners.map(|it| format!("{}://127.0.0.1:{}", it.0, port(it)));
            list.collect::<Vec<_>>().join(",")
        };
        let (own, advertised) = (list(|it| it.1), list(|it| it.2));
        if own != advertised {
            lines.push(("advertised.listeners", advertised));
        }
        lines.push(("listeners", own));
        lines.extend(links.names(node));
        let mut protocols = vec!["PLAINTEXT:PLAINTEXT".to_owned()];
        if self.sasl {
            protocols.push("CLIENTS:SASL_PLAINTEXT".to_owned());
        }
        let plain = std::iter::once("CONTROLLER").chain(links.all_names());
        protocols.extend(plain.map(|name| format!("{name}:PLAINTEXT")));
        lines.push(("listener.security.protocol.map", protocols.join(",")));
        lines
    }
}
