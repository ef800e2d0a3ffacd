use klamm_schema::{Field, Kind, Schema, Struct, Type};

use super::Kept;

/// How a length is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// n+1 as a varint.
    Compact,
    Int16,
    Int32,
}

/// A step of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// So many bytes.
    Skip(u32),
    /// An int16 that is kept.
    Number(Kept),
    /// A length, and as many bytes.
    Sized(Form),
    /// A text that is kept.
    Text(Form, Kept),
    /// A count, and as many elements of this size.
    FixedArray(Form, u32),
    /// A count, and as many times the operations up to the [`Op::End`] at this place.
    Array(Form, usize),
    /// The end of an element.
    End,
    /// The int8 in front of a struct: negative, it goes on after this place.
    Nullable(usize),
    /// A section of tagged fields.
    Tags,
    /// The error code of a response to ApiVersions: it says whether the rest is of another version.
    UnlessUnsupported,
    /// What follows is not known.
    Unknown,
}

/// What a scan of a message does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::capture) struct Plan {
    pub(super) ops: Vec<Op>,
}

impl Plan {
    /// The plan for messages one after the other, such as a header and a body.
    pub(in crate::capture) fn new(parts: &[(&Schema, i16)]) -> Self {
        let mut plan = Self::default();
        for (schema, version) in parts {
            Planner {
                schema,
                version: *version,
            }
            .structure(&schema.root, &mut plan.ops);
        }
        plan
    }

    /// The plan for a response to ApiVersions of a version that is not known: every version has its
    /// error code at the same place.
    pub(in crate::capture) fn of_unknown_version(mut self) -> Self {
        let code = self.ops.iter().position(|op| *op == Op::UnlessUnsupported);
        self.ops.truncate(code.map_or(0, |code| code + 1));
        self.ops.push(Op::Unknown);
        self
    }
}

struct Planner<'a> {
    schema: &'a Schema,
    version: i16,
}

impl Planner<'_> {
    fn structure(&self, owner: &Struct, ops: &mut Vec<Op>) {
        for field in &owner.fields {
            if field.versions.contains(self.version) && !field.is_tagged(self.version) {
                self.field(field, ops);
            }
        }
        if self.schema.flexible_versions.contains(self.version) {
            ops.push(Op::Tags);
        }
    }

    fn field(&self, field: &Field, ops: &mut Vec<Op>) {
        let is_nullable = field.nullable_versions.contains(self.version);
        if let Type::Struct(_) = field.ty
            && is_nullable
        {
            let marker = ops.len();
            ops.push(Op::Nullable(0));
            self.value(field, &field.ty, ops);
            ops[marker] = Op::Nullable(ops.len() - 1);
            // What follows must not join with the struct's last operation.
            ops.push(Op::Skip(0));
            return;
        }
        self.value(field, &field.ty, ops);
    }

    fn value(&self, field: &Field, ty: &Type, ops: &mut Vec<Op>) {
        let form = match ty {
            _ if self.schema.is_compact(field, self.version) => Form::Compact,
            Type::String => Form::Int16,
            _ => Form::Int32,
        };
        match ty {
            Type::Struct(name) => {
                if let Some(owner) = self.schema.find(name) {
                    self.structure(owner, ops);
                }
            }
            Type::Array(element) => self.array(field, element, form, ops),
            Type::String => match self.kept(field) {
                Some(kept) => ops.push(Op::Text(form, kept)),
                None => ops.push(Op::Sized(form)),
            },
            Type::Bytes | Type::Records => match self.kept(field) {
                Some(kept) => ops.push(Op::Text(form, kept)),
                None => ops.push(Op::Sized(form)),
            },
            _ => match self.kept(field) {
                Some(_) if self.schema.name == "ApiVersionsResponse" => {
                    ops.push(Op::UnlessUnsupported);
                }
                Some(kept) => ops.push(Op::Number(kept)),
                None => skip(ty.fixed_size().unwrap_or(0) as u32, ops),
            },
        }
    }

    fn array(&self, field: &Field, element: &Type, form: Form, ops: &mut Vec<Op>) {
        let start = ops.len();
        ops.push(Op::Array(form, 0));
        // Operations of the element must not join with those before it.
        let mut body = Vec::new();
        self.value(field, element, &mut body);
        let size = match body[..] {
            [] => Some(0),
            [Op::Skip(size)] => Some(size),
            _ => None,
        };
        if let Some(size) = size {
            ops[start] = Op::FixedArray(form, size);
            return;
        }
        let offset = ops.len();
        ops.extend(body.into_iter().map(|op| moved(op, offset)));
        ops[start] = Op::Array(form, ops.len());
        ops.push(Op::End);
    }

    /// Whether a field is one of those that are kept.
    fn kept(&self, field: &Field) -> Option<Kept> {
        match (self.schema.kind, field.name.as_str()) {
            (Kind::Response, name) if field.ty == Type::Int16 && name.ends_with("ErrorCode") => {
                Some(Kept::ErrorCode)
            }
            (Kind::Header, "ClientId") => Some(Kept::ClientId),
            (Kind::Request, "Acks") if self.schema.name == "ProduceRequest" => Some(Kept::Acks),
            (Kind::Request, "RequestData") if self.schema.name == "EnvelopeRequest" => {
                Some(Kept::Inner)
            }
            (Kind::Request, "ClientSoftwareName") => Some(Kept::SoftwareName),
            (Kind::Request, "ClientSoftwareVersion") => Some(Kept::SoftwareVersion),
            _ => None,
        }
    }
}

/// Adds bytes to pass over, together with those before them.
fn skip(len: u32, ops: &mut Vec<Op>) {
    match ops.last_mut() {
        Some(Op::Skip(before)) => *before += len,
        _ => ops.push(Op::Skip(len)),
    }
}

/// An operation that is moved by `offset` places.
fn moved(op: Op, offset: usize) -> Op {
    match op {
        Op::Array(form, end) => Op::Array(form, end + offset),
        Op::Nullable(end) => Op::Nullable(end + offset),
        other => other,
    }
}
