//! The features that klamm supports, as ApiVersions and registrations tell them.

use klamm_metadata::{Feature, MetadataVersion};
use klamm_protocol::VersionRange;

/// The levels of `kraft.version` that klamm supports.
pub(crate) const KRAFT_VERSIONS: VersionRange = VersionRange::new(0, 1);

/// Every feature with the levels that this release supports.
pub(crate) fn supported_features() -> impl Iterator<Item = (&'static str, VersionRange)> {
    let versions = VersionRange {
        min: MetadataVersion::MINIMUM.level(),
        max: MetadataVersion::LATEST_PRODUCTION.level(),
    };
    let others = Feature::ALL.iter().map(|feature| {
        let max = feature.max_level();
        (feature.name, VersionRange { min: 0, max })
    });
    std::iter::once((MetadataVersion::FEATURE, versions)).chain(others)
}

/// Every feature with the levels that klamm's brokers support, which have no transactions and no
/// groups: what they do not know is at level 0.
pub(crate) fn broker_features() -> Vec<(&'static str, VersionRange)> {
    let known = [
        MetadataVersion::FEATURE,
        Feature::KRAFT_VERSION.name,
        Feature::ELIGIBLE_LEADER_REPLICAS_VERSION.name,
    ];
    supported_features()
        .filter(|(name, _)| known.contains(name))
        .collect()
}
