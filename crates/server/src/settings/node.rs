use std::collections::BTreeSet;
use std::path::PathBuf;

use klamm_config::{ConfigError, Properties, Reading, Warning};
use klamm_protocol::BrokerId;

use super::listeners::listeners;
use super::{Listener, QuorumSettings, flag, keys};

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It holds partitions.
    Broker,
    /// It is of the quorum that decides.
    Controller,
}

/// Who a node is, where it listens for controllers and what its directories are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSettings {
    /// `node.id`.
    pub id: BrokerId,
    /// `process.roles`.
    pub roles: BTreeSet<Role>,
    /// `log.dirs`, or else `log.dir`: the directories that logs are in, each once.
    pub log_dirs: Vec<PathBuf>,
    /// `metadata.log.dir`, or else the first of the others: the directory of the metadata log.
    pub metadata_log_dir: PathBuf,
    /// `controller.listener.names`, in capitals, each once.
    pub controller_listener_names: Vec<String>,
    /// The node's own listeners with those names, in that order; none if it is a broker alone.
    pub controller_listeners: Vec<Listener>,
    /// The node's own listeners for clients and brokers, in the order of `listeners`; none if it is
    /// no broker.
    pub broker_listeners: Vec<Listener>,
    /// How the quorum of controllers works together.
    pub quorum: QuorumSettings,
    /// `unstable.feature.versions.enable`: whether feature levels that are not for production may be
    /// used.
    pub unstable_features: bool,
}

impl NodeSettings {
    /// Reads the file of any node.
    pub fn read(properties: &Properties) -> Result<(Self, Vec<Warning>), ConfigError> {
        let mut reading = keys::KEYS.begin(properties);
        let node = Self::parse(&mut reading);
        let values = reading.finish()?;
        Ok((node, values.warnings().to_vec()))
    }

    /// All directories, each once, that of the metadata log among them.
    pub fn directories(&self) -> impl Iterator<Item = &PathBuf> {
        let is_apart = !self.log_dirs.contains(&self.metadata_log_dir);
        let apart = is_apart.then_some(&self.metadata_log_dir);
        self.log_dirs.iter().chain(apart)
    }

    /// Whether the node is a controller, alone or among other things.
    pub fn is_controller(&self) -> bool {
        self.roles.contains(&Role::Controller)
    }

    pub(super) fn parse(reading: &mut Reading<'_>) -> Self {
        let id = id(reading);
        let roles = roles(reading);
        let log_dirs = log_dirs(reading);
        let own = reading.values().string("metadata.log.dir");
        let own = own.filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let first = log_dirs.first().cloned().unwrap_or_default();
        let quorum = QuorumSettings::parse(reading);
        let names = controller_listener_names(reading);
        let listeners = listeners(reading);
        let of_controllers = controller_listeners(reading, &listeners, &names, &roles);
        let [is_broker, is_controller] =
            [Role::Broker, Role::Controller].map(|role| roles.contains(&role));
        let is_of_brokers =
            |listener: &Listener| is_broker && !(is_controller && names.contains(&listener.name));
        let of_brokers = listeners.into_iter().filter(is_of_brokers).collect();
        let node = Self {
            id,
            metadata_log_dir: own.unwrap_or(first),
            log_dirs,
            controller_listener_names: names,
            broker_listeners: of_brokers,
            controller_listeners: of_controllers,
            unstable_features: flag(reading.values(), "unstable.feature.versions.enable"),
            quorum,
            roles,
        };
        node.check_voters(reading);
        node
    }

    fn check_voters(&self, reading: &mut Reading<'_>) {
        let voters = &self.quorum.static_voters;
        let is_voter = voters.iter().any(|voter| voter.id == self.id);
        if !voters.is_empty() && is_voter != self.is_controller() && !self.roles.is_empty() {
            let id = self.id;
            let what = if is_voter {
                format!("node.id {id} is among the voters, but process.roles has no controller")
            } else {
                format!("node.id {id} is a controller by process.roles, but not among the voters")
            };
            reading.wrong("controller.quorum.voters", what);
        }
    }

    /// What is fine for a node in general, but not for one that klamm runs as a controller.
    pub(super) fn check_for_controller(&self, reading: &mut Reading<'_>) {
        let known = !self.roles.is_empty();
        if known && self.roles != BTreeSet::from([Role::Controller]) {
            let what = "must be controller: klamm runs one role a process, so give the broker a file \
                        of its own (klamm broker)";
            reading.wrong("process.roles", what);
            return;
        }
        for listener in &self.controller_listeners {
            listener.check_plaintext(reading);
        }
    }
}

fn id(reading: &mut Reading<'_>) -> BrokerId {
    let values = reading.values();
    let (id, old) = (values.int("node.id"), values.int("broker.id"));
    match (id, old) {
        (Some(id), Some(old)) if id != old => {
            reading.wrong(
                "broker.id",
                format!("node.id is {id}: keep that one and remove this"),
            );
        }
        (None, None) if !reading.has("node.id") && !reading.has("broker.id") => {
            let what = "is missing: give the node a number that no other node of the cluster has";
            reading.wrong("node.id", what);
        }
        _ => {}
    }
    // Where it is wrong, nothing is made of it.
    BrokerId(id.or(old).unwrap_or(-1))
}

fn roles(reading: &mut Reading<'_>) -> BTreeSet<Role> {
    const KEY: &str = "process.roles";
    let mut roles = BTreeSet::new();
    let names = reading.values().list(KEY).to_vec();
    if names.is_empty() {
        reading.wrong(KEY, "must be controller, broker, or broker,controller");
    }
    for name in names {
        match &*name {
            "broker" => roles.insert(Role::Broker),
            "controller" => roles.insert(Role::Controller),
            _ => {
                reading.wrong(
                    KEY,
                    format!("{name:?} is no role; roles are broker and controller"),
                );
                return BTreeSet::new();
            }
        };
    }
    roles
}

fn log_dirs(reading: &mut Reading<'_>) -> Vec<PathBuf> {
    let key = if reading.has("log.dirs") {
        "log.dirs"
    } else {
        "log.dir"
    };
    let mut dirs = Vec::new();
    for dir in reading.values().list(key).iter().map(PathBuf::from) {
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    if dirs.is_empty() {
        reading.wrong(key, "must name a directory");
    }
    dirs
}

const LISTENER_NAMES: &str = "controller.listener.names";

fn controller_listener_names(reading: &mut Reading<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in reading.values().list(LISTENER_NAMES) {
        let name = name.to_uppercase();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        let what = "must name the listeners of controllers, such as CONTROLLER";
        reading.wrong(LISTENER_NAMES, what);
    }
    names
}

fn controller_listeners(
    reading: &mut Reading<'_>,
    listeners: &[Listener],
    names: &[String],
    roles: &BTreeSet<Role>,
) -> Vec<Listener> {
    if !roles.contains(&Role::Controller) {
        return Vec::new();
    }
    let is_alone = !roles.contains(&Role::Broker);
    for listener in listeners
        .iter()
        .filter(|listener| !names.contains(&listener.name))
    {
        if is_alone && !names.is_empty() {
            let what = format!(
                "{} is not in controller.listener.names, and a controller has no \
                                other listeners",
                listener.name
            );
            reading.wrong("listeners", what);
        }
    }
    let named = |name: &String| {
        listeners
            .iter()
            .find(|listener| listener.name == *name)
            .cloned()
    };
    let found: Vec<Option<Listener>> = names.iter().map(named).collect();
    for (name, found) in names.iter().zip(&found) {
        if found.is_none() && is_alone {
            reading.wrong(LISTENER_NAMES, format!("{name} is not in listeners"));
        }
    }
    found.into_iter().flatten().collect()
}
