use klamm_schema::{Default, Field, Schema, Struct};

use crate::about;
use crate::node::Place;

/// A field of a message, as a version has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldRow {
    /// How many structs it is in, other than the message.
    pub(crate) depth: usize,
    pub(crate) name: &'static str,
    pub(crate) ty: String,
    /// The versions that have it.
    pub(crate) versions: String,
    /// What else is to be known: its tag, whether it may be null, and the like.
    pub(crate) notes: String,
    /// What it means.
    pub(crate) about: &'static str,
}

/// The fields of a message in a version in the order of the wire, with those of its structs below
/// them.
pub(crate) fn fields(schema: &'static Schema, version: i16) -> Vec<FieldRow> {
    let mut rows = Vec::new();
    add(schema, version, &schema.root, 0, &mut rows);
    rows
}

fn add(
    schema: &'static Schema,
    version: i16,
    owner: &'static Struct,
    depth: usize,
    rows: &mut Vec<FieldRow>,
) {
    let (tagged, plain): (Vec<&Field>, Vec<&Field>) = owner
        .fields
        .iter()
        .filter(|field| field.versions.contains(version))
        .partition(|field| field.is_tagged(version));
    for field in plain.into_iter().chain(tagged) {
        let place = Place::Field {
            message: &schema.name,
            owner: &owner.name,
            name: &field.name,
        };
        rows.push(FieldRow {
            depth,
            name: &field.name,
            ty: field.ty.to_string(),
            versions: field.versions.intersect(schema.valid_versions).to_string(),
            notes: notes(field, version),
            about: about::find(place).unwrap_or_default(),
        });
        if let Some(owner) = field.ty.struct_name().and_then(|name| schema.find(name)) {
            add(schema, version, owner, depth + 1, rows);
        }
    }
}

fn notes(field: &Field, version: i16) -> String {
    let mut notes = Vec::new();
    if let Some(tag) = field.tag.filter(|_| field.is_tagged(version)) {
        notes.push(format!("tag {tag}"));
    }
    if field.nullable_versions.contains(version) {
        notes.push("nullable".to_owned());
    }
    if let Some(default) = default(&field.default) {
        notes.push(format!("default {default}"));
    }
    if field.map_key {
        notes.push("map key".to_owned());
    }
    if field.ignorable {
        notes.push("ignorable".to_owned());
    }
    if let Some(entity) = &field.entity_type {
        notes.push(entity.clone());
    }
    notes.join(", ")
}

fn default(default: &Default) -> Option<String> {
    match default {
        Default::Zero => None,
        Default::Null => Some("null".to_owned()),
        Default::True => Some("true".to_owned()),
        Default::Int(value) => Some(value.to_string()),
        Default::Float(value) => Some(value.to_string()),
        Default::Text(text) => Some(format!("{text:?}")),
    }
}
