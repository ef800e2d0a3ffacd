//! Sections of tagged fields (KIP-482).

use klamm_schema::Struct;

use super::{Context, Halt, Walk, node};
use crate::node::{Node, Part, Role, Severity, Value};

impl Walk {
    /// Reads a section of tagged fields.
    pub(super) fn tagged(
        &mut self,
        context: Context,
        owner: &'static Struct,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let offset = self.at;
        let count = self.named("tagged fields", Self::unsigned_varint)? as usize;
        let len = self.at - offset;
        let section = Node {
            value: Value::Count(count),
            encoding: "uvarint count",
            offset,
            len,
            prefix: len,
            ..node("tagged fields", "tagged fields", Role::Group, Part::Tagged)
        };
        if count == 0 {
            return self.push(out, section);
        }
        self.at = offset;
        self.group(
            out,
            Node {
                prefix: 0,
                ..section
            },
            |walk, out| {
                walk.at = offset + len;
                let prefix = Node {
                    value: Value::Int(count as i64),
                    encoding: "uvarint count",
                    offset,
                    len,
                    ..super::node("count", "uvarint", Role::Prefix, Part::Tagged)
                };
                walk.push(out, prefix)?;
                let mut previous = None;
                for _ in 0..count {
                    walk.tagged_field(context, owner, &mut previous, out)?;
                }
                Ok(())
            },
        )
    }

    fn tagged_field(
        &mut self,
        context: Context,
        owner: &'static Struct,
        previous: &mut Option<u32>,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let offset = self.at;
        let tag = self.unsigned_varint()?;
        self.at = offset;
        if let Some(previous) = previous.filter(|previous| *previous >= tag) {
            let what = format!("tag {tag} comes after tag {previous}, tags must ascend");
            self.problem(Severity::Broken, offset, what);
        }
        *previous = Some(tag);
        let known = owner
            .fields
            .iter()
            .find(|field| field.tag == Some(tag) && field.is_tagged(context.version));
        let group = node(
            format!("tag {tag}"),
            "tagged field",
            Role::Group,
            Part::Tagged,
        );
        self.group(out, group, |walk, out| {
            let start = walk.at;
            walk.unsigned_varint()?;
            let tag = Node {
                value: Value::Int(i64::from(tag)),
                encoding: "uvarint",
                offset: start,
                len: walk.at - start,
                ..super::node("tag", "uvarint", Role::Prefix, Part::Tagged)
            };
            walk.push(out, tag)?;
            let start = walk.at;
            let size = walk.unsigned_varint()? as usize;
            let prefix = Node {
                value: Value::Int(size as i64),
                encoding: "uvarint",
                offset: start,
                len: walk.at - start,
                ..super::node("size", "uvarint", Role::Prefix, Part::Tagged)
            };
            walk.push(out, prefix)?;
            if size > walk.left() {
                return walk.halt(
                    walk.at,
                    format!("needs {}, {} left", super::bytes(size), walk.left_text()),
                );
            }
            let context = Context {
                part: Part::Tagged,
                ..context
            };
            match known {
                Some(field) => walk.window(out, size, |walk, out| {
                    walk.named(&field.name, |walk| walk.field(context, owner, field, out))
                }),
                None => {
                    let data = Node {
                        offset: walk.at,
                        len: size,
                        value: Value::Bytes(walk.take(size)?),
                        encoding: "raw",
                        note: Some("a tag that this version of the schema does not know".into()),
                        ..super::node("unknown", "bytes", Role::Unknown, Part::Tagged)
                    };
                    walk.push(out, data)
                }
            }
        })
    }
}
