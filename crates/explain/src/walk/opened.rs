//! Messages inside of byte fields.

use bytes::Bytes;
use klamm_protocol::ApiVersion;
use klamm_protocol::records::{ControlKey, ControlType};
use klamm_schema::{Field, Schema};

use super::prefix::Length;
use super::{Context, Halt, MAX_NESTING, Walk, node};
use crate::catalog::schema;
use crate::node::{Node, Part, Place, Role, Severity, Subject, Value};
use crate::{Contents, RecordType};

/// What a byte field holds.
#[derive(Clone, Copy)]
pub(crate) enum Opening {
    /// A request with its header, without a size.
    Request,
    /// A response with its header, without a size.
    Response(ApiVersion),
    /// An int16 version, then a message.
    Versioned(&'static Schema),
    /// The same; a version beyond the latest is read as the latest, and what follows is left over.
    Lenient(&'static Schema),
    /// A message whose first field is its version.
    SelfVersioned(&'static Schema),
    /// A record of the metadata log: format, type and version, then a message.
    Metadata,
    /// A record about remote storage: type and version, then a message.
    RemoteLog,
    /// A coordinator's key: an int16 type, then a message of version 0.
    Key(Contents),
}

impl Walk {
    /// What a field of a message is known to hold.
    pub(super) fn opening(&self, message: &Schema, field: &Field) -> Option<Opening> {
        if self.nesting >= MAX_NESTING {
            return None;
        }
        let subscription = || schema("ConsumerProtocolSubscription").map(Opening::Lenient);
        let assignment = || schema("ConsumerProtocolAssignment").map(Opening::Lenient);
        match (message.name.as_str(), field.name.as_str()) {
            ("EnvelopeRequest", "RequestData") if self.nesting == 0 => Some(Opening::Request),
            ("EnvelopeResponse", "ResponseData") if self.nesting == 0 => {
                self.inner.map(Opening::Response)
            }
            ("EnvelopeRequest", "RequestPrincipal") => {
                schema("DefaultPrincipalData").map(Opening::Versioned)
            }
            ("ConsumerGroupMemberMetadataValue", "Metadata") => subscription(),
            ("JoinGroupRequest" | "JoinGroupResponse", "Metadata")
            | ("DescribeGroupsResponse", "MemberMetadata")
            | ("GroupMetadataValue", "subscription")
                if self.of_consumers =>
            {
                subscription()
            }
            ("SyncGroupRequest" | "SyncGroupResponse", "Assignment")
            | ("DescribeGroupsResponse", "MemberAssignment")
            | ("GroupMetadataValue", "assignment")
                if self.of_consumers =>
            {
                assignment()
            }
            _ => None,
        }
    }

    /// What the key of a record is known to hold.
    pub(super) fn key_opening(&self, is_control: bool) -> Option<Opening> {
        if self.nesting >= MAX_NESTING {
            return None;
        }
        key_opening(self.contents, is_control)
    }

    /// What the value of a record is known to hold.
    pub(super) fn record_opening(&self, is_control: bool, key: Option<&[u8]>) -> Option<Opening> {
        if self.nesting >= MAX_NESTING {
            return None;
        }
        value_opening(self.contents, is_control, key)
    }

    /// Reads a field that holds a message, after its length. The window holds all of it.
    pub(super) fn open(
        &mut self,
        opening: Opening,
        length: Length,
        content: Bytes,
        mut node: Node,
        part: Part,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let len = content.len();
        node.value = Value::Opened(content);
        self.at = length.offset;
        self.nesting += 1;
        let result = self.group(out, node, |walk, out| {
            walk.at = length.offset + length.taken;
            walk.push(out, length.node("length", part))?;
            walk.window(out, len, |walk, out| walk.opened(opening, out))
        });
        self.nesting -= 1;
        result
    }

    pub(crate) fn opened(&mut self, opening: Opening, out: &mut Vec<Node>) -> Result<(), Halt> {
        match opening {
            Opening::Request => {
                let mut subject = Subject::default();
                let result = self.request(&mut subject, out);
                self.inner = subject.api;
                result
            }
            Opening::Response(api) => self.response(api, &mut Subject::default(), out),
            Opening::Versioned(schema) => {
                let version = self.number(out, ("version", "int16"), Part::Body)?;
                self.versioned(schema, version, out)
            }
            Opening::Lenient(schema) => {
                let version = self.number(out, ("version", "int16"), Part::Body)?;
                let latest = schema.valid_versions.max;
                if version > latest.into() {
                    let what = format!("version {version} is read as {latest}, the latest known");
                    self.problem(Severity::Notice, self.at, what);
                }
                self.versioned(schema, version.min(latest.into()), out)
            }
            Opening::SelfVersioned(schema) => match self.peek(0) {
                Some(version) => self.versioned(schema, i16::from_be_bytes(version).into(), out),
                None => self.halt(self.at, "has no version"),
            },
            Opening::Metadata => {
                let format = self.number(out, ("format", "uvarint"), Part::Body)?;
                if format != METADATA_FORMAT {
                    self.set_sensitive();
                    let what =
                        format!("metadata records have format {METADATA_FORMAT}, not {format}");
                    return self.halt(self.at, what);
                }
                self.typed(Contents::Metadata, out)
            }
            Opening::RemoteLog => self.typed(Contents::RemoteLog, out),
            Opening::Key(contents) => {
                let code = self.number(out, ("type", "int16"), Part::Body)?;
                match contents.record_type(code).and_then(|kind| kind.key) {
                    Some(schema) => self.versioned(schema, 0, out),
                    None => self.halt(self.at, no_type(contents, code)),
                }
            }
        }
    }

    /// Reads a type, a version and the message that they name.
    fn typed(&mut self, contents: Contents, out: &mut Vec<Node>) -> Result<(), Halt> {
        let code = self.number(out, ("type", "uvarint"), Part::Body)?;
        let kind = contents.record_type(code);
        if let (Some(kind), Some(node)) = (kind, out.last_mut()) {
            node.note = Some(kind.name.into());
        }
        let version = self.number(out, ("version", "uvarint"), Part::Body)?;
        match kind {
            Some(kind) => self.versioned(kind.value, version, out),
            None => {
                self.set_sensitive();
                self.halt(self.at, no_type(contents, code))
            }
        }
    }

    fn versioned(
        &mut self,
        schema: &'static Schema,
        version: i64,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let valid = schema.valid_versions;
        let known = i16::try_from(version)
            .ok()
            .filter(|version| valid.contains(*version));
        let Some(version) = known else {
            self.set_sensitive();
            return self.halt(
                self.at,
                format!("{} has versions {valid}, not {version}", schema.name),
            );
        };
        let group = Node {
            place: Some(Place::Message(&schema.name)),
            ..node(
                "message",
                format!("{} v{version}", schema.name),
                Role::Group,
                Part::Body,
            )
        };
        let context = Context {
            schema,
            version,
            part: Part::Body,
        };
        if self.nesting == 0 && self.message.is_none() {
            self.message = Some((&schema.name, version));
        }
        self.group(out, group, |walk, out| walk.message(context, out))
    }

    /// Reads a number that belongs to how a message is wrapped.
    fn number(
        &mut self,
        out: &mut Vec<Node>,
        (name, ty): (&'static str, &'static str),
        part: Part,
    ) -> Result<i64, Halt> {
        let offset = self.at;
        let (value, encoding) = match ty {
            "int16" => (self.integer(2)?, "2 bytes"),
            _ => (i64::from(self.unsigned_varint()?), "uvarint"),
        };
        let node = Node {
            value: Value::Int(value),
            encoding,
            offset,
            len: self.at - offset,
            ..node(name, ty, Role::Prefix, part)
        };
        self.push(out, node)?;
        Ok(value)
    }
}

/// The version of how records of the metadata log are wrapped.
const METADATA_FORMAT: i64 = 1;

fn no_type(contents: Contents, code: i64) -> String {
    let topic = contents.topic().unwrap_or("the topic");
    format!("records of {topic} have no type {code}")
}

/// What the key of a record is known to hold.
pub(crate) fn key_opening(contents: Contents, is_control: bool) -> Option<Opening> {
    match contents {
        _ if is_control => schema("ControlRecordTypeSchema").map(Opening::Lenient),
        Contents::Groups | Contents::Transactions | Contents::ShareStates => {
            Some(Opening::Key(contents))
        }
        Contents::Opaque | Contents::Metadata | Contents::RemoteLog => None,
    }
}

/// What the value of a record with this key is known to hold.
pub(crate) fn value_opening(
    contents: Contents,
    is_control: bool,
    key: Option<&[u8]>,
) -> Option<Opening> {
    if is_control {
        return match ControlKey::parse(key).ok()?.kind {
            ControlType::Abort | ControlType::Commit => {
                schema("EndTxnMarker").map(Opening::Versioned)
            }
            ControlType::LeaderChange => schema("LeaderChangeMessage").map(Opening::SelfVersioned),
            ControlType::SnapshotHeader => {
                schema("SnapshotHeaderRecord").map(Opening::SelfVersioned)
            }
            ControlType::SnapshotFooter => {
                schema("SnapshotFooterRecord").map(Opening::SelfVersioned)
            }
            ControlType::KRaftVersion => schema("KRaftVersionRecord").map(Opening::SelfVersioned),
            ControlType::KRaftVoters => schema("VotersRecord").map(Opening::SelfVersioned),
            _ => None,
        };
    }
    match contents {
        Contents::Opaque => None,
        Contents::Metadata => Some(Opening::Metadata),
        Contents::RemoteLog => Some(Opening::RemoteLog),
        Contents::Groups | Contents::Transactions | Contents::ShareStates => {
            let kind = coordinator_type(contents, key)?;
            Some(Opening::Versioned(kind.value))
        }
    }
}

/// The type that a coordinator's key names.
pub(crate) fn coordinator_type(
    contents: Contents,
    key: Option<&[u8]>,
) -> Option<&'static RecordType> {
    let code = i16::from_be_bytes(*key?.first_chunk()?);
    contents.record_type(code.into())
}
