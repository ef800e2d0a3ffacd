use serde_json::{Map, Number, Value as Json};

use super::random::default_value;
use super::{StructValue, Value};
use crate::{Field, Schema, Struct, Type, camel_case};

/// A message as JSON in the form that Kafka's own converters use: camel-case names, fields that the
/// version lacks and tagged fields at their default left out, ids and bytes in base64, records as
/// `…SizeInBytes`.
///
/// Source: what the converters of kafka-clients 4.4.0 print.
pub fn to_json(schema: &Schema, version: i16, value: &StructValue) -> Json {
    Walk { schema, version }.structure(&schema.root, value)
}

struct Walk<'a> {
    schema: &'a Schema,
    version: i16,
}

impl Walk<'_> {
    fn structure(&self, owner: &Struct, value: &StructValue) -> Json {
        let mut object = Map::new();
        for (field, value) in owner.fields.iter().zip(&value.fields) {
            if self.is_shown(field, value) {
                let name = camel_case(&field.name);
                match (&field.ty, value) {
                    (Type::Records, Value::Bytes(bytes)) => {
                        object.insert(format!("{name}SizeInBytes"), bytes.len().into());
                    }
                    _ => {
                        object.insert(name, self.plain(&field.ty, value));
                    }
                }
            }
        }
        Json::Object(object)
    }

    fn is_shown(&self, field: &Field, value: &Value) -> bool {
        field.versions.contains(self.version)
            && !(field.is_tagged(self.version) && *value == default_value(self.schema, field))
    }

    fn plain(&self, ty: &Type, value: &Value) -> Json {
        match value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(value) => Json::from(*value),
            Value::Float(value) => Number::from_f64(*value).map_or(Json::Null, Json::Number),
            Value::Uuid(value) => Json::String(base64(value, URL_SAFE, false)),
            Value::Text(value) => Json::String(value.clone()),
            Value::Bytes(value) => Json::String(base64(value, STANDARD, true)),
            Value::Array(values) => match ty {
                Type::Array(element) => values
                    .iter()
                    .map(|value| self.plain(element, value))
                    .collect(),
                _ => Json::Null,
            },
            Value::Struct(value) => match ty.struct_name() {
                Some(name) => self.structure(self.schema.resolve(name), value),
                None => Json::Null,
            },
        }
    }
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn base64(bytes: &[u8], alphabet: &[u8; 64], pad: bool) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        for digit in 0..4 {
            if digit <= chunk.len() {
                text.push(char::from(
                    alphabet[(bits >> (18 - 6 * digit)) as usize & 63],
                ));
            } else if pad {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_what_the_rfc_says() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes(), STANDARD, true), text);
        }
        assert_eq!(base64(&[0xff; 2], URL_SAFE, false), "__8");
    }
}
