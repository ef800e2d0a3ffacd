use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use klamm_protocol::{ApiVersion, SmallString};

use crate::Direction;
use crate::about;

/// What bytes belong to; a layout has a colour for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The length in front of a frame.
    Frame,
    /// The header of a request or response.
    Header,
    /// The body: fields of a message.
    Body,
    /// The fields of a record batch, or of a message of the older formats.
    Batch,
    /// A record.
    Record,
    /// A section of tagged fields.
    Tagged,
    /// Bytes that could not be read, or that follow the end.
    Unread,
}

impl Part {
    /// Every part, in the order in which a frame has them.
    pub const ALL: [Self; 7] = [
        Self::Frame,
        Self::Header,
        Self::Body,
        Self::Batch,
        Self::Record,
        Self::Tagged,
        Self::Unread,
    ];

    /// The name in texts and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Header => "header",
            Self::Body => "body",
            Self::Batch => "batch",
            Self::Record => "record",
            Self::Tagged => "tagged fields",
            Self::Unread => "unread",
        }
    }
}

/// What a node is to the nodes around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A frame, header or body, a section of tagged fields, or one tagged field with tag and size.
    Group,
    /// A field with a name and a value.
    Field,
    /// An element of an array, a batch, or a record.
    Element,
    /// A length, count, marker, tag or size: how the next node is encoded, not a value of its own.
    Prefix,
    /// The bytes of a tagged field that the schema does not know.
    Unknown,
    /// Bytes that were not read.
    Rest,
}

/// A node's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// None: its children are what there is.
    None,
    /// Null.
    Null,
    /// A `bool`.
    Bool(bool),
    /// Any integer.
    Int(i64),
    /// A `float64`.
    Float(f64),
    /// A `uuid`.
    Uuid([u8; 16]),
    /// A `string`.
    Text(SmallString),
    /// Bytes, without what their length is encoded in.
    Bytes(Bytes),
    /// Bytes that the children explain: records, or a message inside of a message.
    Opened(Bytes),
    /// How many elements an array has, as it says itself.
    Count(usize),
    /// A secret of so many bytes.
    Hidden(usize),
}

/// Where a description is to be found. Names are those of schemas, or of formats that have none, such
/// as `RecordBatch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A message as a whole.
    Message(&'static str),
    /// A struct inside of a message.
    Struct {
        /// The message's name.
        message: &'static str,
        /// The struct's name.
        name: &'static str,
    },
    /// A field.
    Field {
        /// The message's name, such as `ElectLeadersRequest`.
        message: &'static str,
        /// The struct's name; the message's for its own fields.
        owner: &'static str,
        /// The field's name.
        name: &'static str,
    },
}

/// A run of bytes with a meaning.
///
/// The children of a node lie side by side and cover it; nodes without children cover their region
/// without a gap.
#[derive(Clone, Debug)]
pub struct Node {
    /// The field's name in the schema, `[0]` for an element, or a word for what no schema names.
    pub name: Cow<'static, str>,
    /// The type in the schema's words.
    pub ty: Cow<'static, str>,
    /// What it is to the nodes around it.
    pub role: Role,
    /// What its bytes belong to.
    pub part: Part,
    /// The value.
    pub value: Value,
    /// How the value, or its length, is encoded.
    pub encoding: &'static str,
    /// Where it starts, in bytes from the start of its region.
    pub offset: usize,
    /// How many bytes it takes.
    pub len: usize,
    /// How many of them, at the front, say how long the value is.
    pub prefix: usize,
    /// What the value says: the name of an error code, a date, what attributes stand for.
    pub note: Option<Cow<'static, str>>,
    /// Where its description is.
    pub place: Option<Place>,
    /// The nodes that it is made of.
    pub children: Vec<Node>,
    /// What is in compressed bytes.
    pub inside: Option<Box<Region>>,
}

impl Node {
    /// What it means, in klamm's words; empty where nothing is known.
    pub fn about(&self) -> &'static str {
        self.place.and_then(about::find).unwrap_or_default()
    }

    /// Where it ends, in bytes from the start of its region.
    pub fn end(&self) -> usize {
        self.offset + self.len
    }

    /// Calls `visit` for the node, those below it, and those inside of compressed ones, with the depth.
    pub fn visit<'a>(&'a self, depth: usize, visit: &mut dyn FnMut(usize, &'a Node)) {
        visit(depth, self);
        for child in &self.children {
            child.visit(depth + 1, visit);
        }
        for node in self.inside.iter().flat_map(|region| &region.nodes) {
            node.visit(depth + 1, visit);
        }
    }

    /// Calls `visit` for each node without children, in the order of the bytes. Nodes inside of
    /// compressed ones count in another region and are left out.
    pub fn leaves<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        if self.children.is_empty() {
            visit(self);
        }
        for child in &self.children {
            child.leaves(visit);
        }
    }
}

/// Bytes with offsets of their own: what compressed records become.
#[derive(Clone, Debug)]
pub struct Region {
    /// What it is, such as `decompressed with zstd`.
    pub what: String,
    /// The bytes.
    pub bytes: Bytes,
    /// Nodes that cover the bytes.
    pub nodes: Vec<Node>,
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Worth knowing: bytes left over, a batch that a Fetch response cuts off.
    Notice,
    /// The bytes break the protocol, but what follows could be read.
    Broken,
    /// Reading stopped here.
    Stopped,
}

impl Severity {
    /// The name in texts and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Notice => "notice",
            Self::Broken => "broken",
            Self::Stopped => "stopped",
        }
    }
}

/// Something about bytes that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// Where, in bytes from the start of the region.
    pub offset: usize,
    /// What the region is, if it is not the frame itself.
    pub region: Option<String>,
    /// The path of names to the node.
    pub path: String,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}", self.offset)?;
        if let Some(region) = &self.region {
            write!(f, " ({region})")?;
        }
        if !self.path.is_empty() {
            write!(f, ", {}", self.path)?;
        }
        write!(f, ": {}", self.what)
    }
}

/// What a tree explains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The name of the message's schema, such as `ElectLeadersRequest`, as far as it is known.
    pub message: Option<&'static str>,
    /// The version of a message that is no request or response.
    pub message_version: Option<i16>,
    /// The API and the version, of requests and responses.
    pub api: Option<ApiVersion>,
    /// Which way it goes.
    pub direction: Option<Direction>,
    /// The version of the header, if there is one.
    pub header_version: Option<i16>,
    /// The correlation id, if there is a header.
    pub correlation_id: Option<i32>,
    /// The API and the version of the request inside of an Envelope.
    pub inner: Option<ApiVersion>,
}

/// Bytes, explained.
#[derive(Clone, Debug)]
pub struct Tree {
    /// What they are.
    pub subject: Subject,
    /// The bytes that offsets of `root` count in.
    pub bytes: Bytes,
    /// All of the bytes.
    pub root: Node,
    /// What is wrong with them, in the order in which it was found.
    pub problems: Vec<Problem>,
}

impl Tree {
    /// Whether all bytes were read and are as they should be. Notices do not count.
    pub fn is_sound(&self) -> bool {
        let mut problems = self.problems.iter();
        problems.all(|problem| problem.severity == Severity::Notice)
    }

    /// The ranges of bytes of `root` that are secrets, in order: layouts and hex leave them out.
    pub fn hidden(&self) -> Vec<std::ops::Range<usize>> {
        hidden([&self.root])
    }
}

impl Region {
    /// The ranges of its bytes that are secrets, in order.
    pub fn hidden(&self) -> Vec<std::ops::Range<usize>> {
        hidden(&self.nodes)
    }
}

fn hidden<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Vec<std::ops::Range<usize>> {
    let mut ranges = Vec::new();
    for node in nodes {
        node.leaves(&mut |leaf| {
            if matches!(leaf.value, Value::Hidden(_)) {
                ranges.push(leaf.offset + leaf.prefix..leaf.end());
            }
        });
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the limit on nodes is reckoned with; names and notes come on top.
    #[test]
    fn a_node_takes_no_more_than_the_limits_say() {
        assert!(size_of::<Node>() <= 320, "{}", size_of::<Node>());
    }
}
