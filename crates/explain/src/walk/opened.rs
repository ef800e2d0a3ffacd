//! Messages inside of byte fields.

use std::sync::OnceLock;

use bytes::Bytes;
use klamm_protocol::records::{ControlKey, ControlType};
use klamm_protocol::schemas;
use klamm_schema::{Field, Schema};

use super::prefix::Length;
use super::{Context, Halt, MAX_NESTING, Walk, node};
use crate::catalog::schema;
use crate::node::{Node, Part, Place, Role, Subject, Value};

/// What a byte field holds.
#[derive(Clone, Copy)]
pub(super) enum Opening {
    /// A request with its header, without a size.
    Request,
    /// An int16 version, then a message.
    Versioned(&'static Schema),
    /// A message whose first field is its version.
    SelfVersioned(&'static Schema),
    /// A record of the metadata log: format, type and version, then a message.
    Metadata,
}

impl Walk {
    /// What a field of a message is known to hold.
    pub(super) fn opening(&self, message: &Schema, field: &Field) -> Option<Opening> {
        if self.nesting >= MAX_NESTING {
            return None;
        }
        match (message.name.as_str(), field.name.as_str()) {
            ("EnvelopeRequest", "RequestData") if self.nesting == 0 => Some(Opening::Request),
            ("EnvelopeRequest", "RequestPrincipal") => {
                schema("DefaultPrincipalData").map(Opening::Versioned)
            }
            _ => None,
        }
    }

    /// What the value of a record is known to hold.
    pub(super) fn record_opening(&self, is_control: bool, key: Option<&[u8]>) -> Option<Opening> {
        if self.nesting >= MAX_NESTING {
            return None;
        }
        if !is_control {
            return self.metadata_log.then_some(Opening::Metadata);
        }
        match ControlKey::parse(key).ok()?.kind {
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
        }
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

    fn opened(&mut self, opening: Opening, out: &mut Vec<Node>) -> Result<(), Halt> {
        match opening {
            Opening::Request => self.request(&mut Subject::default(), out),
            Opening::Versioned(schema) => {
                let version = self.number(out, ("version", "int16"), Part::Body)?;
                self.versioned(schema, version, out)
            }
            Opening::SelfVersioned(schema) => match self.peek(0) {
                Some(version) => self.versioned(schema, i16::from_be_bytes(version).into(), out),
                None => self.halt(self.at, "has no version"),
            },
            Opening::Metadata => {
                self.number(out, ("format", "uvarint"), Part::Body)?;
                let kind = self.number(out, ("type", "uvarint"), Part::Body)?;
                let version = self.number(out, ("version", "uvarint"), Part::Body)?;
                match metadata_schema(kind) {
                    Some(schema) => self.versioned(schema, version, out),
                    None => {
                        self.set_sensitive();
                        self.halt(self.at, format!("metadata records have no type {kind}"))
                    }
                }
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

/// The schema of a type of record in the metadata log.
pub(crate) fn metadata_schema(kind: i64) -> Option<&'static Schema> {
    static BY_TYPE: OnceLock<Vec<(i64, &'static Schema)>> = OnceLock::new();
    let table = BY_TYPE.get_or_init(|| {
        schemas::ALL
            .iter()
            .filter(|text| text.folder == "metadata")
            .filter_map(|text| schema(text.name))
            .filter_map(|schema| Some((schema.api_key?.into(), schema)))
            .collect()
    });
    table
        .iter()
        .find(|(known, _)| *known == kind)
        .map(|(_, schema)| *schema)
}
