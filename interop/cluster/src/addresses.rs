//! Where the nodes of a cluster are found.

use crate::Nodes;
use crate::spec::{Address, Role};

impl Nodes {
    /// The brokers as a bootstrap list.
    pub fn bootstrap(&self) -> String {
        self.list(Role::Controller, |node| node.broker_port)
    }

    /// The controllers as a bootstrap list.
    pub fn controllers(&self) -> String {
        self.list(Role::Broker, |node| node.controller_port)
    }

    /// The address of one broker.
    pub fn broker(&self, id: u32) -> String {
        format!("127.0.0.1:{}", self.address(id).broker_port)
    }

    /// Where clients of one broker say who they are.
    pub fn sasl(&self, id: u32) -> String {
        format!("127.0.0.1:{}", self.address(id).sasl_port)
    }

    /// Where a controller tells its metrics, if it was asked to: klamm's by HTTP, Apache Kafka's by
    /// JMX.
    pub fn metrics_port(&self, id: u32) -> u16 {
        self.address(id).metrics_port
    }

    /// The address of one controller.
    pub fn controller(&self, id: u32) -> String {
        format!("127.0.0.1:{}", self.address(id).controller_port)
    }

    pub(crate) fn address(&self, id: u32) -> &Address {
        let address = self.addresses.iter().find(|node| node.id == id);
        address.unwrap_or_else(|| panic!("there is no node {id}"))
    }

    fn list(&self, without: Role, port: impl Fn(&Address) -> u16) -> String {
        let nodes = self.started().into_iter();
        let nodes = nodes.filter(|node| node.role != without);
        let list: Vec<String> = nodes
            .map(|node| format!("127.0.0.1:{}", port(node)))
            .collect();
        list.join(",")
    }
}
