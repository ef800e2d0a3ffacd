use std::collections::BTreeMap;
use std::fmt;

use klamm_protocol::BrokerId;

/// A host and port to connect to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// A name or an address.
    pub host: String,
    /// The TCP port.
    pub port: u16,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Where a node listens, by listener name. Names are compared without regard to case, as Kafka does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoints {
    by_listener: BTreeMap<String, Endpoint>,
}

impl Endpoints {
    /// One endpoint.
    pub fn one(listener: &str, endpoint: Endpoint) -> Self {
        [(listener.to_owned(), endpoint)].into_iter().collect()
    }

    /// The endpoint of a listener.
    pub fn endpoint(&self, listener: &str) -> Option<&Endpoint> {
        self.by_listener.get(&listener.to_uppercase())
    }

    /// How many listeners there are.
    pub fn len(&self) -> usize {
        self.by_listener.len()
    }

    /// Whether there is no listener.
    pub fn is_empty(&self) -> bool {
        self.by_listener.is_empty()
    }

    /// Names in upper case with their endpoints, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Endpoint)> {
        self.by_listener
            .iter()
            .map(|(name, endpoint)| (name.as_str(), endpoint))
    }
}

impl FromIterator<(String, Endpoint)> for Endpoints {
    fn from_iter<I: IntoIterator<Item = (String, Endpoint)>>(iter: I) -> Self {
        let by_listener = iter
            .into_iter()
            .map(|(name, endpoint)| (name.to_uppercase(), endpoint))
            .collect();
        Self { by_listener }
    }
}

/// A node to send a request to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its id; less than -1 for a bootstrap server, whose id is not known.
    pub id: BrokerId,
    /// Where it listens for controllers.
    pub endpoint: Endpoint,
}
