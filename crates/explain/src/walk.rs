//! The walk over bytes, led by a schema.
//!
//! Every reading function appends nodes that cover what it read and nothing else. A [`Halt`] ends the
//! innermost [`Walk::window`], a run of bytes whose length is known, so that the walk goes on after it.

mod batch;
mod fields;
mod frame;
mod legacy;
mod opened;
mod options;
mod prefix;
mod record;
mod tagged;

use std::borrow::Cow;

use bytes::Bytes;
use klamm_protocol::ApiVersion;
use klamm_schema::{Schema, Struct};

use crate::Contents;
use crate::node::{Node, Part, Place, Problem, Role, Severity, Value};
use crate::words::{are, bytes, count};

pub use options::{Limits, Options};

pub(crate) use opened::{Opening, coordinator_type, key_opening, value_opening};

/// How deep messages may be inside of messages: an Envelope in a frame, a control record's value in
/// a batch, and records in what was decompressed.
const MAX_NESTING: usize = 3;

/// Why reading cannot go on where it is.
#[derive(Debug)]
pub(crate) struct Halt {
    offset: usize,
    path: String,
    what: String,
    /// Whether it ends the whole walk, since a limit is reached.
    is_limit: bool,
}

/// A message's schema in a version, and what its bytes belong to.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    pub(crate) schema: &'static Schema,
    pub(crate) version: i16,
    pub(crate) part: Part,
}

impl Context {
    fn place(self, owner: &'static Struct, field: &'static str) -> Place {
        Place::Field {
            message: &self.schema.name,
            owner: &owner.name,
            name: field,
        }
    }
}

/// A part of a path, for problems.
#[derive(Clone, Copy)]
enum Name {
    Field(&'static str),
    Index(usize),
}

pub(crate) struct Walk {
    bytes: Bytes,
    /// Where the next byte to read is.
    at: usize,
    /// Where the innermost window ends.
    end: usize,
    /// What the bytes are, if they are not the frame's own.
    region: Option<String>,
    path: Vec<Name>,
    options: Options,
    nodes_left: usize,
    decompressed_left: usize,
    nesting: usize,
    /// Whether bytes that are not read may hold secrets.
    sensitive: bool,
    /// The text of the last field called `Name` or the like, which says whether a config is a secret.
    last_name: Option<klamm_protocol::SmallString>,
    /// What records hold.
    contents: Contents,
    /// Whether the last group that was named is one of consumers.
    of_consumers: bool,
    /// The request inside of an Envelope, once it was read; what to read its response as.
    inner: Option<ApiVersion>,
    /// The name and the version of the outermost message that says its version itself.
    message: Option<(&'static str, i16)>,
    /// Whether a batch is being read whose end is missing, so that more problems say nothing new.
    quiet: bool,
    problems: Vec<Problem>,
}

impl Walk {
    pub(crate) fn new(bytes: Bytes, options: &Options) -> Self {
        Self {
            end: bytes.len(),
            bytes,
            at: 0,
            region: None,
            path: Vec::new(),
            options: *options,
            nodes_left: options.limits.nodes,
            decompressed_left: options.limits.decompressed_bytes,
            nesting: 0,
            sensitive: false,
            last_name: None,
            contents: Contents::Opaque,
            of_consumers: false,
            inner: None,
            message: None,
            quiet: false,
            problems: Vec::new(),
        }
    }

    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// How many bytes are left in the window.
    pub(crate) fn left(&self) -> usize {
        self.end - self.at
    }

    /// Marks bytes that will not be read as possible secrets.
    pub(crate) fn set_sensitive(&mut self) {
        self.sensitive = true;
    }

    /// Takes the keys and values of records for these.
    pub(crate) fn set_contents(&mut self, contents: Contents) {
        self.contents = contents;
    }

    /// Takes what is inside of an Envelope for the answer to this request.
    pub(crate) fn set_inner(&mut self, inner: Option<ApiVersion>) {
        self.inner = inner;
    }

    /// The outermost message that says its version itself.
    pub(crate) fn message_found(&self) -> Option<(&'static str, i16)> {
        self.message
    }

    /// The request inside of an Envelope.
    pub(crate) fn inner(&self) -> Option<ApiVersion> {
        self.inner
    }

    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    pub(crate) fn halt<T>(&self, offset: usize, what: impl Into<String>) -> Result<T, Halt> {
        Err(Halt {
            offset,
            path: self.path_text(),
            what: what.into(),
            is_limit: false,
        })
    }

    fn path_text(&self) -> String {
        let mut text = String::new();
        for name in &self.path {
            match name {
                Name::Field(name) if text.is_empty() => text.push_str(name),
                Name::Field(name) => text.extend([".", name]),
                Name::Index(index) => text.push_str(&format!("[{index}]")),
            }
        }
        text
    }

    pub(crate) fn problem(&mut self, severity: Severity, offset: usize, what: impl Into<String>) {
        if !self.quiet && self.problems.len() < self.options.limits.problems {
            self.problems.push(Problem {
                severity,
                offset,
                region: self.region.clone(),
                path: self.path_text(),
                what: what.into(),
            });
        }
    }

    fn stopped(&mut self, halt: Halt) {
        let is_kept = halt.is_limit || !self.quiet;
        if is_kept && self.problems.len() < self.options.limits.problems {
            self.problems.push(Problem {
                severity: Severity::Stopped,
                offset: halt.offset,
                region: self.region.clone(),
                path: halt.path,
                what: halt.what,
            });
        }
    }

    /// Reads the size in front of a frame.
    pub(crate) fn read_size(&mut self) -> Result<i64, Halt> {
        self.named("size", |walk| walk.integer(4))
    }

    /// Takes the next `len` bytes.
    fn take(&mut self, len: usize) -> Result<Bytes, Halt> {
        if len > self.left() {
            return self.halt(
                self.at,
                format!("needs {}, {} left", bytes(len), self.left_text()),
            );
        }
        let start = self.at;
        self.at += len;
        Ok(self.bytes.slice(start..self.at))
    }

    fn left_text(&self) -> String {
        let left = self.left();
        format!("{} {}", bytes(left), are(left))
    }

    /// Adds a node, if there may be one more.
    pub(crate) fn push(&mut self, out: &mut Vec<Node>, node: Node) -> Result<(), Halt> {
        self.spend_node(node.offset)?;
        out.push(node);
        Ok(())
    }

    /// Makes sure that there may be one more node, which starts at `offset`.
    fn spend_node(&mut self, offset: usize) -> Result<(), Halt> {
        if let Some(left) = self.nodes_left.checked_sub(1) {
            self.nodes_left = left;
            return Ok(());
        }
        // The node's bytes become part of what is not read.
        self.at = offset;
        let limit = self.options.limits.nodes;
        Err(Halt {
            offset,
            path: self.path_text(),
            what: format!(
                "the rest is not shown: the limit is {}",
                count(limit, "node")
            ),
            is_limit: true,
        })
    }

    /// Adds a node whose children `body` reads; it covers what they cover, also where reading halts.
    pub(crate) fn group(
        &mut self,
        out: &mut Vec<Node>,
        mut node: Node,
        body: impl FnOnce(&mut Self, &mut Vec<Node>) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        self.spend_node(self.at)?;
        let mut children = Vec::new();
        node.offset = self.at;
        let result = body(self, &mut children);
        node.len = self.at - node.offset;
        node.children = children;
        // What could not be read at all has nothing to show.
        if result.is_ok() || !node.children.is_empty() {
            out.push(node);
        }
        result
    }

    /// Lets `body` read the next `len` bytes and no more, and covers what it left of them.
    /// The caller has made sure that there are as many.
    pub(crate) fn window(
        &mut self,
        out: &mut Vec<Node>,
        len: usize,
        body: impl FnOnce(&mut Self, &mut Vec<Node>) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let outer = self.end;
        self.end = self.at + len.min(self.left());
        let result = body(self, out);
        let left = self.left();
        let result = match result {
            Err(halt) if halt.is_limit => Err(halt),
            Err(halt) => {
                self.stopped(halt);
                self.rest(out);
                Ok(())
            }
            Ok(()) if left > 0 => {
                self.problem(
                    Severity::Notice,
                    self.at,
                    format!("{} left over", bytes(left)),
                );
                self.rest(out);
                Ok(())
            }
            Ok(()) => Ok(()),
        };
        self.end = outer;
        result
    }

    /// Whether bytes that are not read are left out, since they may hold secrets: the metadata log
    /// has credentials and passwords in configs.
    fn hides_unread(&self) -> bool {
        let may_hold = self.sensitive || self.contents == Contents::Metadata;
        may_hold && !self.options.show_secrets
    }

    /// Covers what the window has left.
    pub(crate) fn rest(&mut self, out: &mut Vec<Node>) {
        let left = self.left();
        if left == 0 {
            return;
        }
        let start = self.at;
        self.at = self.end;
        out.push(Node {
            value: if self.hides_unread() {
                Value::Hidden(left)
            } else {
                Value::Bytes(self.bytes.slice(start..self.end))
            },
            offset: start,
            len: left,
            ..node("not read", "bytes", Role::Rest, Part::Unread)
        });
    }

    /// Ends the walk: covers every byte that is left, and keeps why it was left.
    pub(crate) fn finish(&mut self, result: Result<(), Halt>, out: &mut Vec<Node>) {
        if let Err(halt) = result {
            self.stopped(halt);
        }
        self.end = self.bytes.len();
        self.rest(out);
    }

    /// Reads with a name on the path.
    fn named<T>(&mut self, name: &'static str, body: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(Name::Field(name));
        let result = body(self);
        self.path.pop();
        result
    }

    fn indexed<T>(&mut self, index: usize, body: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(Name::Index(index));
        let result = body(self);
        self.path.pop();
        result
    }
}

/// A node of no bytes.
pub(crate) fn node(
    name: impl Into<Cow<'static, str>>,
    ty: impl Into<Cow<'static, str>>,
    role: Role,
    part: Part,
) -> Node {
    Node {
        name: name.into(),
        ty: ty.into(),
        role,
        part,
        value: Value::None,
        encoding: "",
        offset: 0,
        len: 0,
        prefix: 0,
        note: None,
        place: None,
        children: Vec::new(),
        inside: None,
    }
}
