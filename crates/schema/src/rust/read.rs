use super::code::Code;
use super::run::{Run, RunField, Step, steps};
use super::shape::{Shape, When, field_name};
use super::write::method;
use crate::{Field, Struct, Type};

/// The body of `fn read(r: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError>`.
pub(super) fn read(shape: &Shape<'_>, owner: &Struct, code: &mut Code) {
    let tagged = shape.tagged_fields(owner);
    for step in steps(shape, owner) {
        match step {
            Step::One(field, when) => read_one(shape, owner, field, &when, code),
            Step::Run(run) => read_run(shape, &run, code),
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

fn read_one(shape: &Shape<'_>, owner: &Struct, field: &Field, when: &When, code: &mut Code) {
    let name = local_name(field);
    let default = shape.default_value(field);
    let is_tagged = shape.tagged(owner, field) != When::Never;
    let mutable = if is_tagged { "mut " } else { "" };
    match when {
        When::Always => {
            code.line(format!(
                "let {mutable}{name} = {};",
                value(shape, owner, field, false)
            ));
        }
        When::Never if is_tagged => {
            code.line(format!(
                "let mut {name}: {} = {default};",
                shape.field_type(field)
            ));
        }
        When::Never => code.line(format!("let {name} = {default};")),
        When::If(condition) => code.line(format!(
            "let {mutable}{name} = if {condition} {{ {} }} else {{ {default} }};",
            value(shape, owner, field, false)
        )),
    }
}

fn read_run(shape: &Shape<'_>, run: &Run<'_>, code: &mut Code) {
    let part = |field: &RunField<'_>| format!("fixed.{}({})", method(&field.field.ty), field.at);
    let fixed = format!("let fixed = r.fixed::<{}>()?;", run.size);
    let When::If(all) = run.all() else {
        code.line(fixed);
        for field in &run.fields {
            code.line(format!(
                "let {} = {};",
                local_name(field.field),
                part(field)
            ));
        }
        return;
    };
    let tuple = |of: &dyn Fn(&RunField<'_>) -> String| {
        let values: Vec<String> = run.fields.iter().map(of).collect();
        format!("({})", values.join(", "))
    };
    code.line(format!(
        "let {} = if {all} {{",
        tuple(&|field| local_name(field.field))
    ));
    code.line(fixed);
    code.line(tuple(&part));
    code.line("} else {");
    code.line(tuple(&|field| {
        let default = shape.default_value(field.field);
        let read = format!("r.{}()?", method(&field.field.ty));
        match &field.when {
            // Where one of the run's fields is missing, those that came with it are too.
            When::If(condition) if *condition == all => default,
            When::If(condition) => format!("if {condition} {{ {read} }} else {{ {default} }}"),
            _ => read,
        }
    }));
    code.line("};");
}

/// The local variable for a field: its name, unless the function has that name for something else.
fn local_name(field: &Field) -> String {
    const TAKEN: &[&str] = &[
        "count",
        "fixed",
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
            let read = match element {
                Type::Struct(name) => format!("{}::read(r, version)", shape.struct_name(name)),
                _ => format!("Ok({})", single(shape, element, compact, what)),
            };
            format!("r.array(count, {least}, |r| {read})?")
        }
    }
}
