//! Records of the metadata log, and the frame that a log record's value has.

use bytes::Bytes;
use klamm_protocol::data::metadata;
use klamm_protocol::wire::{Reader, Segments, Writer};
use klamm_protocol::{DecodeError, EncodeError, Message, write_checked};
use thiserror::Error;

use crate::MetadataVersion;

#[cfg(test)]
mod tests;

/// The version of the frame around every record.
const FRAME_VERSION: u32 = 1;

/// Why a log record's value is no metadata record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RecordError {
    /// The frame has another version than 1.
    #[error("frame version {0} is not 1; the log is not one of a KRaft cluster of 3.0 or later")]
    FrameVersion(u32),
    /// 4.4.0 has no such record.
    #[error("no metadata record has type {0}; a later release may have written the log")]
    UnknownType(u32),
    /// The type has no such version.
    #[error("{name} has no version {version}; a later release may have written the log")]
    UnknownVersion {
        /// The record's name.
        name: &'static str,
        /// The version in the frame.
        version: u32,
    },
    /// The frame or body cannot be read.
    #[error("cannot read a metadata record: {0}")]
    Decode(#[from] DecodeError),
    /// Bytes follow the body.
    #[error("{0} bytes follow a metadata record")]
    Trailing(usize),
}

macro_rules! records {
    ($($variant:ident($message:ident) = $key:literal,)+) => {
        /// A record of the metadata log.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "a variant is what its schema is")]
        pub enum Record {
            $($variant(metadata::$message),)+
        }

        $(impl From<metadata::$message> for Record {
            fn from(record: metadata::$message) -> Self {
                Self::$variant(record)
            }
        })+

        impl Record {
            /// The record type's number and its schema's name.
            pub fn kind(&self) -> (i16, &'static str) {
                match self {
                    $(Self::$variant(_) => ($key, metadata::$message::NAME),)+
                }
            }

            fn write<'w, 'm>(&'m self, version: i16, writer: Writer<'w, 'm>) -> Writer<'w, 'm> {
                match self {
                    $(Self::$variant(record) => write_checked(record, version, writer),)+
                }
            }

            fn read(key: u32, version: u32, reader: &mut Reader<'_>) -> Result<Self, RecordError> {
                match key {
                    $($key => read(reader, version).map(Self::$variant),)+
                    _ => Err(RecordError::UnknownType(key)),
                }
            }
        }
    };
}

records! {
    RegisterBroker(RegisterBrokerRecord) = 0,
    UnregisterBroker(UnregisterBrokerRecord) = 1,
    Topic(TopicRecord) = 2,
    Partition(PartitionRecord) = 3,
    Config(ConfigRecord) = 4,
    PartitionChange(PartitionChangeRecord) = 5,
    FenceBroker(FenceBrokerRecord) = 7,
    UnfenceBroker(UnfenceBrokerRecord) = 8,
    RemoveTopic(RemoveTopicRecord) = 9,
    DelegationToken(DelegationTokenRecord) = 10,
    UserScramCredential(UserScramCredentialRecord) = 11,
    FeatureLevel(FeatureLevelRecord) = 12,
    ClientQuota(ClientQuotaRecord) = 14,
    ProducerIds(ProducerIdsRecord) = 15,
    BrokerRegistrationChange(BrokerRegistrationChangeRecord) = 17,
    AccessControlEntry(AccessControlEntryRecord) = 18,
    RemoveAccessControlEntry(RemoveAccessControlEntryRecord) = 19,
    NoOp(NoOpRecord) = 20,
    ZkMigrationState(ZkMigrationStateRecord) = 21,
    RemoveUserScramCredential(RemoveUserScramCredentialRecord) = 22,
    BeginTransaction(BeginTransactionRecord) = 23,
    EndTransaction(EndTransactionRecord) = 24,
    AbortTransaction(AbortTransactionRecord) = 25,
    RemoveDelegationToken(RemoveDelegationTokenRecord) = 26,
    RegisterController(RegisterControllerRecord) = 27,
    ClearElr(ClearElrRecord) = 28,
    UnregisterController(UnregisterControllerRecord) = 29,
}

impl Record {
    /// The version in which Apache Kafka writes this record at a `metadata.version`.
    pub fn version(&self, metadata_version: MetadataVersion) -> i16 {
        let directories = metadata_version.allows_directory_assignment();
        match self {
            Self::RegisterBroker(_) if metadata_version.allows_cordoned_log_dirs() => 4,
            Self::RegisterBroker(_) if directories => 3,
            Self::RegisterBroker(_) if metadata_version.allows_zk_migration() => 2,
            Self::RegisterBroker(_) => 1,
            Self::Partition(_) | Self::PartitionChange(_) if metadata_version.allows_elr() => 2,
            Self::Partition(_) | Self::PartitionChange(_) if directories => 1,
            // The least that can carry what changed.
            Self::BrokerRegistrationChange(change) if change.cordoned_log_dirs.is_some() => 3,
            Self::BrokerRegistrationChange(change) if !change.log_dirs.is_empty() => 2,
            Self::BrokerRegistrationChange(change) if change.in_controlled_shutdown != 0 => 1,
            _ => 0,
        }
    }

    /// The value of the log record: frame version, type, version, body.
    pub fn encode(&self, version: i16) -> Result<Bytes, EncodeError> {
        let (key, _) = self.kind();
        let segments = Segments::write(|mut writer| {
            for number in [FRAME_VERSION, key as u32, version as u32] {
                writer.unsigned_varint(number);
            }
            self.write(version, writer)
        })?;
        Ok(segments.into_bytes())
    }

    /// Reads the value of a log record. Bytes and long strings are views on it.
    pub fn decode(value: &Bytes) -> Result<Self, RecordError> {
        let mut reader = Reader::new(value);
        let frame_version = reader.unsigned_varint()?;
        if frame_version != FRAME_VERSION {
            return Err(RecordError::FrameVersion(frame_version));
        }
        let key = reader.unsigned_varint()?;
        let version = reader.unsigned_varint()?;
        let record = Self::read(key, version, &mut reader)?;
        match reader.remaining() {
            0 => Ok(record),
            left => Err(RecordError::Trailing(left)),
        }
    }
}

fn read<M: Message>(reader: &mut Reader<'_>, version: u32) -> Result<M, RecordError> {
    let known = i16::try_from(version)
        .ok()
        .filter(|version| M::VERSIONS.contains(*version));
    let known = known.ok_or(RecordError::UnknownVersion {
        name: M::NAME,
        version,
    })?;
    let mut record = M::default();
    record.read(reader, known)?;
    Ok(record)
}
