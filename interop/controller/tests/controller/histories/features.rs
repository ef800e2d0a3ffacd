//! Random features: what nodes support, and what they are to become.

use std::collections::BTreeMap;

use fastrand::Rng;
use klamm_java_peer::{Value, json};
use klamm_metadata::{Feature, MetadataVersion, Record};
use klamm_protocol::data::metadata::register_broker_record::BrokerFeature;
use klamm_protocol::data::metadata::register_controller_record::ControllerFeature;
use klamm_protocol::data::metadata::{RegisterBrokerRecord, RegisterControllerRecord};
use klamm_protocol::messages::update_features::FeatureUpdateKey;

/// What each node supports, by feature.
pub(super) struct Nodes {
    brokers: BTreeMap<i32, BTreeMap<&'static str, (i16, i16)>>,
    controllers: BTreeMap<i32, BTreeMap<&'static str, (i16, i16)>>,
    voters: Vec<i32>,
}

/// A level for a feature.
pub(super) struct Update {
    feature: &'static str,
    level: i16,
    upgrade_type: i8,
}

impl Nodes {
    /// The controller itself is node 100; a second one may have registered or not.
    pub(super) fn new(rng: &mut Rng, brokers: &[i32]) -> Self {
        let brokers = brokers.iter().map(|id| (*id, supported(rng))).collect();
        let voters = match rng.u8(..4) {
            0 => vec![100, 101],
            _ => vec![100],
        };
        let mut controllers = BTreeMap::new();
        for id in &voters {
            if rng.u8(..4) > 0 {
                controllers.insert(*id, supported(rng));
            }
        }
        Self {
            brokers,
            controllers,
            voters,
        }
    }

    pub(super) fn voters(&self) -> Vec<i32> {
        self.voters.clone()
    }

    pub(super) fn brokers(&self) -> Value {
        to_json(&self.brokers)
    }

    pub(super) fn controllers(&self) -> Value {
        to_json(&self.controllers)
    }

    pub(super) fn records(&self) -> Vec<Record> {
        let brokers = self.brokers.iter().map(|(id, features)| {
            let features = features.iter().map(|(name, (min, max))| BrokerFeature {
                name: (*name).into(),
                min_supported_version: *min,
                max_supported_version: *max,
                ..Default::default()
            });
            Record::from(RegisterBrokerRecord {
                broker_id: *id,
                features: features.collect(),
                ..Default::default()
            })
        });
        let controllers = self.controllers.iter().map(|(id, features)| {
            let features = features.iter().map(|(name, (min, max))| ControllerFeature {
                name: (*name).into(),
                min_supported_version: *min,
                max_supported_version: *max,
                ..Default::default()
            });
            Record::from(RegisterControllerRecord {
                controller_id: *id,
                features: features.collect(),
                ..Default::default()
            })
        });
        brokers.chain(controllers).collect()
    }
}

/// Nodes of this release, and now and then an older one.
fn supported(rng: &mut Rng) -> BTreeMap<&'static str, (i16, i16)> {
    let is_old = rng.u8(..6) == 0;
    let mut features = BTreeMap::new();
    let metadata = if is_old { rng.i16(7..=33) } else { 33 };
    features.insert(MetadataVersion::FEATURE, (7, metadata));
    for feature in Feature::ALL {
        if !(is_old && rng.bool()) {
            features.insert(feature.name, (0, feature.max_level()));
        }
    }
    features
}

fn to_json(nodes: &BTreeMap<i32, BTreeMap<&'static str, (i16, i16)>>) -> Value {
    let nodes = nodes.iter().map(|(id, features)| {
        let features = features
            .iter()
            .map(|(name, (min, max))| (*name, [*min, *max]));
        (id.to_string(), features.collect::<BTreeMap<_, _>>())
    });
    json!(nodes.collect::<BTreeMap<_, _>>())
}

/// Up to three updates. That of `kraft.version` is the quorum's.
pub(super) fn updates(rng: &mut Rng) -> Vec<Update> {
    let known = Feature::ALL
        .iter()
        .filter(|feature| **feature != Feature::KRAFT_VERSION);
    let mut names: Vec<&str> = known.map(|feature| feature.name).collect();
    names.extend([
        MetadataVersion::FEATURE,
        MetadataVersion::FEATURE,
        "no.such.feature",
    ]);
    rng.shuffle(&mut names);
    names.sort_by_key(|name| *name == "no.such.feature" && rng.u8(..4) > 0);
    let mut updates: Vec<Update> = Vec::new();
    for feature in names.into_iter().take(rng.usize(..4)) {
        if updates.iter().all(|update| update.feature != feature) {
            let level = match feature {
                MetadataVersion::FEATURE => rng.i16(5..=35),
                _ => rng.i16(-1..=3),
            };
            updates.push(Update {
                feature,
                level,
                upgrade_type: [1, 1, 1, 2, 3, 0, 4][rng.usize(..7)],
            });
        }
    }
    updates
}

impl Update {
    pub(super) fn to_json(&self) -> Value {
        json!([self.feature, self.level, self.upgrade_type])
    }

    pub(super) fn to_request(&self) -> FeatureUpdateKey {
        FeatureUpdateKey {
            feature: self.feature.into(),
            max_version_level: self.level,
            upgrade_type: self.upgrade_type,
            ..Default::default()
        }
    }
}
