use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::links::Links;
use crate::node::{DATA, Node};
use crate::ports::free_ports;
use crate::proxy::Proxy;
use crate::spec::{Address, Program, Role, Spec};
use crate::wait_until;

/// A start takes 15 s on two idle cores; a busy machine has taken two minutes.
const DEADLINE: Duration = Duration::from_secs(300);
/// Whole starts, each with new ports, before ports in use are taken for the machine's fault.
const STARTS: usize = 5;
/// What a node may listen on.
const PORTS: usize = 4;
const PORT_IN_USE: &str = "Address already in use";

/// The processes of a cluster, with their files, ports and proxies, and nobody to ask them anything.
///
/// What they are not, such as a node with an id that none has, is a panic.
#[derive(Debug)]
pub struct Nodes {
    nodes: Mutex<Vec<Node>>,
    pub(crate) addresses: Vec<Address>,
    /// Brokers that were not told to start yet.
    spares: Mutex<Vec<u32>>,
    proxy: Option<Proxy>,
    links: Links,
    spec: Spec,
    id: String,
    dir: TempDir,
}

impl Nodes {
    pub(crate) fn start(spec: &Spec, mut ready: impl FnMut(&Self) -> bool) -> Self {
        for _ in 0..STARTS {
            let nodes = Self::launch(spec);
            if nodes.is_in_service(&mut ready) {
                return nodes;
            }
        }
        panic!("{STARTS} starts on different free ports all found some in use");
    }

    fn launch(spec: &Spec) -> Self {
        let dir = tempfile::Builder::new()
            .prefix("klamm-interop-")
            .tempdir()
            .expect("the temporary directory is writable");
        let ports = free_ports(PORTS * spec.nodes.len());
        let mut addresses: Vec<Address> = spec
            .nodes
            .iter()
            .zip(ports.chunks(PORTS))
            .map(|(&(id, role), ports)| Address {
                id,
                role,
                broker_port: ports[0],
                controller_port: ports[1],
                sasl_port: ports[2],
                metrics_port: ports[3],
                advertised_port: ports[1],
            })
            .collect();
        let proxy = spec.proxied.then(|| {
            let controller = addresses.iter_mut().find(|node| node.role != Role::Broker);
            let controller = controller.expect("a cluster has a controller");
            let proxy = Proxy::start(controller.controller_port);
            controller.advertised_port = proxy.port();
            proxy
        });
        let links = match spec.linked {
            true => Links::start(&addresses),
            false => Links::default(),
        };
        let mut nodes: Vec<Node> = addresses
            .iter()
            .map(|&address| Node::new(spec, address, &addresses, &links, dir.path()))
            .collect();
        let id = spec.cluster_id.clone().unwrap_or_else(random_cluster_id);
        for node in &mut nodes {
            if !spec.spares.contains(&node.address.id) {
                let args = spec.format(node.address.role);
                node.start(Some((&id, &args)));
            }
        }
        Self {
            nodes: Mutex::new(nodes),
            addresses,
            spares: Mutex::new(spec.spares.clone()),
            proxy,
            links,
            spec: spec.clone(),
            id,
            dir,
        }
    }

    /// Waits until they are ready; false if a port was taken by someone else meanwhile.
    fn is_in_service(&self, mut is_ready: impl FnMut(&Self) -> bool) -> bool {
        let mut ended = None;
        let ready = wait_until(DEADLINE, || {
            ended = self.ended();
            ended.is_some() || is_ready(self)
        });
        if ended.is_some() && self.log_contains(PORT_IN_USE).is_some() {
            return false;
        }
        if let Some(ended) = ended {
            panic!("{ended} while starting\n{}", self.tails());
        }
        assert!(
            ready,
            "the cluster is not in service after {DEADLINE:?}\n{}",
            self.tails()
        );
        true
    }

    /// What brokers reach the controller through.
    ///
    /// # Panics
    /// If the cluster was not asked to have it.
    pub fn proxy(&self) -> &Proxy {
        self.proxy.as_ref().expect("a cluster with a proxy")
    }

    /// What a broker reaches another node through.
    ///
    /// # Panics
    /// If the cluster was not asked to have it.
    pub fn link(&self, from: u32, to: u32) -> &Proxy {
        let link = self.links.between(from, to);
        let link = link.unwrap_or_else(|| panic!("there is no link from {from} to {to}"));
        link.proxy()
    }

    /// The ids of all brokers that were started, running or not.
    pub fn broker_ids(&self) -> Vec<u32> {
        let brokers = self.started().into_iter();
        let brokers = brokers.filter(|node| node.role != Role::Controller);
        let mut ids: Vec<u32> = brokers.map(|node| node.id).collect();
        ids.sort_unstable();
        ids
    }

    /// The ids of the processes that run.
    pub fn process_ids(&self) -> Vec<u32> {
        self.nodes().iter().filter_map(Node::process_id).collect()
    }

    /// The cluster's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// A directory that goes away with the cluster.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Has the directory stay.
    pub fn keep(&mut self) {
        self.dir.disable_cleanup(true);
    }

    /// The directory in which a node has the directories of its partitions.
    pub fn data_dir(&self, id: u32) -> PathBuf {
        self.dir.path().join(format!("node-{id}")).join(DATA)
    }

    /// Kills a node at once, as a crash does.
    pub fn kill(&self, id: u32) {
        self.node(id, Node::kill);
    }

    /// Kills every node; what it held stays until it is dropped.
    pub fn end(&self) {
        self.nodes().iter_mut().for_each(Node::kill);
    }

    /// Stops a node with its controlled shutdown.
    pub fn stop(&self, id: u32) {
        self.node(id, Node::stop);
    }

    /// Has a node that runs do nothing, with all it has open, until it is resumed.
    pub fn pause(&self, id: u32) {
        self.node(id, |node| node.signal("STOP"));
    }

    /// Has a node that was paused go on.
    pub fn resume(&self, id: u32) {
        self.node(id, |node| node.signal("CONT"));
    }

    /// Starts a node that was killed or stopped, on its old ports.
    pub fn restart(&self, id: u32) {
        self.node(id, |node| node.start(None));
    }

    /// Starts a spare broker for the first time.
    pub fn join(&self, id: u32) {
        self.spares().retain(|spare| *spare != id);
        let args = self.spec.format(self.address(id).role);
        self.node(id, |node| node.start(Some((&self.id, &args))));
    }

    /// Sets a property of a node from its next start on.
    pub fn set_property(&self, id: u32, key: &str, value: &str) {
        self.node(id, |node| node.set_property(key, value));
    }

    /// Starts a node that was killed or stopped with other code, on its directory and ports.
    pub fn restart_as(&self, id: u32, program: Program) {
        self.node(id, |node| {
            node.program = program;
            node.start(None);
        });
    }

    /// Waits for a condition, polling it.
    ///
    /// # Panics
    /// If a node ends by itself, or the condition does not hold in time.
    pub fn wait(&self, what: &str, mut done: impl FnMut() -> bool) {
        let mut ended = None;
        let held = wait_until(DEADLINE, || {
            if done() {
                return true;
            }
            ended = self.ended();
            ended.is_some()
        });
        if let Some(ended) = ended {
            panic!("{ended} while waiting for {what}\n{}", self.tails());
        }
        assert!(
            held,
            "waited {DEADLINE:?} in vain for {what}\n{}",
            self.tails()
        );
    }

    /// The last lines of every node's log.
    pub fn tails(&self) -> String {
        self.nodes().iter().map(Node::tail).collect()
    }

    /// A node whose log has a text in it.
    pub fn log_contains(&self, text: &str) -> Option<u32> {
        let nodes = self.nodes();
        let found = nodes.iter().find(|node| node.log_contains(text));
        found.map(|node| node.address.id)
    }

    /// What became of a node that ended by itself.
    pub fn ended(&self) -> Option<String> {
        self.nodes().iter_mut().find_map(|node| {
            let status = node.ended()?;
            Some(format!("node {} ended with {status}", node.address.id))
        })
    }

    fn node(&self, id: u32, act: impl FnOnce(&mut Node)) {
        let mut nodes = self.nodes();
        let node = nodes.iter_mut().find(|node| node.address.id == id);
        act(node.unwrap_or_else(|| panic!("there is no node {id}")));
    }

    pub(crate) fn started(&self) -> Vec<&Address> {
        let spares = self.spares();
        let all = self.addresses.iter();
        all.filter(|node| !spares.contains(&node.id)).collect()
    }

    fn spares(&self) -> MutexGuard<'_, Vec<u32>> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn nodes(&self) -> MutexGuard<'_, Vec<Node>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        if thread::panicking() && std::env::var_os("KLAMM_KEEP").is_some() {
            self.keep();
            eprintln!(
                "the cluster's files are kept in {}",
                self.dir.path().display()
            );
        }
    }
}

/// Kafka's ids are 16 bytes in URL-safe base64 without padding, 22 characters.
fn random_cluster_id() -> String {
    // The last character carries 2 bits of the 128 only, and a leading dash looks like an option.
    let middle = (0..20).map(|_| fastrand::alphanumeric());
    std::iter::once('k')
        .chain(middle)
        .chain(std::iter::once('A'))
        .collect()
}
