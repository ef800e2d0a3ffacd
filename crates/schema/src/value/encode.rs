use super::{StructValue, Value};
use crate::{Field, Schema, Struct, Type};

/// Encodes a message in a version.
///
/// The value must fit the schema: what does not is written as far as it goes, since only tests make
/// such values, and they compare what comes out.
pub fn encode(schema: &Schema, version: i16, value: &StructValue) -> Vec<u8> {
    let mut out = Vec::new();
    Encoder { schema, version }.structure(&schema.root, value, &mut out);
    out
}

struct Encoder<'a> {
    schema: &'a Schema,
    version: i16,
}

impl Encoder<'_> {
    fn structure(&self, owner: &Struct, value: &StructValue, out: &mut Vec<u8>) {
        let mut tagged = value.unknown.clone();
        for (field, value) in owner.fields.iter().zip(&value.fields) {
            if !field.versions.contains(self.version) {
                continue;
            }
            match field.tag {
                Some(tag) if field.is_tagged(self.version) => {
                    if *value != super::random::default_value(self.schema, field) {
                        let mut bytes = Vec::new();
                        self.field(field, value, &mut bytes);
                        tagged.push((tag, bytes));
                    }
                }
                _ => self.field(field, value, out),
            }
        }
        if self.schema.flexible_versions.contains(self.version) {
            tagged.sort_by_key(|(tag, _)| *tag);
            unsigned_varint(tagged.len() as u64, out);
            for (tag, bytes) in tagged {
                unsigned_varint(u64::from(tag), out);
                unsigned_varint(bytes.len() as u64, out);
                out.extend(bytes);
            }
        }
    }

    fn field(&self, field: &Field, value: &Value, out: &mut Vec<u8>) {
        let compact = self.schema.is_compact(field, self.version);
        match (&field.ty, value) {
            (Type::Struct(_), Value::Null) => {
                out.push(if field.is_tagged(self.version) {
                    0
                } else {
                    0xff
                });
            }
            (Type::Struct(_), _) => {
                if field.nullable_versions.contains(self.version) {
                    out.push(1);
                }
                self.plain(&field.ty, compact, value, out);
            }
            (Type::String, Value::Null) if !compact => out.extend((-1i16).to_be_bytes()),
            (_, Value::Null) if !compact => out.extend((-1i32).to_be_bytes()),
            (_, Value::Null) => out.push(0),
            _ => self.plain(&field.ty, compact, value, out),
        }
    }

    fn plain(&self, ty: &Type, compact: bool, value: &Value, out: &mut Vec<u8>) {
        let length = |len: usize, out: &mut Vec<u8>| match ty {
            _ if compact => unsigned_varint(len as u64 + 1, out),
            Type::String => out.extend((len as i16).to_be_bytes()),
            _ => out.extend((len as i32).to_be_bytes()),
        };
        match value {
            Value::Null => {}
            Value::Bool(value) => out.push(u8::from(*value)),
            Value::Int(value) => {
                let width = ty.fixed_size().unwrap_or(8);
                out.extend(&value.to_be_bytes()[8 - width..]);
            }
            Value::Float(value) => out.extend(value.to_be_bytes()),
            Value::Uuid(value) => out.extend(value),
            Value::Text(value) => {
                length(value.len(), out);
                out.extend(value.as_bytes());
            }
            Value::Bytes(value) => {
                length(value.len(), out);
                out.extend(value);
            }
            Value::Array(values) => {
                length(values.len(), out);
                if let Type::Array(element) = ty {
                    values
                        .iter()
                        .for_each(|value| self.plain(element, compact, value, out));
                }
            }
            Value::Struct(value) => {
                if let Some(owner) = ty.struct_name() {
                    self.structure(self.schema.resolve(owner), value, out);
                }
            }
        }
    }
}

fn unsigned_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
