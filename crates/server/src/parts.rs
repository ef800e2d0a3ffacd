//! What nodes of every kind are put together from.

use std::io;
use std::path::{Path, PathBuf};

use klamm_log::{DirLock, LogOptions, MetaProperties, OsDir};
use klamm_net::ServerAddress;
use klamm_protocol::{BrokerId, Uuid};
use klamm_raft::{Endpoint, Endpoints, ReplicaKey, Start, Voter, VoterSet};

use crate::features::KRAFT_VERSIONS;
use crate::listener::Bound;
use crate::machine::host_name;
use crate::node::StartError;
use crate::quorum::{METADATA_DIR, Opened, Store};
use crate::settings::{self, Listener, NodeSettings};

/// The number of the security protocol PLAINTEXT.
pub(crate) const PLAINTEXT: i16 = 0;

/// A directory that was formatted for this node, and that no other process uses meanwhile.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) path: PathBuf,
    /// Its own id.
    pub(crate) directory: Uuid,
    pub(crate) meta: MetaProperties,
    _lock: DirLock,
}

impl Home {
    /// Takes a directory for a node.
    pub(crate) fn open(path: &Path, node_id: BrokerId) -> Result<Self, StartError> {
        let path = path.to_owned();
        let dir = match OsDir::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StartError::NotFormatted(path));
            }
            Err(source) => return Err(StartError::Dir { path, source }),
            Ok(dir) => dir,
        };
        let lock = DirLock::acquire(&path)?;
        let Some(meta) = MetaProperties::read(&*dir)? else {
            return Err(StartError::NotFormatted(path));
        };
        if meta.node_id != node_id {
            return Err(StartError::OtherNode {
                path,
                found: meta.node_id,
                node_id,
            });
        }
        let Some(directory) = meta.directory_id else {
            return Err(StartError::NoDirectoryId(path));
        };
        Ok(Self {
            path,
            directory,
            meta,
            _lock: lock,
        })
    }
}

/// Takes the ports of listeners.
pub(crate) async fn bind(listeners: &[Listener], backlog: u32) -> Result<Vec<Bound>, StartError> {
    let mut bound = Vec::new();
    for listener in listeners {
        let host = listener.host.as_deref();
        let one = Bound::bind(&listener.name, host, listener.port, backlog).await;
        bound.push(one.map_err(|source| StartError::Bind {
            name: listener.name.clone(),
            address: ServerAddress::new(host.unwrap_or_default(), listener.port),
            source,
        })?);
    }
    match bound.is_empty() {
        true => Err(StartError::NoListener),
        false => Ok(bound),
    }
}

/// Where others reach a node, by listener.
pub(crate) fn endpoints(listeners: &[Listener], bound: &[Bound]) -> Vec<(String, Endpoint)> {
    let endpoint = |(listener, bound): (&Listener, &Bound)| {
        let host = listener.advertised_host.clone();
        let host = host.unwrap_or_else(host_name);
        let port = match listener.advertised_port {
            0 => bound.address().port(),
            port => port,
        };
        (listener.name.clone(), Endpoint { host, port })
    };
    listeners.iter().zip(bound).map(endpoint).collect()
}

/// Opens the metadata log in a directory, or begins it.
pub(crate) fn open_store(home: &Home, options: LogOptions) -> Result<(Store, Start), StartError> {
    let path = home.path.join(METADATA_DIR);
    let dir = OsDir::create(&path).map_err(|source| StartError::Dir { path, source })?;
    let Opened { store, start, cut } = Store::open(dir, options)?;
    if let Some(cut) = cut {
        tracing::warn!(%cut, "metadata log");
    }
    Ok((store, start))
}

/// The voters of the configuration, who are known by one listener and not by their directories.
pub(crate) fn static_voters(node: &NodeSettings, listener: &str) -> VoterSet {
    let voters = node.quorum.static_voters.iter();
    let voter = |voter: &settings::Voter| Voter {
        key: ReplicaKey {
            id: voter.id,
            directory: None,
        },
        endpoints: Endpoints::one(listener, endpoint(&voter.address)),
        kraft_versions: KRAFT_VERSIONS,
    };
    voters.map(voter).collect()
}

fn endpoint(address: &ServerAddress) -> Endpoint {
    let host = address.host().to_owned();
    let port = address.port();
    Endpoint { host, port }
}

/// How a node that does not listen for controllers takes part in the quorum.
pub(crate) fn raft_settings(node: &NodeSettings, home: &Home) -> klamm_raft::Settings {
    let quorum = &node.quorum;
    let names = &node.controller_listener_names;
    let listener = names.first().cloned().unwrap_or_default();
    let nowhere = Endpoint {
        host: String::new(),
        port: 0,
    };
    let voters = quorum.static_voters.iter().map(|voter| &voter.address);
    let bootstrap: Vec<Endpoint> = match quorum.bootstrap_servers.is_empty() {
        true => voters.map(endpoint).collect(),
        false => quorum.bootstrap_servers.iter().map(endpoint).collect(),
    };
    klamm_raft::Settings {
        cluster_id: home.meta.cluster_id.clone(),
        endpoints: Endpoints::default(),
        kraft_versions: KRAFT_VERSIONS,
        bootstrap,
        election_timeout: quorum.election_timeout,
        election_backoff_max: quorum.election_backoff_max,
        fetch_timeout: quorum.fetch_timeout,
        request_timeout: quorum.request_timeout,
        retry_backoff: quorum.retry_backoff,
        fetch_max_bytes: quorum.fetch_max_bytes,
        fetch_snapshot_max_bytes: quorum.fetch_snapshot_max_bytes,
        seed: fastrand::u64(..),
        ..klamm_raft::Settings::new(node.id, home.directory, &listener, nowhere)
    }
}
