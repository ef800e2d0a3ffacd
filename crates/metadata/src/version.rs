use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The finalized level of the feature `metadata.version`: which records, and which versions of them,
/// the metadata log may have.
///
/// What a level allows is asked with a method named after it, never by comparing numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetadataVersion(i16);

/// The level of the first row of [`TABLE`].
const FIRST_LEVEL: i16 = 7;

/// Each level's name, and whether records changed with it, which a downgrade may not undo.
const TABLE: &[(&str, bool)] = &[
    ("3.3-IV3", true),
    ("3.4-IV0", true),
    ("3.5-IV0", false),
    ("3.5-IV1", false),
    ("3.5-IV2", true),
    ("3.6-IV0", false),
    ("3.6-IV1", true),
    ("3.6-IV2", true),
    ("3.7-IV0", true),
    ("3.7-IV1", false),
    ("3.7-IV2", true),
    ("3.7-IV3", false),
    ("3.7-IV4", false),
    ("3.8-IV0", false),
    ("3.9-IV0", false),
    ("4.0-IV0", false),
    ("4.0-IV1", true),
    ("4.0-IV2", false),
    ("4.0-IV3", false),
    ("4.1-IV0", false),
    ("4.1-IV1", false),
    ("4.2-IV0", false),
    ("4.2-IV1", false),
    ("4.3-IV0", true),
    ("4.4-IV0", false),
    ("4.4-IV1", true),
    ("4.4-IV2", true),
    ("4.5-IV0", false),
];

impl MetadataVersion {
    /// The name of the feature in FeatureLevelRecord and UpdateFeatures.
    pub const FEATURE: &'static str = "metadata.version";
    /// The least level that a cluster of Apache Kafka 4 may have: 3.3-IV3.
    pub const MINIMUM: Self = Self(FIRST_LEVEL);
    /// The level of new clusters with 4.4.0: 4.4-IV2.
    pub const LATEST_PRODUCTION: Self = Self(33);

    /// The first with records that can carry eligible leader replicas: 4.0-IV1.
    pub(crate) const WITH_ELR: Self = Self(23);

    /// The version with this feature level, if 4.4.0 knows it.
    pub fn from_level(level: i16) -> Option<Self> {
        let version = Self(level);
        version.row().map(|_| version)
    }

    /// Every version that 4.4.0 knows, in ascending order, one that is not for production included.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        (FIRST_LEVEL..FIRST_LEVEL + TABLE.len() as i16).map(Self)
    }

    /// The feature level: what FeatureLevelRecord carries.
    pub fn level(self) -> i16 {
        self.0
    }

    /// Whether it may be used in production.
    pub fn is_production(self) -> bool {
        self <= Self::LATEST_PRODUCTION
    }

    /// Whether records changed between the two, so that a downgrade from one to the other may lose
    /// some.
    pub fn metadata_changed_since(self, other: Self) -> bool {
        let (low, high) = (self.min(other), self.max(other));
        (low.0 + 1..=high.0).any(|level| Self(level).row().is_some_and(|(_, changed)| *changed))
    }

    /// Whether RegisterBrokerRecord says if a broker migrates from ZooKeeper (3.4-IV0).
    pub fn allows_zk_migration(self) -> bool {
        self.0 >= 8
    }

    /// Whether SCRAM credentials may be written (3.5-IV2).
    pub fn allows_scram(self) -> bool {
        self.0 >= 11
    }

    /// Whether a shrunk ISR needs a new leader epoch: brokers before 3.6-IV0 rely on it.
    pub fn isr_shrink_bumps_leader_epoch(self) -> bool {
        self.0 < 12
    }

    /// Whether records may be in a transaction of the metadata log (3.6-IV1).
    pub fn allows_transactions(self) -> bool {
        self.0 >= 13
    }

    /// Whether delegation tokens may be written (3.6-IV2).
    pub fn allows_delegation_tokens(self) -> bool {
        self.0 >= 14
    }

    /// Whether controllers register themselves (3.7-IV0).
    pub fn allows_controller_registration(self) -> bool {
        self.0 >= 15
    }

    /// Whether replicas are assigned to log directories (3.7-IV2).
    pub fn allows_directory_assignment(self) -> bool {
        self.0 >= 17
    }

    /// Whether partitions may have eligible leader replicas (4.0-IV1).
    pub fn allows_elr(self) -> bool {
        self >= Self::WITH_ELR
    }

    /// Whether log directories may be cordoned (4.3-IV0).
    pub fn allows_cordoned_log_dirs(self) -> bool {
        self.0 >= 30
    }

    /// Whether the host of an ACL may be a range of addresses (4.4-IV1).
    pub fn allows_cidr_acls(self) -> bool {
        self.0 >= 32
    }

    /// Whether controllers may be unregistered (4.4-IV2).
    pub fn allows_controller_unregistration(self) -> bool {
        self.0 >= 33
    }

    fn row(self) -> Option<&'static (&'static str, bool)> {
        TABLE.get(usize::try_from(self.0.checked_sub(FIRST_LEVEL)?).ok()?)
    }
}

impl fmt::Display for MetadataVersion {
    /// Its name, such as `4.4-IV2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = self.row().expect("every version is a row of the table");
        f.pad(name)
    }
}

/// A text names no metadata version of 4.4.0.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no metadata.version {0}; known are {min} to {max}", min = MetadataVersion::MINIMUM,
    max = MetadataVersion::LATEST_PRODUCTION)]
pub struct ParseMetadataVersionError(String);

impl FromStr for MetadataVersion {
    type Err = ParseMetadataVersionError;

    /// Parses a version's name, or a release such as `4.4` or `4.4.0`, which stands for its last
    /// version.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let release: Vec<&str> = text.split('.').take(2).collect();
        let release = format!("{}-", release.join("."));
        let is_named = |version: &Self| version.to_string() == text;
        let is_of =
            |version: &Self| !text.contains('-') && version.to_string().starts_with(&release);
        Self::all()
            .rev()
            .find(|version| is_named(version) || is_of(version))
            .ok_or_else(|| ParseMetadataVersionError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_names_are_kafkas() {
        assert_eq!(MetadataVersion::MINIMUM.to_string(), "3.3-IV3");
        assert_eq!(MetadataVersion::LATEST_PRODUCTION.to_string(), "4.4-IV2");
        assert_eq!(
            MetadataVersion::from_level(23)
                .map(|v| v.to_string())
                .as_deref(),
            Some("4.0-IV1")
        );
        assert_eq!(MetadataVersion::from_level(6), None);
        assert_eq!(MetadataVersion::from_level(i16::MIN), None);
        assert_eq!(MetadataVersion::from_level(35), None);
        assert_eq!(MetadataVersion::all().count(), 28);
        for version in MetadataVersion::all() {
            assert_eq!(version.to_string().parse(), Ok(version));
            assert_eq!(MetadataVersion::from_level(version.level()), Some(version));
        }
    }

    #[test]
    fn a_release_stands_for_its_last_version() {
        let parse = |text: &str| {
            text.parse::<MetadataVersion>()
                .map(|version| version.to_string())
        };
        assert_eq!(parse("4.4").as_deref(), Ok("4.4-IV2"));
        assert_eq!(parse("3.7.1").as_deref(), Ok("3.7-IV4"));
        for unknown in ["", "4", "5.0", "3.2", "4.4-IV9", "4.4-"] {
            assert!(parse(unknown).is_err(), "{unknown}");
        }
    }

    #[test]
    fn what_a_downgrade_may_lose() {
        let version = |text: &str| text.parse::<MetadataVersion>().unwrap();
        assert!(version("4.4-IV2").metadata_changed_since(version("4.4-IV0")));
        assert!(version("4.4-IV0").metadata_changed_since(version("4.4-IV2")));
        assert!(!version("4.2").metadata_changed_since(version("4.0-IV1")));
        assert!(!version("4.2").metadata_changed_since(version("4.2")));
    }
}
