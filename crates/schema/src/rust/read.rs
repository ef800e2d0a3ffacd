use super::code::Code;
use super::shape::{Shape, When, field_name};
use super::write::method;
use crate::{Field, Struct, Type};

/// The body of `fn read(r: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError>`.
pub(super) fn read(shape: &Shape<'_>, owner: &Struct, code: &mut Code) {
    let tagged = shape.tagged_fields(owner);
    for field in &owner.fields {
        let name = local_name(field);
        let default = shape.default_value(field);
        let mutable = if tagged.iter().any(|(_, other, _)| other.name == field.name) {
            "mut "
        } else {
            ""
        };
        match shape.plain(owner, field) {
            When::Always => {
                code.line(format!(
                    "let {name} = {};",
                    value(shape, owner, field, false)
                ));
            }
            When::Never if mutable.is_empty() => code.line(format!("let {name} = {default};")),
            When::Never => {
                code.line(format!(
                    "let mut {name}: {} = {default};",
                    shape.field_type(field)
                ));
            }
            When::If(condition) => code.line(format!(
                "let {mutable}{name} = if {condition} {{ {} }} else {{ {default} }};",
                value(shape, owner, field, false)
            )),
        }
    }
    if shape.ever_flexible() {
        code.line("let unknown_tagged_fields = if flexible {");
        if tagged.is_empty() {
            code.line("TaggedFields::read(r)?");
        } else {
            code.line("TaggedFields::read_known(r, |tag, r| {");
            code.line("match tag {");
            for (tag, field, when) in &tagged {
                let guard = match when {
                    When::If(condition) => format!(" if {condition}"),
                    _ => String::new(),
                };
                code.line(format!(
                    "{tag}{guard} => {} = {},",
                    local_name(field),
                    value(shape, owner, field, true)
                ));
            }
            code.line("_ => return Ok(false),");
            code.line("}");
            code.line("Ok(true)");
            code.line("})?");
        }
        code.line("} else {");
        code.line("TaggedFields::EMPTY");
        code.line("};");
    }
    let initialize = |field: &Field| match (field_name(field), local_name(field)) {
        (name, local) if name == local => name,
        (name, local) => format!("{name}: {local}"),
    };
    let mut names: Vec<String> = owner.fields.iter().map(initialize).collect();
    if shape.ever_flexible() {
        names.push("unknown_tagged_fields".to_owned());
    }
    code.line(format!("Ok(Self {{ {} }})", names.join(", ")));
}

/// The local variable for a field: its name, unless the function has that name for something else.
fn local_name(field: &Field) -> String {
    const TAKEN: &[&str] = &[
        "count",
        "flexible",
        "r",
        "tag",
        "unknown_tagged_fields",
        "version",
    ];
    let name = field_name(field);
    if TAKEN.contains(&name.as_str()) {
        format!("{name}_field")
    } else {
        name
    }
}

/// The expression that reads a field that is present.
fn value(shape: &Shape<'_>, owner: &Struct, field: &Field, tagged: bool) -> String {
    let what = format!("{}.{}", owner.name, field.name);
    let compact = shape.compact(owner, field);
    let required = required(shape, field, &compact, &what);
    if !field.is_nullable() {
        return required;
    }
    let optional = match &field.ty {
        Type::String => format!("r.nullable_string({compact})?"),
        Type::Bytes | Type::Records => format!("r.nullable_bytes({compact})?"),
        Type::Array(element) => format!(
            "match r.len({compact})? {{ Some(count) => Some({}), None => None }}",
            elements(shape, element, &compact, &what)
        ),
        _ => {
            let present = if tagged {
                "r.tagged_marker()?"
            } else {
                "r.marker()?"
            };
            format!("if {present} {{ Some({required}) }} else {{ None }}")
        }
    };
    match shape.nullable(owner, field) {
        When::Always => optional,
        When::Never => format!("Some({required})"),
        When::If(condition) => {
            format!("if {condition} {{ {optional} }} else {{ Some({required}) }}")
        }
    }
}

fn required(shape: &Shape<'_>, field: &Field, compact: &str, what: &str) -> String {
    match &field.ty {
        Type::Array(element) => format!(
            "{{ let count = r.required_len({what:?}, {compact})?; {} }}",
            elements(shape, element, compact, what)
        ),
        ty => single(shape, ty, compact, what),
    }
}

fn single(shape: &Shape<'_>, ty: &Type, compact: &str, what: &str) -> String {
    match ty {
        Type::String => format!("r.required_string({what:?}, {compact})?"),
        Type::Bytes | Type::Records => format!("r.required_bytes({what:?}, {compact})?"),
        Type::Struct(name) => format!("{}::read(r, version)?", shape.struct_name(name)),
        _ => format!("r.{}()?", method(ty)),
    }
}

/// The expression that reads `count` elements.
fn elements(shape: &Shape<'_>, element: &Type, compact: &str, what: &str) -> String {
    match element {
        Type::Int32 => "r.i32s(count)?".to_owned(),
        _ => {
            let least = match element {
                Type::Struct(name) => format!("{}::LEAST", shape.struct_name(name)),
                _ => crate::least::least_of(element, true).to_string(),
            };
            format!(
                "r.array(count, {least}, |r| Ok({}))?",
                single(shape, element, compact, what)
            )
        }
    }
}
