use std::collections::BTreeMap;

use klamm_metadata::{ConfigResource, ConfigResourceKind, Feature, MetadataVersion, Record};
use klamm_protocol::data::metadata::{ConfigRecord, FeatureLevelRecord};
use klamm_protocol::messages::update_features::{
    FeatureUpdateKey, UpdatableFeatureResult, UpdateFeaturesRequest, UpdateFeaturesResponse,
};
use klamm_protocol::{BrokerId, ErrorCode, VersionRange};

use crate::refusal::Refusal;
use crate::{Decision, ElectionConfig, View};

#[cfg(test)]
mod tests;

/// The last version of the request whose answer names each feature.
const LAST_WITH_RESULTS: i16 = 1;

const UPGRADE: i8 = 1;
const UNSAFE_DOWNGRADE: i8 = 3;

/// A request to change what the cluster's features are finalized at (KIP-584, KIP-778).
#[derive(Clone, Copy, Debug)]
pub struct UpdateFeatures<'a> {
    /// The request.
    pub request: &'a UpdateFeaturesRequest,
    /// Its version.
    pub version: i16,
    /// The level of `kraft.version`, which is the quorum's own: no record here changes it.
    pub kraft_version: i16,
}

impl UpdateFeatures<'_> {
    /// Changes all of the features or none.
    pub fn decide(&self, view: &View<'_>) -> Decision<UpdateFeaturesResponse> {
        let mut decision = Decision::answer(UpdateFeaturesResponse {
            // The schema's default is an empty text.
            error_message: None,
            ..Default::default()
        });
        decision.atomic = true;
        match self.records(view) {
            Ok(records) => {
                if self.version <= LAST_WITH_RESULTS {
                    decision.response.results = self.results();
                }
                if !self.request.validate_only {
                    decision.records = records;
                }
            }
            Err(refusal) => {
                let text = format!(
                    "The update failed for all features since the following feature had an error: \
                     {}",
                    refusal.text
                );
                decision.response.error_code = refusal.code.0;
                decision.response.error_message = Some((&*text).into());
            }
        }
        decision
    }

    /// The level that the quorum is to raise `kraft.version` to, where the update is not refused.
    pub fn kraft_upgrade(&self) -> Option<i16> {
        let mut updates = self.request.feature_updates.iter().rev();
        let last = updates.find(|update| *update.feature == *Feature::KRAFT_VERSION.name)?;
        let level = last.max_version_level;
        (level > self.kraft_version).then_some(level)
    }

    fn results(&self) -> Vec<UpdatableFeatureResult> {
        let updates = self.request.feature_updates.iter();
        let results = updates.map(|update| UpdatableFeatureResult {
            feature: update.feature.clone(),
            // Kafka's name of success.
            error_message: Some("NONE".into()),
            ..Default::default()
        });
        results.collect()
    }

    fn records(&self, view: &View<'_>) -> Result<Vec<Record>, Refusal> {
        let updates = &self.request.feature_updates;
        // Where a feature is there twice, the last one counts.
        let named = updates.iter().map(|update| (&*update.feature, update));
        let last: BTreeMap<&str, &FeatureUpdateKey> = named.collect();
        let level = |name: &str| last.get(name).map(|update| update.max_version_level);
        let proposed = level(MetadataVersion::FEATURE);
        let proposed = proposed.unwrap_or(view.metadata_version().level());
        let mut open = last.clone();
        let mut records = Vec::new();
        for update in updates {
            if let Some(last) = open.remove(&*update.feature) {
                records.extend(self.update(view, last, proposed)?);
            }
        }
        let elr = Feature::ELIGIBLE_LEADER_REPLICAS_VERSION.name;
        if level(elr).is_some_and(|level| level > 0) {
            records.splice(..0, elr_safety(view));
        }
        Ok(records)
    }

    /// The record of one update. `metadata_version` is what that is to be.
    fn update(
        &self,
        view: &View<'_>,
        update: &FeatureUpdateKey,
        metadata_version: i16,
    ) -> Result<Option<Record>, Refusal> {
        let name = &*update.feature;
        let level = update.max_version_level;
        let refuse = |reason: String| {
            let text = format!("Invalid update version {level} for feature {name}. {reason}");
            Err(Refusal::new(ErrorCode::INVALID_UPDATE_VERSION, text))
        };
        if !(UPGRADE..=UNSAFE_DOWNGRADE).contains(&update.upgrade_type) {
            return refuse("The controller does not support the given upgrade type.".into());
        }
        if level < 0 {
            return refuse("A feature version cannot be less than 0.".into());
        }
        if let Some(reason) = not_supported(view, name, level) {
            return refuse(reason);
        }
        let feature = Feature::from_name(name);
        let current = match feature {
            Some(Feature::KRAFT_VERSION) => self.kraft_version,
            Some(feature) => view.image().features().level(feature),
            None if name == MetadataVersion::FEATURE => view.metadata_version().level(),
            None => 0,
        };
        if level < current && feature == Some(Feature::KRAFT_VERSION) {
            return refuse("Can't downgrade the version of this feature.".into());
        }
        if level < current && update.upgrade_type == UPGRADE {
            return refuse(
                "Can't downgrade the version of this feature without setting the upgrade type to \
                 either safe or unsafe downgrade."
                    .into(),
            );
        }
        if level > current && update.upgrade_type != UPGRADE {
            return refuse("Can't downgrade to a newer version.".into());
        }
        match feature {
            Some(Feature::KRAFT_VERSION) => return Ok(None),
            Some(feature) => {
                if let Some(missing) = missing_version(feature, level, metadata_version) {
                    return refuse(format!(
                        "{name} could not be set to {level} because it depends on {missing}"
                    ));
                }
            }
            None if name == MetadataVersion::FEATURE => {
                let is_unsafe = update.upgrade_type == UNSAFE_DOWNGRADE;
                check_metadata_version(view, level, is_unsafe)?;
            }
            None => return refuse(format!("Feature {name} not found.")),
        }
        let record = FeatureLevelRecord {
            name: name.into(),
            feature_level: level,
            ..Default::default()
        };
        Ok(Some(record.into()))
    }
}

/// What a feature at a level depends on, and will not be there.
fn missing_version(feature: Feature, level: i16, metadata_version: i16) -> Option<String> {
    let name = MetadataVersion::FEATURE;
    let least = MetadataVersion::MINIMUM;
    if level >= 1 && metadata_version < least.level() {
        return Some(format!("{name}={} ({least})", least.level()));
    }
    let needed = feature.needs(level)?.level();
    (metadata_version < needed).then(|| format!("{name} level {needed}"))
}

/// A downgrade that could lose records is refused, whatever the client is willing to lose.
fn check_metadata_version(view: &View<'_>, level: i16, is_unsafe: bool) -> Result<(), Refusal> {
    let current = view.metadata_version();
    let Some(new) = MetadataVersion::from_level(level) else {
        let text = format!("Invalid metadata.version {level}. Unknown metadata.version.");
        return Err(Refusal::new(ErrorCode::INVALID_UPDATE_VERSION, text));
    };
    if new >= current || !current.metadata_changed_since(new) {
        return Ok(());
    }
    let reason = match is_unsafe {
        true => "Unsafe metadata downgrade is not supported in this version.",
        false => {
            "Refusing to perform the requested downgrade because it might delete metadata \
             information."
        }
    };
    let text = format!(
        "Unsupported metadata.version downgrade from {} to {level}. {reason}",
        current.level()
    );
    Err(Refusal::new(ErrorCode::INVALID_UPDATE_VERSION, text))
}

/// Who does not support a level, of this controller, the brokers and the other controllers.
fn not_supported(view: &View<'_>, name: &str, level: i16) -> Option<String> {
    let own = view.config().node_id;
    let cluster = view.image().cluster();
    let local = local_range(name);
    if let Some(reason) = out_of_range(level, &format!("Local controller {own}"), local) {
        return Some(reason);
    }
    for broker in cluster.brokers() {
        let range = broker.features.get(name).copied();
        let reason = out_of_range(level, &format!("Broker {}", broker.id), range);
        if reason.is_some() {
            return reason;
        }
    }
    if !view.metadata_version().allows_controller_registration() {
        // Nobody can tell.
        return None;
    }
    for controller in cluster.controllers().filter(|other| other.id != own) {
        let range = controller.features.get(name).copied();
        let reason = out_of_range(level, &format!("Controller {}", controller.id), range);
        if reason.is_some() {
            return reason;
        }
    }
    let mut voters = view.config().voters.iter();
    let unknown = voters.find(|id| **id != own && cluster.controller(**id).is_none());
    unknown
        .map(|id| format!("controller {id} has not registered, and may not support this feature"))
}

/// What this release supports.
fn local_range(name: &str) -> Option<VersionRange> {
    let (min, max) = match Feature::from_name(name) {
        Some(feature) => (0, feature.max_level()),
        None if name == MetadataVersion::FEATURE => (
            MetadataVersion::MINIMUM.level(),
            MetadataVersion::LATEST_PRODUCTION.level(),
        ),
        None => return None,
    };
    Some(VersionRange { min, max })
}

/// Why a node does not support a level; a feature that it does not know has level 0 alone.
fn out_of_range(level: i16, who: &str, range: Option<VersionRange>) -> Option<String> {
    let VersionRange { min, max } = range.unwrap_or(VersionRange { min: 0, max: 0 });
    if (min..=max).contains(&level) {
        return None;
    }
    Some(match max {
        0 => format!("{who} does not support this feature."),
        _ if min == max => format!("{who} only supports versions {min}"),
        _ => format!("{who} only supports versions {min}-{max}"),
    })
}

/// What must be set before partitions have eligible leader replicas: `min.insync.replicas` for all
/// nodes, and for none alone, so that every controller decides by the same one.
fn elr_safety(view: &View<'_>) -> Vec<Record> {
    let key = ElectionConfig::MinInsyncReplicas.key();
    let configs = view.image().configs();
    let record = |name: &str, value: Option<String>| {
        Record::from(ConfigRecord {
            resource_type: ConfigResourceKind::BROKER.0,
            resource_name: name.into(),
            name: key.into(),
            value: value.map(|value| (&*value).into()),
            ..Default::default()
        })
    };
    let mut records = Vec::new();
    if configs.value(&ConfigResource::all_nodes(), key).is_none() {
        let value = view.config().min_insync_replicas.to_string();
        records.push(record("", Some(value)));
    }
    let of_nodes = configs.resources().filter(|resource| {
        let is_node = resource.kind == ConfigResourceKind::BROKER && !resource.name.is_empty();
        is_node && configs.value(resource, key).is_some()
    });
    let mut of_nodes: Vec<_> = of_nodes.collect();
    of_nodes.sort_by_key(|resource| resource.name.parse().ok().map(BrokerId));
    records.extend(of_nodes.iter().map(|resource| record(&resource.name, None)));
    records
}
