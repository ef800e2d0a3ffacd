//! Who the nodes of a run are.

use std::collections::BTreeMap;

use fastrand::Rng;
use klamm_protocol::{BrokerId, Uuid, VersionRange};
use klamm_raft::{Endpoint, Endpoints, ReplicaKey, Settings, Voter, VoterSet};

use super::LISTENER;
use super::node::Node;
use crate::broker::Broker;
use crate::disk::Disk;
use crate::plan::Plan;
use crate::wire::Offers;

/// The ids of the voters.
pub(super) fn voter_ids(plan: &Plan) -> impl Iterator<Item = BrokerId> + use<> {
    (1..=plan.voters as i32).map(BrokerId)
}

/// The ids of the observers, which may be brokers.
pub(super) fn observer_ids(plan: &Plan) -> impl Iterator<Item = BrokerId> + use<> {
    (101..101 + plan.observers as i32).map(BrokerId)
}

/// The nodes, with disks that were formatted.
pub(super) fn nodes(plan: &Plan, rng: &mut Rng) -> BTreeMap<BrokerId, Node> {
    let voters: VoterSet = voter_ids(plan).map(|id| voter(id, plan.dynamic)).collect();
    let nodes = voter_ids(plan).chain(observer_ids(plan)).map(|id| {
        let offers = match rng.u8(..4) {
            0 => Offers {
                vote: rng.i16(1..=2),
                epoch: 1,
                fetch: rng.i16(17..=18),
            },
            _ => Offers::LATEST,
        };
        let disk = Disk::new(voters.clone(), plan.dynamic);
        let seed = rng.u64(..);
        (id, Node::new(settings(id, plan, seed), disk, offers))
    });
    nodes.collect()
}

/// The brokers of a run that has them, each with two log directories or one.
pub(super) fn brokers(plan: &Plan, rng: &mut Rng) -> BTreeMap<BrokerId, Broker> {
    let ids = observer_ids(plan).filter(|_| plan.brokers.is_some());
    let brokers = ids.map(|id| {
        let dirs = (0..rng.u128(1..=2)).map(|number| {
            let number = (1 << 100) + ((id.0 as u128) << 8) + number;
            Uuid::from_bytes(number.to_be_bytes())
        });
        (id, Broker::formatted(dirs.collect()))
    });
    brokers.collect()
}

fn directory(id: BrokerId) -> Uuid {
    Uuid::from_bytes((id.0 as u128 + (1 << 64)).to_be_bytes())
}

fn endpoint(id: BrokerId) -> Endpoint {
    Endpoint {
        host: format!("node-{id}"),
        port: 9093,
    }
}

/// Static voters have no directory id, as with Apache Kafka.
fn voter(id: BrokerId, dynamic: bool) -> Voter {
    Voter {
        key: ReplicaKey {
            id,
            directory: dynamic.then(|| directory(id)),
        },
        endpoints: Endpoints::one(LISTENER, endpoint(id)),
        kraft_versions: VersionRange::new(0, i16::from(dynamic)),
    }
}

fn settings(id: BrokerId, plan: &Plan, seed: u64) -> Settings {
    Settings {
        cluster_id: "simulated".into(),
        bootstrap: (1..=plan.voters as i32)
            .map(|id| endpoint(BrokerId(id)))
            .collect(),
        seed,
        ..Settings::new(id, directory(id), LISTENER, endpoint(id))
    }
}
