use core::fmt;

use super::RecordsError;

/// What a control record says, from its key.
///
/// The records of [`ControlType::Abort`] and [`ControlType::Commit`] belong to a transaction (KIP-98)
/// and their value is an `EndTxnMarker`; the others belong to KRaft (KIP-595, KIP-630, KIP-853).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ControlType {
    /// A transaction was aborted.
    Abort,
    /// A transaction was committed.
    Commit,
    /// A leader was elected; the value is a `LeaderChangeMessage`.
    LeaderChange,
    /// The first record of a snapshot; the value is a `SnapshotHeaderRecord`.
    SnapshotHeader,
    /// The last record of a snapshot; the value is a `SnapshotFooterRecord`.
    SnapshotFooter,
    /// The version of KRaft's own feature; the value is a `KRaftVersionRecord`.
    KRaftVersion,
    /// The set of voters; the value is a `VotersRecord`.
    KRaftVoters,
    /// A type that this version of Kafka does not know.
    Unknown(i16),
}

impl ControlType {
    /// The number in the key.
    pub const fn code(self) -> i16 {
        match self {
            Self::Abort => 0,
            Self::Commit => 1,
            Self::LeaderChange => 2,
            Self::SnapshotHeader => 3,
            Self::SnapshotFooter => 4,
            Self::KRaftVersion => 5,
            Self::KRaftVoters => 6,
            Self::Unknown(code) => code,
        }
    }

    /// The type with a number.
    pub const fn from_code(code: i16) -> Self {
        match code {
            0 => Self::Abort,
            1 => Self::Commit,
            2 => Self::LeaderChange,
            3 => Self::SnapshotHeader,
            4 => Self::SnapshotFooter,
            5 => Self::KRaftVersion,
            6 => Self::KRaftVoters,
            _ => Self::Unknown(code),
        }
    }
}

impl fmt::Display for ControlType {
    /// Apache Kafka's name, such as `LEADER_CHANGE`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Abort => "ABORT",
            Self::Commit => "COMMIT",
            Self::LeaderChange => "LEADER_CHANGE",
            Self::SnapshotHeader => "SNAPSHOT_HEADER",
            Self::SnapshotFooter => "SNAPSHOT_FOOTER",
            Self::KRaftVersion => "KRAFT_VERSION",
            Self::KRaftVoters => "KRAFT_VOTERS",
            Self::Unknown(code) => return write!(f, "UNKNOWN({code})"),
        })
    }
}

/// The key of a control record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ControlKey {
    /// The key's version, 0 or more. A version above 0 is read like 0, as Apache Kafka reads it.
    pub version: i16,
    /// What the record says.
    pub kind: ControlType,
}

impl ControlKey {
    /// The length in bytes of a key of version 0.
    pub const LEN: usize = 4;

    /// A key of version 0.
    pub const fn new(kind: ControlType) -> Self {
        Self { version: 0, kind }
    }

    /// Reads the key of a control record. A later version may have more bytes.
    pub fn parse(key: Option<&[u8]>) -> Result<Self, RecordsError> {
        let key = key.unwrap_or_default();
        let Some(&[a, b, c, d]) = key.first_chunk() else {
            return Err(RecordsError::ControlKeyLength(key.len()));
        };
        let version = i16::from_be_bytes([a, b]);
        if version < 0 {
            return Err(RecordsError::ControlKeyVersion(version));
        }
        Ok(Self {
            version,
            kind: ControlType::from_code(i16::from_be_bytes([c, d])),
        })
    }

    /// The key's bytes.
    pub const fn to_bytes(self) -> [u8; Self::LEN] {
        let [a, b] = self.version.to_be_bytes();
        let [c, d] = self.kind.code().to_be_bytes();
        [a, b, c, d]
    }
}
