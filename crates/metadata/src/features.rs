use std::collections::BTreeMap;

use klamm_protocol::data::metadata::FeatureLevelRecord;

use crate::{ApplyError, MetadataVersion, Record};

/// A feature of the cluster beside `metadata.version`, as 4.4.0 knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its name.
    pub name: &'static str,
    /// For each level, the `metadata.version` from which new clusters have it.
    defaults: &'static [i16],
}

impl Feature {
    /// The version of the quorum's own protocol; its level is in the log's control records.
    pub const KRAFT_VERSION: Self = Self {
        name: "kraft.version",
        defaults: &[7, 21],
    };
    /// The version of transactions (KIP-890).
    pub const TRANSACTION_VERSION: Self = Self {
        name: "transaction.version",
        defaults: &[7, 24, 24],
    };
    /// The version of consumer groups (KIP-848).
    pub const GROUP_VERSION: Self = Self {
        name: "group.version",
        defaults: &[7, 22],
    };
    /// Whether partitions have eligible leader replicas (KIP-966).
    pub const ELIGIBLE_LEADER_REPLICAS_VERSION: Self = Self {
        name: "eligible.leader.replicas.version",
        defaults: &[7, 26],
    };
    /// The version of share groups (KIP-932).
    pub const SHARE_VERSION: Self = Self {
        name: "share.version",
        defaults: &[7, 28, 31],
    };
    /// The version of streams groups (KIP-1071).
    pub const STREAMS_VERSION: Self = Self {
        name: "streams.version",
        defaults: &[7, 29],
    };

    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::KRAFT_VERSION,
        Self::TRANSACTION_VERSION,
        Self::GROUP_VERSION,
        Self::ELIGIBLE_LEADER_REPLICAS_VERSION,
        Self::SHARE_VERSION,
        Self::STREAMS_VERSION,
    ];

    /// The feature with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|feature| feature.name == name)
    }

    /// The highest level; the lowest is 0 for every feature.
    pub fn max_level(self) -> i16 {
        self.defaults.len() as i16 - 1
    }

    /// The `metadata.version` without which the feature may not be at a level; `None` where any will do.
    pub fn needs(self, level: i16) -> Option<MetadataVersion> {
        let is_elr = self == Self::ELIGIBLE_LEADER_REPLICAS_VERSION;
        let allowing = MetadataVersion::all().find(|version| version.allows_elr());
        allowing.filter(|_| is_elr && level > 0)
    }

    /// The level that a new cluster with this `metadata.version` gets.
    pub fn default_level(self, version: MetadataVersion) -> i16 {
        let allowed = self
            .defaults
            .iter()
            .take_while(|from| **from <= version.level());
        allowed.count() as i16 - 1
    }

    /// The least `metadata.version` that a cluster must have for this level, if it matters.
    pub fn requires(self, level: i16) -> Option<MetadataVersion> {
        let is_elr = self == Self::ELIGIBLE_LEADER_REPLICAS_VERSION;
        (is_elr && level > 0).then_some(MetadataVersion::WITH_ELR)
    }
}

/// The finalized features of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features {
    metadata_version: Option<MetadataVersion>,
    levels: BTreeMap<Box<str>, i16>,
}

impl Features {
    /// The finalized `metadata.version`; `None` until its record is applied, which is the first of a
    /// log.
    pub fn metadata_version(&self) -> Option<MetadataVersion> {
        self.metadata_version
    }

    /// The finalized level of another feature; 0 where none was finalized.
    pub fn level(&self, feature: Feature) -> i16 {
        self.levels.get(feature.name).copied().unwrap_or(0)
    }

    /// Whether partitions have eligible leader replicas.
    pub fn elr_enabled(&self) -> bool {
        self.level(Feature::ELIGIBLE_LEADER_REPLICAS_VERSION) > 0
    }

    /// Every finalized feature beside `metadata.version`, in the order of the names; also such that
    /// this release does not know.
    pub fn levels(&self) -> impl Iterator<Item = (&str, i16)> {
        self.levels.iter().map(|(name, level)| (&**name, *level))
    }

    pub(crate) fn set(&mut self, record: &FeatureLevelRecord) -> Result<(), ApplyError> {
        let level = record.feature_level;
        match &*record.name {
            MetadataVersion::FEATURE => {
                let version = MetadataVersion::from_level(level);
                self.metadata_version =
                    Some(version.ok_or(ApplyError::UnknownMetadataVersion(level))?);
            }
            // Its level is in control records; Apache Kafka passes over it here, too.
            name if name == Feature::KRAFT_VERSION.name => {}
            name if level == 0 => {
                self.levels.remove(name);
            }
            name => {
                self.levels.insert(name.into(), level);
            }
        }
        Ok(())
    }

    /// `metadata.version` comes first: how the others are read depends on it.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        let version = self
            .metadata_version
            .map(|version| (MetadataVersion::FEATURE, version.level()));
        version
            .into_iter()
            .chain(self.levels())
            .map(|(name, level)| {
                Record::FeatureLevel(FeatureLevelRecord {
                    name: name.into(),
                    feature_level: level,
                    ..Default::default()
                })
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_clusters_get_the_highest_level_that_their_version_allows() {
        let elr = Feature::ELIGIBLE_LEADER_REPLICAS_VERSION;
        let version = |text: &str| text.parse::<MetadataVersion>().unwrap();
        assert_eq!(elr.default_level(version("4.0")), 0);
        assert_eq!(elr.default_level(version("4.1-IV0")), 1);
        assert_eq!(
            Feature::TRANSACTION_VERSION.default_level(version("4.0-IV2")),
            2
        );
        assert_eq!(Feature::SHARE_VERSION.default_level(version("4.3-IV0")), 1);
        for feature in Feature::ALL {
            assert_eq!(feature.default_level(MetadataVersion::MINIMUM), 0);
            for version in MetadataVersion::all() {
                let needed = feature.needs(feature.default_level(version));
                assert!(needed.is_none_or(|needed| needed <= version));
            }
            let latest = feature.default_level(MetadataVersion::LATEST_PRODUCTION);
            assert_eq!(latest, feature.max_level());
            assert_eq!(Feature::from_name(feature.name), Some(*feature));
        }
    }
}
