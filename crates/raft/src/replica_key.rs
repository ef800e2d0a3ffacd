use std::fmt;

use klamm_protocol::{BrokerId, Uuid};

/// A replica of the metadata partition: a node and its metadata directory (KIP-853).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplicaKey {
    /// The node.
    pub id: BrokerId,
    /// The directory; `None` where it is not known, as with static voters.
    pub directory: Option<Uuid>,
}

impl ReplicaKey {
    /// A key from what is on the wire, where a zero directory id means that it is not known.
    pub fn new(id: BrokerId, directory: Uuid) -> Self {
        Self {
            id,
            directory: (!directory.is_zero()).then_some(directory),
        }
    }

    /// The directory id as it is on the wire.
    pub fn directory_or_zero(self) -> Uuid {
        self.directory.unwrap_or(Uuid::ZERO)
    }

    /// Whether this key, which may leave the directory open, stands for `replica`.
    pub fn stands_for(self, replica: Self) -> bool {
        self.id == replica.id && (self.directory.is_none() || self.directory == replica.directory)
    }
}

impl fmt::Display for ReplicaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.directory {
            Some(directory) => write!(f, "{}@{directory}", self.id),
            None => write!(f, "{}", self.id),
        }
    }
}
