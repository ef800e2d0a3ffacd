use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use klamm_java_peer::{Peer, PeerError, Value, json};

use crate::nodes::Nodes;
use crate::spec::Spec;

/// A running cluster: its [`Nodes`], and Apache Kafka's Admin client and tools to ask them.
///
/// Its methods wait for what they say, and panic with the servers' logs when that takes too long.
#[derive(Debug)]
pub struct Cluster {
    nodes: Nodes,
    asking: Asking,
}

/// Apache Kafka's code, which asks.
#[derive(Debug)]
struct Asking(Mutex<Peer>);

impl Deref for Cluster {
    type Target = Nodes;

    fn deref(&self) -> &Nodes {
        &self.nodes
    }
}

impl Cluster {
    pub(crate) fn start(spec: &Spec) -> Self {
        let asking = Asking(Mutex::new(Peer::start()));
        let nodes = Nodes::start(spec, |nodes| {
            asking.quorum_leader(nodes).is_some() && asking.alive(nodes) == nodes.broker_ids()
        });
        Self { nodes, asking }
    }

    /// The active controller.
    ///
    /// # Panics
    /// If there is none for too long.
    pub fn active_controller(&self) -> u32 {
        let mut leader = None;
        self.wait("an active controller", || {
            leader = self.asking.quorum_leader(self);
            leader.is_some()
        });
        leader.expect("waited for it")
    }

    /// Waits until exactly these brokers are in service.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn wait_for_brokers(&self, ids: &[u32]) {
        self.wait(&format!("the brokers in service to be {ids:?}"), || {
            self.asking.alive(self) == ids
        });
    }

    /// Asks Apache Kafka's Admin client, through the brokers, or the controllers where there are none.
    ///
    /// # Panics
    /// If it fails.
    pub fn admin(&self, op: &str, args: Value) -> Value {
        self.try_admin(op, args)
            .unwrap_or_else(|e| panic!("{op}: {e}\n{}", self.tails()))
    }

    pub(crate) fn try_admin(&self, op: &str, args: Value) -> Result<Value, PeerError> {
        self.asking.admin(self, op, args)
    }

    /// Runs one of Apache Kafka's tools, with `--bootstrap-server` added: exit status and output.
    ///
    /// # Panics
    /// If it cannot be run.
    pub fn tool(&self, tool: &str, args: &[&str]) -> (i64, String) {
        let bootstrap = self.bootstrap();
        let mut all = vec!["--bootstrap-server", &bootstrap];
        all.extend(args);
        self.offline_tool(tool, &all)
    }

    /// Runs one of Apache Kafka's tools that needs no server: exit status and output.
    ///
    /// # Panics
    /// If it cannot be run.
    pub fn offline_tool(&self, tool: &str, args: &[&str]) -> (i64, String) {
        let answer = self.asking.call(|peer| peer.tool(tool, args));
        answer.unwrap_or_else(|e| panic!("{tool}: {e}\n{}", self.tails()))
    }
}

impl Asking {
    fn call<T>(&self, ask: impl FnOnce(&mut Peer) -> T) -> T {
        ask(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn admin(&self, nodes: &Nodes, op: &str, mut args: Value) -> Result<Value, PeerError> {
        let brokers = nodes.bootstrap();
        args["controllers"] = brokers.is_empty().into();
        args["bootstrap"] = match brokers.is_empty() {
            true => nodes.controllers().into(),
            false => brokers.into(),
        };
        self.call(|peer| peer.call(op, args))
    }

    fn quorum_leader(&self, nodes: &Nodes) -> Option<u32> {
        let quorum = self.admin(nodes, "quorum", json!({})).ok()?;
        u32::try_from(quorum["leader"].as_i64()?).ok()
    }

    fn alive(&self, nodes: &Nodes) -> Vec<u32> {
        if nodes.broker_ids().is_empty() {
            return Vec::new();
        }
        let Ok(answer) = self.admin(nodes, "brokers", json!({})) else {
            return Vec::new();
        };
        let ids = answer["alive"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_u64);
        ids.filter_map(|id| u32::try_from(id).ok()).collect()
    }
}
