//! Bytes become trees.

use bytes::Bytes;
use klamm_protocol::ApiVersion;
use klamm_schema::Schema;

use crate::capture::{RequestHead, Tokens};
use crate::node::{Node, Part, Place, Role, Severity, Subject, Tree, Value};
use crate::walk::{Context, Halt, Opening, Options, Walk, node};
use crate::words::{are, bytes, does};
use crate::{Contents, Direction};

/// Bytes of the length in front of a frame.
const SIZE: usize = 4;

/// Explains a request: size, header and body.
pub fn request(frame: Bytes, options: &Options) -> Tree {
    sized(frame, "request", options, |walk, subject, out| {
        walk.request(subject, out)
    })
}

/// Explains a response to a request of this API and version: size, header and body.
pub fn response(frame: Bytes, api: ApiVersion, options: &Options) -> Tree {
    response_with(frame, api, None, options)
}

/// Explains a response as [`response`] does; where it is that to an Envelope, what is inside is the
/// response to `inner`, which [`Subject::inner`] names of the request.
pub fn response_with(
    frame: Bytes,
    api: ApiVersion,
    inner: Option<ApiVersion>,
    options: &Options,
) -> Tree {
    sized(frame, "response", options, |walk, subject, out| {
        walk.set_inner(inner);
        walk.response(api, subject, out)
    })
}

/// Explains a response to a request that is not known: its size and correlation id.
pub fn unmatched_response(frame: Bytes, options: &Options) -> Tree {
    sized(frame, "response", options, |walk, subject, out| {
        walk.unmatched_response(subject, out)
    })
}

/// Explains a token of SASL without a header, as it follows SaslHandshake v0 (KIP-43).
pub fn token(frame: Bytes, direction: Direction, options: &Options) -> Tree {
    sized(frame, direction.name(), options, |walk, subject, out| {
        subject.direction = Some(direction);
        walk.token(out)
    })
}

/// Explains a body without size and header.
pub fn body(bytes: Bytes, api: ApiVersion, direction: Direction, options: &Options) -> Tree {
    whole(
        bytes,
        node(direction.name(), "body", Role::Group, Part::Body),
        options,
        |walk, subject, out| walk.body(api, direction, subject, out),
    )
}

/// Explains a message of any schema, such as a record of the metadata log or a coordinator's key.
pub fn message(bytes: Bytes, schema: &'static Schema, version: i16, options: &Options) -> Tree {
    let root = node(
        "message",
        format!("{} v{version}", schema.name),
        Role::Group,
        Part::Body,
    );
    whole(bytes, root, options, |walk, subject, out| {
        subject.message = Some(&schema.name);
        subject.message_version = Some(version);
        let context = Context {
            schema,
            version,
            part: Part::Body,
        };
        walk.message(context, out)
    })
}

/// Explains record batches: a records field, or the bytes of a log segment.
pub fn records(bytes: Bytes, contents: Contents, options: &Options) -> Tree {
    let root = node("records", "records", Role::Group, Part::Body);
    whole(bytes, root, options, |walk, _, out| {
        walk.set_contents(contents);
        walk.batches(out)
    })
}

/// Explains the key or the value of a record.
pub(crate) fn opened(bytes: Bytes, opening: Opening, options: &Options) -> Tree {
    let root = node("message", "message", Role::Group, Part::Body);
    whole(bytes, root, options, |walk, subject, out| {
        let result = walk.opened(opening, out);
        if let Some((message, version)) = walk.message_found() {
            (subject.message, subject.message_version) = (Some(message), Some(version));
        }
        result
    })
}

fn sized(
    frame: Bytes,
    name: &'static str,
    options: &Options,
    read: impl FnOnce(&mut Walk, &mut Subject, &mut Vec<Node>) -> Result<(), Halt>,
) -> Tree {
    let root = node(name, "frame", Role::Group, Part::Frame);
    whole(frame, root, options, |walk, subject, out| {
        let size = walk.size(out)?;
        let there = walk.left();
        let Ok(size) = usize::try_from(size) else {
            walk.set_sensitive();
            return walk.halt(0, format!("size {size} is negative"));
        };
        if size > there {
            let what = format!(
                "says that {} follow{}, {there} {} here",
                bytes(size),
                does(size),
                are(there)
            );
            walk.problem(Severity::Broken, 0, what);
        }
        walk.window(out, size.min(there), |walk, out| read(walk, subject, out))
    })
}

fn whole(
    bytes: Bytes,
    mut root: Node,
    options: &Options,
    read: impl FnOnce(&mut Walk, &mut Subject, &mut Vec<Node>) -> Result<(), Halt>,
) -> Tree {
    let mut subject = Subject::default();
    let mut walk = Walk::new(bytes.clone(), options);
    let len = bytes.len();
    let mut children = Vec::new();
    let result = walk.window(&mut children, len, |walk, out| {
        read(walk, &mut subject, out)
    });
    walk.finish(result, &mut children);
    subject.inner = walk.inner();
    root.len = len;
    root.children = children;
    Tree {
        subject,
        bytes,
        root,
        problems: walk.into_problems(),
    }
}

impl Walk {
    fn size(&mut self, out: &mut Vec<Node>) -> Result<i64, Halt> {
        let size = self.read_size()?;
        let node = Node {
            value: Value::Int(size),
            encoding: "4 bytes",
            offset: 0,
            len: SIZE,
            place: Some(Place::Field {
                message: "frame",
                owner: "frame",
                name: "size",
            }),
            ..node("size", "int32", Role::Prefix, Part::Frame)
        };
        self.push(out, node)?;
        Ok(size)
    }
}

/// A stream of frames, explained one after the other, each with where it starts: requests, or responses
/// to an API and version. Tokens of SASL without headers are told from them.
#[derive(Clone, Debug)]
pub struct Stream {
    frames: Frames,
    answered: Option<ApiVersion>,
    is_single: bool,
    tokens: Tokens,
    options: Options,
}

impl Stream {
    /// Requests, unless they are responses to the API and version in `answered`.
    pub fn new(bytes: Bytes, answered: Option<ApiVersion>, options: &Options) -> Self {
        let frames = Frames::new(bytes);
        Self {
            is_single: frames.clone().nth(1).is_none(),
            frames,
            answered,
            tokens: Tokens::default(),
            options: *options,
        }
    }

    /// Whether there is no more than one frame.
    pub fn is_single(&self) -> bool {
        self.is_single
    }

    /// How many frames are left.
    pub fn left(self) -> usize {
        self.frames.count()
    }

    fn explain(&mut self, frame: Bytes) -> Tree {
        let options = &self.options;
        if let Some(api) = self.answered {
            if self.tokens.may_come() {
                return token(frame, Direction::Response, options);
            }
            self.tokens.requested(api);
            return response(frame, api, options);
        }
        let head = frame.first_chunk().map(RequestHead::parse);
        if self.tokens.is_token(head.as_ref()) {
            return token(frame, Direction::Request, options);
        }
        if let Some(head) = head {
            self.tokens.requested(head.api);
        }
        request(frame, options)
    }
}

impl Iterator for Stream {
    type Item = (usize, Tree);

    fn next(&mut self) -> Option<Self::Item> {
        let frame = self.frames.next()?;
        Some((frame.offset, self.explain(frame.bytes)))
    }
}

/// A frame of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamFrame {
    /// Where it starts in the stream, in bytes.
    pub offset: usize,
    /// Its bytes, with the size. The last one of a stream may miss some.
    pub bytes: Bytes,
}

/// Splits a stream into frames by their sizes. A size that is negative, or larger than what is left,
/// takes all of the rest.
#[derive(Clone, Debug)]
pub struct Frames {
    stream: Bytes,
    at: usize,
}

impl Frames {
    /// The frames of a stream.
    pub fn new(stream: Bytes) -> Self {
        Self { stream, at: 0 }
    }
}

impl Iterator for Frames {
    type Item = StreamFrame;

    fn next(&mut self) -> Option<StreamFrame> {
        let rest = self.stream.slice(self.at..);
        if rest.is_empty() {
            return None;
        }
        let size = rest.first_chunk().map(|size| i32::from_be_bytes(*size));
        let len = match size.map(usize::try_from) {
            Some(Ok(size)) => (SIZE + size).min(rest.len()),
            _ => rest.len(),
        };
        let offset = self.at;
        self.at += len;
        Some(StreamFrame {
            offset,
            bytes: rest.slice(..len),
        })
    }
}
