//! Structs, fields and tagged fields of a schema.

use core::net::IpAddr;
use std::borrow::Cow;

use klamm_protocol::{ApiKey, ErrorCode, SmallString};
use klamm_schema::{Field, Struct, Type};

use super::prefix::LengthForm;
use super::{Context, Halt, Walk, node};
use crate::node::{Node, Place, Role, Severity, Value};
use crate::{Contents, secrets};

/// The id of the topic that KRaft keeps the metadata log in (KIP-595).
const METADATA_TOPIC_ID: u128 = 1;
/// The protocol type of groups whose members are consumers.
const CONSUMERS: &str = "consumer";

impl Walk {
    /// Reads all fields of a message.
    pub(crate) fn message(&mut self, context: Context, out: &mut Vec<Node>) -> Result<(), Halt> {
        self.sensitive |= secrets::has_any(&context.schema.name);
        self.structure(context, &context.schema.root, out)
    }

    pub(super) fn structure(
        &mut self,
        context: Context,
        owner: &'static Struct,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        for field in &owner.fields {
            if field.versions.contains(context.version) && !field.is_tagged(context.version) {
                self.named(&field.name, |walk| walk.field(context, owner, field, out))?;
            }
        }
        if context.schema.flexible_versions.contains(context.version) {
            self.tagged(context, owner, out)?;
        }
        Ok(())
    }

    pub(super) fn field(
        &mut self,
        context: Context,
        owner: &'static Struct,
        field: &'static Field,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let node = Node {
            place: Some(context.place(owner, &field.name)),
            ..node(
                field.name.as_str(),
                type_name(&field.ty),
                Role::Field,
                context.part,
            )
        };
        match &field.ty {
            Type::Struct(_) if field.nullable_versions.contains(context.version) => {
                self.nullable_struct(context, field, node, out)
            }
            ty => self.plain(context, owner, field, ty, node, out),
        }
    }

    fn nullable_struct(
        &mut self,
        context: Context,
        field: &'static Field,
        mut node: Node,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let offset = self.at;
        // The marker of a tagged struct is an unsigned varint, that of another an int8.
        let (present, marker, ty, encoding) = if field.is_tagged(context.version) {
            let marker = i64::from(self.unsigned_varint()?);
            (marker > 0, marker, "uvarint", "0 for null")
        } else {
            let marker = self.integer(1)?;
            (marker >= 0, marker, "int8", "-1 for null")
        };
        let len = self.at - offset;
        node.encoding = encoding;
        if !present {
            node.value = Value::Null;
            (node.offset, node.len, node.prefix) = (offset, len, len);
            return self.push(out, node);
        }
        self.at = offset;
        self.group(out, node, |walk, out| {
            walk.at = offset + len;
            let marker = Node {
                value: Value::Int(marker),
                encoding,
                offset,
                len,
                ..super::node("present", ty, Role::Prefix, context.part)
            };
            walk.push(out, marker)?;
            match context
                .schema
                .find(field.ty.struct_name().unwrap_or_default())
            {
                Some(owner) => walk.structure(context, owner, out),
                None => Ok(()),
            }
        })
    }

    /// Reads a value, of a field or of an element of one.
    fn plain(
        &mut self,
        context: Context,
        owner: &'static Struct,
        field: &'static Field,
        ty: &'static Type,
        node: Node,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let is_element = node.role == Role::Element;
        let nullable = !is_element && field.nullable_versions.contains(context.version);
        let form = LengthForm::of(ty, context.schema.is_compact(field, context.version));
        match ty {
            Type::Struct(name) => {
                self.group(out, node, |walk, out| match context.schema.find(name) {
                    Some(owner) => walk.structure(context, owner, out),
                    None => Ok(()),
                })
            }
            Type::Array(element) => self.array(
                context,
                (owner, field),
                element,
                (form, nullable),
                node,
                out,
            ),
            Type::Records => self.records_field(form, nullable, node, out),
            Type::String | Type::Bytes => {
                self.sized(context, (owner, field), ty, (form, nullable), node, out)
            }
            _ => self.fixed(field, ty, node, out),
        }
    }

    fn array(
        &mut self,
        context: Context,
        (owner, field): (&'static Struct, &'static Field),
        element: &'static Type,
        (form, nullable): (LengthForm, bool),
        mut node: Node,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let count = self.length(form)?;
        node.encoding = if form == LengthForm::Compact {
            count.encoding
        } else {
            "int32 count"
        };
        let Some(elements) = count.len.filter(|len| *len > 0) else {
            node.value = count.len.map_or(Value::Null, Value::Count);
            (node.offset, node.len, node.prefix) = (count.offset, count.taken, count.taken);
            if count.len.is_none() && !nullable {
                self.not_nullable(count.offset);
            }
            return self.push(out, node);
        };
        node.value = Value::Count(elements);
        let encoding = node.encoding;
        self.at = count.offset;
        self.group(out, node, |walk, out| {
            walk.at = count.offset + count.taken;
            let mut prefix = count.node("count", context.part);
            prefix.encoding = encoding;
            walk.push(out, prefix)?;
            let place = element.struct_name().map(|name| Place::Struct {
                message: &context.schema.name,
                name,
            });
            for index in 0..elements {
                let node = Node {
                    place,
                    ..super::node(
                        format!("[{index}]"),
                        type_name(element),
                        Role::Element,
                        context.part,
                    )
                };
                walk.indexed(index, |walk| {
                    walk.plain(context, owner, field, element, node, out)
                })?;
            }
            Ok(())
        })
    }

    fn sized(
        &mut self,
        context: Context,
        (owner, field): (&'static Struct, &'static Field),
        ty: &'static Type,
        (form, nullable): (LengthForm, bool),
        mut node: Node,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let length = self.length(form)?;
        node.encoding = length.encoding;
        let mut node = self.check(length, node, out)?;
        let Some(len) = length.len else {
            if !nullable {
                self.not_nullable(length.offset);
            }
            node.value = Value::Null;
            (node.offset, node.len, node.prefix) = (length.offset, length.taken, length.taken);
            return self.push(out, node);
        };
        let start = self.at;
        let content = self.bytes.slice(start..start + len);
        if let Some(opening) = self.opening(context.schema, field).filter(|_| len > 0) {
            return self.open(opening, length, content, node, context.part, out);
        }
        let is_secret = secrets::is_secret(
            &context.schema.name,
            owner,
            field,
            self.last_name.as_deref(),
        );
        self.at += len;
        node.value = if is_secret && !self.options.show_secrets && len > 0 {
            Value::Hidden(len)
        } else if *ty == Type::Bytes {
            node.note = address(&field.name, &content);
            Value::Bytes(content)
        } else {
            match SmallString::try_from(content.clone()) {
                Ok(text) => {
                    self.notice_name(field, &text);
                    Value::Text(text)
                }
                Err(_) => {
                    self.problem(Severity::Broken, start, "string is not valid UTF-8");
                    Value::Bytes(content)
                }
            }
        };
        (node.offset, node.len, node.prefix) =
            (length.offset, self.at - length.offset, length.taken);
        self.push(out, node)
    }

    fn not_nullable(&mut self, offset: usize) {
        self.problem(
            Severity::Broken,
            offset,
            "is null, which it may not be in this version",
        );
    }

    /// Keeps what later fields depend on.
    fn notice_name(&mut self, field: &Field, text: &SmallString) {
        if secrets::names_config(field) {
            self.last_name = Some(text.clone());
        }
        if field.entity_type.as_deref() == Some("topicName") {
            self.contents = Contents::of_topic(text);
        }
        if field.name.eq_ignore_ascii_case("ProtocolType") {
            self.of_consumers = &**text == CONSUMERS;
        }
    }

    fn fixed(
        &mut self,
        field: &'static Field,
        ty: &'static Type,
        mut node: Node,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let offset = self.at;
        let width = ty.fixed_size().unwrap_or(0);
        (node.value, node.encoding) = match ty {
            Type::Float64 => {
                let bits = self.integer(8)?;
                (Value::Float(f64::from_bits(bits as u64)), "IEEE 754")
            }
            Type::Uuid => {
                let mut id = [0; 16];
                id.copy_from_slice(&self.take(16)?);
                if field.name == "TopicId" {
                    self.contents = if u128::from_be_bytes(id) == METADATA_TOPIC_ID {
                        Contents::Metadata
                    } else {
                        Contents::Opaque
                    };
                }
                (Value::Uuid(id), "16 bytes")
            }
            Type::Bool => {
                let byte = self.integer(1)?;
                if byte != 0 && byte != 1 {
                    node.note = Some(format!("byte {:#04x} counts as true", byte as u8).into());
                }
                (Value::Bool(byte != 0), "1 byte")
            }
            Type::Uint16 => (Value::Int(self.integer(2)? & 0xffff), "2 bytes"),
            Type::Uint32 => (Value::Int(self.integer(4)? & 0xffff_ffff), "4 bytes"),
            _ => {
                let value = self.integer(width)?;
                node.note = note(&field.name, ty, value);
                let encoding = match width {
                    1 => "1 byte",
                    2 => "2 bytes",
                    4 => "4 bytes",
                    _ => "8 bytes",
                };
                (Value::Int(value), encoding)
            }
        };
        (node.offset, node.len) = (offset, width);
        self.push(out, node)
    }
}

fn type_name(ty: &'static Type) -> Cow<'static, str> {
    match ty {
        Type::Struct(name) => name.as_str().into(),
        _ => ty.to_string().into(),
    }
}

/// The address that bytes stand for.
fn address(name: &str, bytes: &[u8]) -> Option<Cow<'static, str>> {
    if name != "ClientHostAddress" {
        return None;
    }
    let address = if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
        IpAddr::from(bytes)
    } else {
        IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?)
    };
    Some(address.to_string().into())
}

/// What a number stands for.
fn note(name: &str, ty: &Type, value: i64) -> Option<Cow<'static, str>> {
    if *ty != Type::Int16 {
        return None;
    }
    let value = i16::try_from(value).ok()?;
    match name {
        "ApiKey" | "RequestApiKey" => ApiKey(value).name().map(Cow::from),
        _ if name.ends_with("ErrorCode") => ErrorCode(value).name().map(Cow::from),
        _ => None,
    }
}
