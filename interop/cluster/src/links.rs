use std::collections::BTreeSet;

use crate::ports::free_ports;
use crate::proxy::Proxy;
use crate::spec::{Address, Role};

/// A way from a broker to another node, over a proxy of its own.
///
/// Each broker reaches others by listeners that are named after it, for brokers and for controllers,
/// so that every node can tell each of them another address.
#[derive(Debug)]
pub(crate) struct Link {
    from: u32,
    to: u32,
    /// What the listener is called that it leads to.
    pub(crate) name: String,
    /// Where that one listens.
    pub(crate) port: u16,
    proxy: Proxy,
}

/// All ways of a cluster; none where nodes reach each other directly.
#[derive(Debug, Default)]
pub(crate) struct Links(Vec<Link>);

impl Links {
    /// From every broker to every node. One leads to itself: a broker must have the listener by which
    /// it reaches the others.
    pub(crate) fn start(nodes: &[Address]) -> Self {
        let brokers = || nodes.iter().filter(|node| node.role == Role::Broker);
        let pairs = brokers().flat_map(|from| nodes.iter().map(move |to| (from.id, to)));
        let ports = free_ports(brokers().count() * nodes.len());
        let links = pairs.zip(ports).map(|((from, to), port)| Link {
            from,
            to: to.id,
            name: listener(to.role, from),
            port,
            proxy: Proxy::start(port),
        });
        Self(links.collect())
    }

    /// Those that lead to a node.
    pub(crate) fn to(&self, node: u32) -> impl Iterator<Item = &Link> {
        self.0.iter().filter(move |link| link.to == node)
    }

    /// The names of all listeners, each once.
    pub(crate) fn all_names(&self) -> impl Iterator<Item = &str> {
        let names: BTreeSet<&str> = self.0.iter().map(|link| &*link.name).collect();
        names.into_iter()
    }

    /// What a node's file says of the names: a broker takes those of its own, a controller knows all.
    pub(crate) fn names(&self, node: &Address) -> Vec<(&'static str, String)> {
        const OF_CONTROLLERS: &str = "controller.listener.names";
        if self.0.is_empty() {
            return Vec::new();
        }
        match node.role {
            Role::Broker => vec![
                ("inter.broker.listener.name", listener(node.role, node.id)),
                (OF_CONTROLLERS, listener(Role::Controller, node.id)),
            ],
            Role::Controller | Role::Combined => {
                let names = self.to(node.id).map(|link| &*link.name);
                let names: Vec<&str> = std::iter::once("CONTROLLER").chain(names).collect();
                vec![(OF_CONTROLLERS, names.join(","))]
            }
        }
    }

    /// The one from a broker to another node.
    pub(crate) fn between(&self, from: u32, to: u32) -> Option<&Link> {
        self.to(to).find(|link| link.from == from)
    }
}

impl Link {
    pub(crate) fn proxy(&self) -> &Proxy {
        &self.proxy
    }
}

/// The listener of nodes with this role for one broker.
fn listener(role: Role, from: u32) -> String {
    match role {
        Role::Broker => format!("BROKER_{from}"),
        Role::Controller | Role::Combined => format!("CONTROLLER_{from}"),
    }
}
