use klamm_schema::{Default, Field, Schema, Struct};

use super::Look;
use super::table::Table;

/// The fields of a message in a version, with those of its structs below them.
pub fn schema_text(schema: &Schema, version: i16, look: Look) -> String {
    let mut table = Table::new(&["FIELD", "TYPE", "VERSIONS", "NOTES"], &[]);
    fields(schema, version, &schema.root, 0, &mut table);
    table.render(look)
}

fn fields(schema: &Schema, version: i16, owner: &Struct, depth: usize, table: &mut Table) {
    let (tagged, plain): (Vec<&Field>, Vec<&Field>) = owner
        .fields
        .iter()
        .filter(|field| field.versions.contains(version))
        .partition(|field| field.is_tagged(version));
    for field in plain.into_iter().chain(tagged) {
        table.row(vec![
            (format!("{}{}", "  ".repeat(depth), field.name), ""),
            (field.ty.to_string(), "2"),
            (
                field.versions.intersect(schema.valid_versions).to_string(),
                "2",
            ),
            (notes(field, version), "2"),
        ]);
        if let Some(owner) = field.ty.struct_name().and_then(|name| schema.find(name)) {
            fields(schema, version, owner, depth + 1, table);
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
