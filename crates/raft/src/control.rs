use bytes::Bytes;
use klamm_protocol::data::clients::{KRaftVersionRecord, LeaderChangeMessage, VotersRecord};
use klamm_protocol::records::{
    BatchBuilder, BatchOptions, BuildError, ControlKey, ControlType, DecompressLimit, RecordBatch,
    RecordsError,
};
use klamm_protocol::{DecodeError, LeaderEpoch, Message, Offset, decode, encode};
use thiserror::Error;

use crate::{KRaftVersion, VoterSet};

/// A control record of the metadata log that tells KRaft something.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlRecord {
    /// The finalized level of `kraft.version`.
    KRaftVersion(KRaftVersion),
    /// The set of voters.
    Voters(VoterSet),
    /// The start of a leader's epoch.
    LeaderChange(LeaderChangeMessage),
}

/// A control record cannot be read.
#[derive(Debug, Error)]
pub enum ControlError {
    /// The batch is damaged.
    #[error(transparent)]
    Batch(#[from] RecordsError),
    /// The record's value is not what its kind says.
    #[error("{kind} control record at offset {offset}: {source}")]
    Value {
        /// What the record should be.
        kind: ControlType,
        /// Where it is.
        offset: Offset,
        /// What is wrong with it.
        source: DecodeError,
    },
}

impl ControlRecord {
    /// The records of a control batch that matter here, with their offsets. Kinds that belong to
    /// snapshots or transactions are left out, and so are kinds that are not known.
    pub fn read(batch: &RecordBatch) -> Result<Vec<(Offset, Self)>, ControlError> {
        let mut found = Vec::new();
        for record in &batch.records(DecompressLimit::DEFAULT)? {
            let record = record?;
            let kind = ControlKey::parse(record.key())?.kind;
            let value = record.value_bytes().unwrap_or_default();
            let offset = record.offset();
            let read = match kind {
                ControlType::KRaftVersion => value_of::<KRaftVersionRecord>(&value)
                    .map(|record| Self::KRaftVersion(KRaftVersion(record.k_raft_version))),
                ControlType::KRaftVoters => value_of::<VotersRecord>(&value)
                    .map(|record| Self::Voters(VoterSet::from_record(&record))),
                ControlType::LeaderChange => {
                    value_of::<LeaderChangeMessage>(&value).map(Self::LeaderChange)
                }
                _ => continue,
            };
            let read = read.map_err(|source| ControlError::Value {
                kind,
                offset,
                source,
            })?;
            found.push((offset, read));
        }
        Ok(found)
    }

    /// A batch of control records, uncompressed.
    pub(crate) fn batch(
        records: &[Self],
        base_offset: Offset,
        epoch: LeaderEpoch,
        timestamp_ms: i64,
    ) -> Bytes {
        let mut builder = BatchBuilder::new(BatchOptions {
            base_offset,
            partition_leader_epoch: epoch,
            control: true,
            ..BatchOptions::default()
        });
        for record in records {
            record
                .append_to(&mut builder, timestamp_ms)
                .expect("control records go into a control batch, and voters are few");
        }
        let batch = builder.finish().expect("a batch with a record in it");
        batch.into_bytes()
    }

    /// Appends the record to a batch of control records.
    pub fn append_to(
        &self,
        builder: &mut BatchBuilder,
        timestamp_ms: i64,
    ) -> Result<(), BuildError> {
        let (kind, value) = self.kind_and_value();
        builder
            .append_control(kind, timestamp_ms, &value)
            .map(|_| ())
    }

    fn kind_and_value(&self) -> (ControlType, Bytes) {
        match self {
            Self::KRaftVersion(version) => {
                let record = KRaftVersionRecord {
                    version: 0,
                    k_raft_version: version.0,
                    ..KRaftVersionRecord::default()
                };
                (ControlType::KRaftVersion, value(&record, 0))
            }
            Self::Voters(voters) => (ControlType::KRaftVoters, value(&voters.to_record(), 0)),
            Self::LeaderChange(message) => {
                (ControlType::LeaderChange, value(message, message.version))
            }
        }
    }
}

fn value<M: Message>(message: &M, version: i16) -> Bytes {
    encode(message, version).expect("KRaft's own records fit their versions")
}

/// Reads a value in the version that its first field names, or in the latest one that is known.
fn value_of<M: Message>(value: &Bytes) -> Result<M, DecodeError> {
    let version = value
        .first_chunk()
        .map_or(0, |bytes: &[u8; 2]| i16::from_be_bytes(*bytes));
    let version = version.clamp(M::VERSIONS.min, M::VERSIONS.max);
    decode(value, version).map(|decoded| decoded.value)
}
