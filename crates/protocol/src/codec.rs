use bytes::Bytes;
use thiserror::Error;

use crate::{DecodeError, EncodeError, Message, VersionRange, data, decode, encode, messages};

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// The body of a request.
    Request,
    /// The body of a response.
    Response,
    /// A request's or response's header.
    Header,
    /// A record of the metadata log.
    Metadata,
    /// Anything else that is stored: raft, storage and embedded data.
    Data,
    /// The key of a coordinator's record.
    CoordinatorKey,
    /// The value of a coordinator's record.
    CoordinatorValue,
}

/// A message whose type is known only when the program runs.
///
/// [`codecs`] lists them all, `messages::CODECS` and each module of `data` their own: for tests,
/// fuzzing and tools that go over every message.
#[derive(Clone, Copy, Debug)]
pub struct Codec {
    /// The schema's name, such as `ElectLeadersRequest`.
    pub name: &'static str,
    /// What it is for.
    pub kind: MessageKind,
    /// The API's key; for metadata and coordinator records the record type.
    pub api_key: Option<i16>,
    /// Every version that is coded.
    pub versions: VersionRange,
    /// The versions with compact lengths and tagged fields.
    pub flexible: VersionRange,
    recode: fn(&Bytes, i16, i16) -> Result<Transcoded, TranscodeError>,
}

/// What became of bytes that were decoded and encoded again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcoded {
    /// The value, encoded again in the same version.
    pub bytes: Bytes,
    /// How many bytes were left after the value.
    pub left: usize,
}

/// Why bytes could not be decoded and encoded again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TranscodeError {
    /// They could not be decoded.
    #[error("cannot decode: {0}")]
    Decode(#[from] DecodeError),
    /// What they decode to cannot be encoded.
    #[error("cannot encode: {0}")]
    Encode(#[from] EncodeError),
}

impl Codec {
    /// The codec of a message type.
    pub const fn of<M: Message>(kind: MessageKind, api_key: Option<i16>) -> Self {
        Self {
            name: M::NAME,
            kind,
            api_key,
            versions: M::VERSIONS,
            flexible: M::FLEXIBLE,
            recode: recode::<M>,
        }
    }

    /// Decodes bytes in a version and encodes the value again.
    pub fn transcode(&self, bytes: &Bytes, version: i16) -> Result<Transcoded, TranscodeError> {
        self.recode(bytes, version, version)
    }

    /// Decodes bytes in a version and encodes the value in another, which may not be able to carry it.
    pub fn recode(&self, bytes: &Bytes, from: i16, to: i16) -> Result<Transcoded, TranscodeError> {
        (self.recode)(bytes, from, to)
    }
}

/// Every message, in an order that does not change while the schemas do not.
pub fn codecs() -> impl Iterator<Item = &'static Codec> {
    let folders = data::FOLDERS.iter().copied();
    core::iter::once(messages::CODECS).chain(folders).flatten()
}

fn recode<M: Message>(bytes: &Bytes, from: i16, to: i16) -> Result<Transcoded, TranscodeError> {
    let decoded = decode::<M>(bytes, from)?;
    Ok(Transcoded {
        bytes: encode(&decoded.value, to)?,
        left: decoded.left,
    })
}
