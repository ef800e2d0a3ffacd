use super::code::Code;
use super::shape::{Shape, field_name};
use crate::{Field, Struct};

/// Declares a struct with its documentation, and its default value.
pub(super) fn declare(shape: &Shape<'_>, owner: &Struct, code: &mut Code) {
    let name = shape.struct_name(&owner.name).to_owned();
    let schema = shape.schema;
    if owner.name == schema.name {
        let api = schema
            .api_key
            .map(|key| format!(", type {key}"))
            .unwrap_or_default();
        code.line(format!(
            "/// `{}`: {:?}{api}, versions {}, flexible {}.",
            schema.name, schema.kind, schema.valid_versions, schema.flexible_versions
        ));
    } else {
        code.line(format!(
            "/// `{}` in `{}`, versions {}.",
            owner.name,
            schema.name,
            shape.versions(owner)
        ));
    }
    code.line("#[derive(Clone, Debug, PartialEq)]");
    code.line(format!("pub struct {name} {{"));
    for field in &owner.fields {
        code.line(format!("/// {}", document(field)));
        code.line(format!(
            "pub {}: {},",
            field_name(field),
            shape.field_type(field)
        ));
    }
    if shape.ever_flexible() {
        code.line("/// Tagged fields that the schema does not know in this version.");
        code.line("pub unknown_tagged_fields: TaggedFields,");
    }
    code.line("}");
    code.line("");
    code.line(format!("impl Default for {name} {{"));
    code.line("#[inline]");
    code.line("fn default() -> Self {");
    code.line("Self {");
    for field in &owner.fields {
        code.line(format!(
            "{}: {},",
            field_name(field),
            shape.default_value(field)
        ));
    }
    if shape.ever_flexible() {
        code.line("unknown_tagged_fields: TaggedFields::EMPTY,");
    }
    code.line("}");
    code.line("}");
    code.line("}");
    code.line("");
}

fn document(field: &Field) -> String {
    let mut text = format!(
        "`{}`: {}, versions {}",
        field.name, field.ty, field.versions
    );
    if field.is_nullable() {
        text.push_str(&format!(", null in {}", field.nullable_versions));
    }
    if let Some(tag) = field.tag {
        text.push_str(&format!(", tag {tag} in {}", field.tagged_versions));
    }
    if field.ignorable {
        text.push_str(", dropped from versions that lack it");
    }
    text.push('.');
    text
}
