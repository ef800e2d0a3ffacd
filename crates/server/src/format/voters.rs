use std::collections::BTreeSet;
use std::str::FromStr;

use klamm_metadata::directory;
use klamm_net::ServerAddress;
use klamm_protocol::{BrokerId, Uuid};
use klamm_raft::{Endpoint, Endpoints, ReplicaKey, Voter, VoterSet};
use thiserror::Error;

use super::{FormatError, InitialQuorum};
use crate::features::KRAFT_VERSIONS;
use crate::machine::host_name;
use crate::settings::NodeSettings;

/// One of the first voters, written `id@host:port:directory`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialController {
    /// Its node id.
    pub id: BrokerId,
    /// Where it listens for controllers.
    pub address: ServerAddress,
    /// The id of the directory that its metadata log is in.
    pub directory: Uuid,
}

/// A text is no initial controller.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{text:?} must be ID@HOST:PORT:DIRECTORY-ID, such as \
     1@localhost:9093:JEXY6aqzQY-32P5TStzaFg: {problem}"
)]
pub struct ParseInitialControllerError {
    text: String,
    problem: String,
}

impl FromStr for InitialController {
    type Err = ParseInitialControllerError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |problem: &str| ParseInitialControllerError {
            text: text.to_owned(),
            problem: problem.to_owned(),
        };
        let (id, rest) = text.trim().split_once('@').ok_or(fail("it has no @"))?;
        let parts = rest.rsplit_once(':');
        let (address, directory) = parts.ok_or(fail("it has no directory id"))?;
        let id = id.parse().ok().filter(|id| *id >= 0);
        let directory = directory.parse::<Uuid>();
        let directory = directory.map_err(|error| fail(&format!("of a directory, {error}")))?;
        if directory::is_reserved(directory) {
            return Err(fail("the directory id is one of Kafka's own"));
        }
        Ok(Self {
            id: BrokerId(id.ok_or(fail("the id is no number from 0 on"))?),
            address: address
                .parse()
                .map_err(|error: klamm_net::ParseAddressError| fail(&error.to_string()))?,
            directory,
        })
    }
}

/// Whether the voters can change, which is so unless the file has them.
pub(super) fn is_dynamic(node: &NodeSettings, quorum: &InitialQuorum) -> Result<bool, FormatError> {
    let is_static = !node.quorum.static_voters.is_empty();
    match quorum {
        InitialQuorum::Standalone if !node.is_controller() => {
            Err(FormatError::NoController(node.id))
        }
        InitialQuorum::Standalone | InitialQuorum::Controllers(_) if is_static => {
            Err(FormatError::VotersAreStatic)
        }
        InitialQuorum::Unsaid if !is_static && node.is_controller() => {
            Err(FormatError::VotersUnsaid)
        }
        InitialQuorum::Unsaid => Ok(false),
        _ => Ok(!is_static),
    }
}

/// The first voters, if they are said here. `own_directory` is the id of this node's directory, for
/// the case that it is the only one.
pub(super) fn first_voters(
    node: &NodeSettings,
    quorum: &InitialQuorum,
    own_directory: Uuid,
) -> Result<Option<VoterSet>, FormatError> {
    match quorum {
        InitialQuorum::Unsaid | InitialQuorum::Elsewhere => Ok(None),
        InitialQuorum::Standalone => {
            let key = ReplicaKey::new(node.id, own_directory);
            let voter = voter(key, own_endpoints(node)?);
            Ok(Some([voter].into_iter().collect()))
        }
        InitialQuorum::Controllers(controllers) => several(node, controllers).map(Some),
    }
}

fn several(
    node: &NodeSettings,
    controllers: &[InitialController],
) -> Result<VoterSet, FormatError> {
    let (mut ids, mut directories) = (BTreeSet::new(), BTreeSet::new());
    for controller in controllers {
        if !ids.insert(controller.id) {
            return Err(FormatError::InitialControllerTwice(controller.id));
        }
        if !directories.insert(controller.directory) {
            return Err(FormatError::InitialDirectoryTwice(controller.directory));
        }
    }
    if ids.contains(&node.id) && !node.is_controller() {
        return Err(FormatError::NoController(node.id));
    }
    let listener = node.controller_listener_names.first();
    let listener = listener.expect("settings have one");
    let voters = controllers.iter().map(|controller| {
        let host = controller.address.host().to_owned();
        let port = controller.address.port();
        let endpoints = Endpoints::one(listener, Endpoint { host, port });
        voter(
            ReplicaKey::new(controller.id, controller.directory),
            endpoints,
        )
    });
    Ok(voters.collect())
}

fn voter(key: ReplicaKey, endpoints: Endpoints) -> Voter {
    Voter {
        key,
        endpoints,
        kraft_versions: KRAFT_VERSIONS,
    }
}

/// Controllers reach each other by the first of their listeners.
fn own_endpoints(node: &NodeSettings) -> Result<Endpoints, FormatError> {
    let first = node.controller_listeners.first();
    let listener = first.ok_or(FormatError::NoController(node.id))?;
    if listener.advertised_port == 0 {
        return Err(FormatError::NoPort(listener.name.clone()));
    }
    let endpoint = Endpoint {
        host: listener.advertised_host.clone().unwrap_or_else(host_name),
        port: listener.advertised_port,
    };
    Ok(Endpoints::one(&listener.name, endpoint))
}
