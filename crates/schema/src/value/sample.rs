use super::random::default_value;
use super::{StructValue, Value};
use crate::{Field, Schema, Struct, Type};

/// The smallest instance of a message: numbers 0, strings and byte arrays empty (also where they may
/// be null), every array one element, nullable structs present, tagged fields at their default.
pub fn smallest(schema: &Schema, version: i16) -> StructValue {
    structure(schema, &schema.root, version)
}

fn structure(schema: &Schema, owner: &Struct, version: i16) -> StructValue {
    let fields = owner
        .fields
        .iter()
        .map(|field| value(schema, field, version))
        .collect();
    StructValue {
        fields,
        unknown: Vec::new(),
    }
}

fn value(schema: &Schema, field: &Field, version: i16) -> Value {
    if !field.versions.contains(version) || field.is_tagged(version) {
        return default_value(schema, field);
    }
    plain(schema, &field.ty, version)
}

fn plain(schema: &Schema, ty: &Type, version: i16) -> Value {
    match ty {
        Type::Bool => Value::Bool(false),
        Type::Float64 => Value::Float(0.0),
        Type::Uuid => Value::Uuid([0; 16]),
        Type::String => Value::Text(String::new()),
        Type::Bytes | Type::Records => Value::Bytes(Vec::new()),
        Type::Array(element) => Value::Array(vec![plain(schema, element, version)]),
        Type::Struct(name) => Value::Struct(structure(schema, schema.resolve(name), version)),
        _ => Value::Int(0),
    }
}
