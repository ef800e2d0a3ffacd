use super::random::default_value;
use super::{StructValue, Value};
use crate::{Field, Schema, Struct, Type};

/// The smallest instance of a message: numbers 0, strings and byte arrays empty (also where they may
/// be null), every array one element, nullable structs present, tagged fields at their default.
pub fn smallest(schema: &Schema, version: i16) -> StructValue {
    smallest_with_records(schema, version, &[])
}

/// The same, with these bytes in every records field.
pub fn smallest_with_records(schema: &Schema, version: i16, records: &[u8]) -> StructValue {
    Smallest {
        schema,
        version,
        records,
    }
    .structure(&schema.root)
}

struct Smallest<'a> {
    schema: &'a Schema,
    version: i16,
    records: &'a [u8],
}

impl Smallest<'_> {
    fn structure(&self, owner: &Struct) -> StructValue {
        StructValue {
            fields: owner.fields.iter().map(|field| self.field(field)).collect(),
            unknown: Vec::new(),
        }
    }

    fn field(&self, field: &Field) -> Value {
        if !field.versions.contains(self.version) || field.is_tagged(self.version) {
            return default_value(self.schema, field);
        }
        self.plain(&field.ty)
    }

    fn plain(&self, ty: &Type) -> Value {
        match ty {
            Type::Bool => Value::Bool(false),
            Type::Float64 => Value::Float(0.0),
            Type::Uuid => Value::Uuid([0; 16]),
            Type::String => Value::Text(String::new()),
            Type::Bytes => Value::Bytes(Vec::new()),
            Type::Records => Value::Bytes(self.records.to_vec()),
            Type::Array(element) => Value::Array(vec![self.plain(element)]),
            Type::Struct(name) => Value::Struct(self.structure(self.schema.resolve(name))),
            _ => Value::Int(0),
        }
    }
}
