use std::collections::BTreeMap;
use std::str::FromStr;

use klamm_metadata::{Feature, MetadataVersion, Record};
use klamm_protocol::data::metadata::FeatureLevelRecord;
use thiserror::Error;

use super::{FormatError, Request};
use crate::settings::NodeSettings;

/// A level of a feature, written `group.version=1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureLevel {
    /// The feature's name.
    pub name: String,
    /// The level.
    pub level: i16,
}

/// A text is no feature's level.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} must be FEATURE=LEVEL, such as group.version=1")]
pub struct ParseFeatureLevelError(String);

impl FromStr for FeatureLevel {
    type Err = ParseFeatureLevelError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once('=').and_then(|(name, level)| {
            let (name, level) = (name.trim(), level.trim().parse().ok()?);
            (!name.is_empty()).then(|| (name.to_owned(), level))
        });
        match parsed {
            Some((name, level)) => Ok(Self { name, level }),
            None => Err(ParseFeatureLevelError(text.to_owned())),
        }
    }
}

/// What a cluster begins with.
#[derive(Debug)]
pub(super) struct Levels {
    pub(super) version: MetadataVersion,
    /// Of the other features, in the order of their names; none of them 0. `kraft.version` is not
    /// among them: it is in control records.
    pub(super) others: Vec<(&'static str, i16)>,
}

pub(super) fn resolve(
    node: &NodeSettings,
    request: &Request,
    dynamic: bool,
) -> Result<Levels, FormatError> {
    let mut wanted = BTreeMap::new();
    for FeatureLevel { name, level } in &request.features {
        if wanted.insert(name.as_str(), *level).is_some() {
            return Err(FormatError::FeatureTwice(name.clone()));
        }
    }
    let version = version(node, request, wanted.remove(MetadataVersion::FEATURE))?;
    let mut levels = BTreeMap::new();
    for feature in Feature::ALL.iter().copied() {
        let name = feature.name;
        let level = match wanted.remove(name) {
            Some(level) if !(0..=feature.max_level()).contains(&level) => {
                return Err(FormatError::UnknownLevel {
                    name: name.to_owned(),
                    level,
                    min: 0,
                    max: feature.max_level(),
                });
            }
            Some(level) if feature == Feature::KRAFT_VERSION => {
                check_kraft_version(level, dynamic)?;
                continue;
            }
            None if feature == Feature::KRAFT_VERSION => continue,
            Some(level) => level,
            None => feature.default_level(version),
        };
        if let Some(needs) = feature.requires(level).filter(|needs| version < *needs) {
            let is = version;
            return Err(FormatError::FeatureNeeds {
                name,
                level,
                needs,
                is,
            });
        }
        if level > 0 {
            levels.insert(name, level);
        }
    }
    match wanted.first_key_value() {
        Some((name, _)) => Err(FormatError::UnknownFeature {
            name: (*name).to_owned(),
            known: known(),
        }),
        None => Ok(Levels {
            version,
            others: levels.into_iter().collect(),
        }),
    }
}

fn version(
    node: &NodeSettings,
    request: &Request,
    level: Option<i16>,
) -> Result<MetadataVersion, FormatError> {
    let name = MetadataVersion::FEATURE;
    let version = match (request.release, level) {
        (Some(_), Some(_)) => return Err(FormatError::FeatureTwice(name.to_owned())),
        (Some(release), None) => release,
        (None, Some(level)) => {
            let version = MetadataVersion::from_level(level);
            let (min, max) = (MetadataVersion::MINIMUM, latest(node));
            version.ok_or_else(|| FormatError::UnknownLevel {
                name: name.to_owned(),
                level,
                min: min.level(),
                max: max.level(),
            })?
        }
        (None, None) => latest(node),
    };
    if version > latest(node) {
        return Err(FormatError::Unstable(version));
    }
    Ok(version)
}

fn latest(node: &NodeSettings) -> MetadataVersion {
    let last = MetadataVersion::all().next_back();
    last.filter(|_| node.unstable_features)
        .unwrap_or(MetadataVersion::LATEST_PRODUCTION)
}

fn check_kraft_version(level: i16, dynamic: bool) -> Result<(), FormatError> {
    let (needs, kind) = if dynamic {
        (1, "not those of controller.quorum.voters")
    } else {
        (
            0,
            "those of controller.quorum.voters, or the node is a broker",
        )
    };
    if level == needs {
        Ok(())
    } else {
        Err(FormatError::KRaftVersion { needs, kind })
    }
}

fn known() -> String {
    let mut names: Vec<&str> = Feature::ALL.iter().map(|feature| feature.name).collect();
    names.push(MetadataVersion::FEATURE);
    names.sort_unstable();
    names.join(", ")
}

impl Levels {
    /// `metadata.version` comes first: how the others are read depends on it.
    pub(super) fn records(&self) -> Vec<Record> {
        let first = (MetadataVersion::FEATURE, self.version.level());
        let all = std::iter::once(first).chain(self.others.iter().copied());
        let record = |(name, level): (&str, i16)| {
            Record::from(FeatureLevelRecord {
                name: name.into(),
                feature_level: level,
                ..FeatureLevelRecord::default()
            })
        };
        all.map(record).collect()
    }
}
