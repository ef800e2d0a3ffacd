use core::fmt;

use crate::VersionRange;

/// The key of an API as it is on the wire. Keys that this release does not know are kept as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiKey(pub i16);

/// An API in one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ApiVersion {
    /// The API's key.
    pub key: ApiKey,
    /// The version of request and response.
    pub version: i16,
}

/// What a listener serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Listener {
    /// Clients and other brokers.
    Broker,
    /// Brokers and controllers, and admin clients since KIP-919.
    Controller,
}

/// What the schemas say of an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    name: &'static str,
    coded: VersionRange,
    stable: VersionRange,
    flexible: VersionRange,
    listeners: &'static [Listener],
}

// Constants for every key, and the table indexed by key: generated from the schemas.
include!(concat!(env!("OUT_DIR"), "/api_keys.rs"));

impl ApiKey {
    fn known(self) -> Option<&'static Known> {
        KNOWN.get(usize::try_from(self.0).ok()?)
    }

    /// Every API of Apache Kafka 4.4.0 in the order of the keys, also those without a valid version.
    pub fn all() -> impl Iterator<Item = Self> {
        (0i16..).map(Self).take(KNOWN.len())
    }

    /// The API with this name, such as `ElectLeaders`, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|key| {
            key.name()
                .is_some_and(|known| known.eq_ignore_ascii_case(name))
        })
    }

    /// The API's name, such as `ElectLeaders`; `None` for a key of a later release.
    pub fn name(self) -> Option<&'static str> {
        self.known().map(|known| known.name)
    }

    /// The versions of its requests and responses that are coded here.
    pub fn coded_versions(self) -> VersionRange {
        self.known().map_or(VersionRange::NONE, |known| known.coded)
    }

    /// The versions that may be offered: without an unstable latest one.
    pub fn stable_versions(self) -> VersionRange {
        self.known()
            .map_or(VersionRange::NONE, |known| known.stable)
    }

    /// The listeners on which Apache Kafka serves it.
    pub fn listeners(self) -> &'static [Listener] {
        self.known().map_or(&[], |known| known.listeners)
    }

    /// The version of the request header that goes with a version of the request.
    pub fn request_header_version(self, version: i16) -> i16 {
        if self.is_flexible(version) { 2 } else { 1 }
    }

    /// The version of the response header that goes with a version of the response.
    pub fn response_header_version(self, version: i16) -> i16 {
        // A client reads the response to ApiVersions before it knows what the server speaks (KIP-511).
        i16::from(self != Self::API_VERSIONS && self.is_flexible(version))
    }

    fn is_flexible(self, version: i16) -> bool {
        self.known()
            .is_some_and(|known| known.flexible.contains(version))
    }
}

impl fmt::Display for ApiKey {
    /// `ElectLeaders (43)`, or `API 999` for a key without a name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "API {}", self.0),
        }
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} version {}", self.key, self.version)
    }
}
