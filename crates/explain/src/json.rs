//! Trees and tables as JSON; `docs/explain.md` describes it.

mod bytes;
mod capture;
mod changes;
mod log;
mod records;
mod tables;

use std::fmt;

use klamm_protocol::ApiVersion;
use klamm_schema::camel_case;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value as Json;

pub use capture::{captured, finding, summary};
pub use changes::changes;
pub use log::{
    index_end, index_entry, log_batch, log_end, log_entry, log_file, log_problem, text_file,
};
pub use records::{record_list, smallest_record_lines};
pub(crate) use tables::listener;
pub use tables::{error, errors, list};

pub(crate) use bytes::Base64;
use bytes::{Hex, Line};

use crate::decode::{request, response};
use crate::text::base64_url;
use crate::words;
use crate::{Direction, NoSuchVersion, Node, Options, Region, Role, Tree, Value, smallest_frame};

/// The smallest instance of a message, as one JSON object on one line.
pub fn smallest(api: ApiVersion, direction: Direction) -> Result<String, NoSuchVersion> {
    let frame = smallest_frame(api, direction)?;
    let tree = match direction {
        Direction::Request => request(frame, &Options::default()),
        Direction::Response => response(frame, api, &Options::default()),
    };
    Ok(line(&Message {
        tree: &tree,
        values: false,
        place: None,
    }))
}

/// Decoded bytes, as one JSON object on one line, with the values of header and body. `place` is where
/// they start in a stream of frames. What is written has several times as many bytes as the tree, and
/// is never in memory as a whole unless the caller keeps it.
pub fn decoded(tree: &Tree, place: Option<usize>) -> impl fmt::Display + '_ {
    Line(Message {
        tree,
        values: true,
        place,
    })
}

fn line(message: &impl Serialize) -> String {
    // Keys are texts and numbers are finite, so that nothing can go wrong.
    serde_json::to_string(message).expect("keys are texts")
}

struct Message<'a> {
    tree: &'a Tree,
    values: bool,
    place: Option<usize>,
}

impl Serialize for Message<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Tree {
            subject,
            bytes,
            root,
            problems,
        } = self.tree;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("api_key", &subject.api.map(|api| api.key.0))?;
        let name = subject.api.and_then(|api| api.key.name());
        map.serialize_entry("name", &name.or(subject.message))?;
        map.serialize_entry("kind", &subject.direction.map(Direction::name))?;
        map.serialize_entry("message", &subject.message)?;
        map.serialize_entry("version", &subject.api.map(|api| api.version))?;
        map.serialize_entry("header_version", &subject.header_version)?;
        map.serialize_entry("size", &bytes.len())?;
        map.serialize_entry("hex", &Hex::without(bytes, self.tree.hidden()))?;
        if let Some(place) = self.place {
            map.serialize_entry("stream_offset", &place)?;
        }
        if self.values {
            map.serialize_entry("correlation_id", &subject.correlation_id)?;
            for name in ["header", "body"] {
                let node = root.children.iter().find(|node| node.name == name);
                map.serialize_entry(name, &node.map(|node| Fields(&node.children)))?;
            }
            if root.name == "message" {
                map.serialize_entry("values", &Fields(&root.children))?;
            }
        }
        map.serialize_entry("tree", &NodeJson(root))?;
        if self.values || !problems.is_empty() {
            let problems: Vec<Json> = problems.iter().map(problem).collect();
            map.serialize_entry("problems", &problems)?;
        }
        map.end()
    }
}

fn problem(problem: &crate::Problem) -> Json {
    serde_json::json!({
        "severity": problem.severity.name(),
        "offset": problem.offset,
        "region": problem.region,
        "path": problem.path,
        "what": problem.what,
    })
}

struct NodeJson<'a>(&'a Node);

impl Serialize for NodeJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let node = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &node.name)?;
        map.serialize_entry("type", &node.ty)?;
        map.serialize_entry("value", &ValueJson(&node.value))?;
        map.serialize_entry("encoding", node.encoding)?;
        map.serialize_entry("offset", &node.offset)?;
        map.serialize_entry("length", &node.len)?;
        map.serialize_entry("part", node.part.name())?;
        map.serialize_entry("about", node.about())?;
        if let Some(note) = &node.note {
            map.serialize_entry("note", note)?;
        }
        map.serialize_entry("children", &Nodes(&node.children))?;
        if let Some(region) = &node.inside {
            map.serialize_entry("inside", &RegionJson(region))?;
        }
        map.end()
    }
}

struct Nodes<'a>(&'a [Node]);

impl Serialize for Nodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(NodeJson))
    }
}

struct RegionJson<'a>(&'a Region);

impl Serialize for RegionJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Region { what, bytes, nodes } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("what", what)?;
        map.serialize_entry("size", &bytes.len())?;
        map.serialize_entry("hex", &Hex::without(bytes, self.0.hidden()))?;
        map.serialize_entry("children", &Nodes(nodes))?;
        map.end()
    }
}

/// A node's value: bytes in hexadecimal.
struct ValueJson<'a>(&'a Value);

impl Serialize for ValueJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Bytes(bytes) => Hex::of(bytes).serialize(serializer),
            Value::Count(count) => count.serialize(serializer),
            other => plain(other, serializer),
        }
    }
}

/// A value that is no bytes and has no children. A float that is not finite is null.
fn plain<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Value::Bool(value) => value.serialize(serializer),
        Value::Int(value) => value.serialize(serializer),
        Value::Float(value) => value.serialize(serializer),
        Value::Uuid(id) => base64_url(id).serialize(serializer),
        Value::Text(text) => serializer.serialize_str(text),
        Value::Hidden(len) => {
            serializer.collect_str(&format_args!("(hidden, {})", words::bytes(*len)))
        }
        _ => serializer.serialize_none(),
    }
}

/// The fields among nodes, in the form of Kafka's own converters and in the order of the wire.
struct Fields<'a>(&'a [Node]);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        add_fields(self.0, &mut map)?;
        map.end()
    }
}

fn add_fields<M: SerializeMap>(nodes: &[Node], map: &mut M) -> Result<(), M::Error> {
    for node in nodes {
        match node.role {
            // Sections of tagged fields, and the fields in them.
            Role::Group => add_fields(&node.children, map)?,
            Role::Field => {
                let name = camel_case(&node.name);
                match &node.value {
                    Value::Opened(bytes) | Value::Bytes(bytes) if node.ty == "records" => {
                        map.serialize_entry(&format!("{name}SizeInBytes"), &bytes.len())?;
                    }
                    _ => map.serialize_entry(&name, &FieldJson(node))?,
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The value of a field or of an element.
struct FieldJson<'a>(&'a Node);

impl Serialize for FieldJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let node = self.0;
        match &node.value {
            Value::Count(_) => {
                let children = node.children.iter();
                let elements = children.filter(|child| child.role == Role::Element);
                serializer.collect_seq(elements.map(FieldJson))
            }
            Value::None => Fields(&node.children).serialize(serializer),
            Value::Bytes(bytes) => Base64(bytes).serialize(serializer),
            Value::Opened(bytes) => {
                let mut hides = false;
                node.leaves(&mut |leaf| hides |= matches!(leaf.value, Value::Hidden(_)));
                if hides {
                    plain(&Value::Hidden(bytes.len()), serializer)
                } else {
                    Base64(bytes).serialize(serializer)
                }
            }
            other => plain(other, serializer),
        }
    }
}
