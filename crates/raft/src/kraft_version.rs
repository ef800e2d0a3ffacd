use std::fmt;

/// The finalized level of the feature `kraft.version`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct KRaftVersion(pub i16);

impl KRaftVersion {
    /// Voters come from the configuration.
    pub const STATIC: Self = Self(0);
    /// Voters come from the log (KIP-853).
    pub const DYNAMIC: Self = Self(1);

    /// Whether the set of voters is in the log and may change.
    pub fn has_dynamic_voters(self) -> bool {
        self >= Self::DYNAMIC
    }

    /// The version of the file `quorum-state`.
    pub fn quorum_state_version(self) -> i16 {
        i16::from(self.has_dynamic_voters())
    }
}

impl fmt::Display for KRaftVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
