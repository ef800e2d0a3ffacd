use super::code::Code;
use super::run::{Run, RunField, Step, steps};
use super::shape::{Shape, When, field_name};
use crate::{Field, Struct, Type};

/// The body of `write`, which takes the writer `w` and hands it on.
pub(super) fn write(shape: &Shape<'_>, owner: &Struct, code: &mut Code) {
    for step in steps(shape, owner) {
        match step {
            Step::One(field, when) => {
                refuse_dropped(shape, owner, field, code);
                conditional(&when, code, |code| {
                    write_value(shape, owner, field, false, code);
                });
            }
            Step::Run(run) => {
                for RunField { field, .. } in &run.fields {
                    refuse_dropped(shape, owner, field, code);
                }
                write_run(&run, code);
            }
        }
    }
    if shape.ever_flexible() {
        write_tagged(shape, owner, code);
    }
    code.line("w");
}

/// Refuses a value in a version that lacks its field, where it may not be dropped.
fn refuse_dropped(shape: &Shape<'_>, owner: &Struct, field: &Field, code: &mut Code) {
    let present = shape.present(owner, field);
    if field.ignorable || present == When::Always {
        return;
    }
    let dropped = match present {
        When::If(condition) => format!("!({condition}) && {}", shape.is_set(field)),
        _ => shape.is_set(field),
    };
    code.when(Some(&dropped), |code| {
        refuse_field(&place(owner, field), code);
    });
}

fn refuse_field(place: &str, code: &mut Code) {
    code.line(format!(
        "w.refuse(EncodeError::FieldNotInVersion {{ field: {place:?}, version }});"
    ));
}

pub(super) fn conditional(when: &When, code: &mut Code, body: impl FnOnce(&mut Code)) {
    match when {
        When::Never => {}
        When::Always => body(code),
        When::If(condition) => code.when(Some(condition), body),
    }
}

fn write_run(run: &Run<'_>, code: &mut Code) {
    let all = run.all();
    if let When::If(condition) = &all {
        code.line(format!("if {condition} {{"));
    }
    code.line(format!("let mut fixed = Fixed::<{}>::ZERO;", run.size));
    for RunField { field, at, .. } in &run.fields {
        code.line(format!(
            "fixed.set_{}({at}, self.{});",
            method(&field.ty),
            field_name(field)
        ));
    }
    code.line("w.fixed(fixed);");
    if all == When::Always {
        return;
    }
    if !run.is_all_or_none() {
        code.line("} else {");
        // Where one of the run's fields is missing, those that came with it are too.
        for RunField { field, when, .. } in run.fields.iter().filter(|field| field.when != all) {
            conditional(when, code, |code| {
                code.line(format!(
                    "w.{}(self.{});",
                    method(&field.ty),
                    field_name(field)
                ));
            });
        }
    }
    code.line("}");
}

fn write_tagged(shape: &Shape<'_>, owner: &Struct, code: &mut Code) {
    let fields = shape.tagged_fields(owner);
    code.line("if flexible {");
    if fields.is_empty() {
        code.line("w = self.unknown_tagged_fields.write_section(w);");
    } else {
        code.line("let mut tags = self.unknown_tagged_fields.len() as u32;");
        for (_, field, when) in &fields {
            code.line(format!(
                "tags += u32::from({});",
                both(when, &shape.is_set(field))
            ));
        }
        code.line("w.unsigned_varint(tags);");
        code.line("if tags > 0 {");
        let known: Vec<String> = fields
            .iter()
            .map(|(tag, _, when)| both(when, &format!("tag == {tag}")))
            .collect();
        code.line(format!(
            "self.unknown_tagged_fields.check(|tag| {}, &mut w);",
            known.join(" || ")
        ));
        let mut next = 0;
        for (tag, field, when) in &fields {
            if *tag > next {
                code.line(format!(
                    "w = self.unknown_tagged_fields.write({next}..={}, w);",
                    tag - 1
                ));
            }
            // In a version that does not know this tag it may be among the unknown ones.
            if *when != When::Always {
                code.line(format!(
                    "w = self.unknown_tagged_fields.write({tag}..={tag}, w);"
                ));
            }
            next = tag + 1;
            code.when(Some(&both(when, &shape.is_set(field))), |code| {
                write_tagged_field(shape, owner, field, *tag, code);
            });
        }
        code.line(format!(
            "w = self.unknown_tagged_fields.write({next}..=u32::MAX, w);"
        ));
        code.line("}");
    }
    if shape.flexible(owner) != When::Always {
        code.line("} else if !self.unknown_tagged_fields.is_empty() {");
        refuse_field(&format!("{}.unknown_tagged_fields", owner.name), code);
    }
    code.line("}");
}

/// Both conditions as one expression.
fn both(when: &When, condition: &str) -> String {
    match when {
        When::Always => condition.to_owned(),
        When::Never => "false".to_owned(),
        When::If(version) => format!("{version} && {condition}"),
    }
}

fn write_tagged_field(shape: &Shape<'_>, owner: &Struct, field: &Field, tag: u32, code: &mut Code) {
    if let Some(size) = field.ty.fixed_size() {
        code.line(format!("w.unsigned_varint({tag});"));
        code.line(format!("w.unsigned_varint({size});"));
        write_value(shape, owner, field, true, code);
    } else {
        code.line(format!("w = w.tagged({tag}, |mut w| {{"));
        write_value(shape, owner, field, true, code);
        code.line("w");
        code.line("});");
    }
}

/// Writes a field that is present.
fn write_value(shape: &Shape<'_>, owner: &Struct, field: &Field, tagged: bool, code: &mut Code) {
    let name = field_name(field);
    if !field.is_nullable() {
        return write_type(
            shape,
            owner,
            field,
            &field.ty,
            &format!("self.{name}"),
            code,
        );
    }
    let compact = shape.compact(owner, field);
    let null = match &field.ty {
        Type::String => format!("w.null_string({compact})"),
        // Null is a marker of -1, but 0 where the struct is a tagged field.
        Type::Struct(_) => format!("w.i8({})", if tagged { 0 } else { -1 }),
        _ => format!("w.null({compact})"),
    };
    code.line(format!("match &self.{name} {{"));
    code.line("Some(value) => {");
    if matches!(field.ty, Type::Struct(_)) {
        match shape.nullable(owner, field) {
            When::Never => {}
            When::Always => code.line("w.i8(1);"),
            When::If(condition) => code.when(Some(&condition), |code| code.line("w.i8(1);")),
        }
    }
    write_type(shape, owner, field, &field.ty, "value", code);
    code.line("}");
    let refuse = format!(
        "w.refuse(EncodeError::Null {{ field: {:?}, version }})",
        place(owner, field)
    );
    match shape.nullable(owner, field) {
        When::Always => code.line(format!("None => {null},")),
        When::Never => code.line(format!("None => {refuse},")),
        When::If(condition) => {
            code.line(format!("None if {condition} => {null},"));
            code.line(format!("None => {refuse},"));
        }
    }
    code.line("}");
}

fn write_type(
    shape: &Shape<'_>,
    owner: &Struct,
    field: &Field,
    ty: &Type,
    value: &str,
    code: &mut Code,
) {
    let what = format!("{:?}, {}", place(owner, field), shape.compact(owner, field));
    match ty {
        Type::String => code.line(format!("w.string({what}, {});", borrowed(value))),
        Type::Bytes | Type::Records => {
            code.line(format!("w.bytes({what}, {});", borrowed(value)));
        }
        Type::Struct(_) => code.line(format!("w = {value}.write(version, w);")),
        Type::Array(element) => {
            if **element == Type::Int32 {
                return code.line(format!("w.i32_array({what}, {});", borrowed(value)));
            }
            code.line(format!("w.len({what}, {value}.len());"));
            // The outermost lists are the long ones.
            if owner.name == shape.schema.name && matches!(**element, Type::Struct(_)) {
                code.line("let start = w.position();");
                code.line(format!(
                    "for (index, element) in {value}.iter().enumerate() {{"
                ));
                code.line("if index == 1 {");
                code.line(format!("w.expect({value}.len() - 1, start);"));
                code.line("}");
            } else {
                code.line(format!("for element in {} {{", borrowed(value)));
            }
            write_type(shape, owner, field, element, "element", code);
            code.line("}");
        }
        _ => {
            let value = if value.starts_with("self.") {
                value.to_owned()
            } else {
                format!("*{value}")
            };
            code.line(format!("w.{}({value});", method(ty)));
        }
    }
}

/// A place expression as a reference: `value` and `element` are references already.
fn borrowed(value: &str) -> String {
    if value.starts_with("self.") {
        format!("&{value}")
    } else {
        value.to_owned()
    }
}

fn place(owner: &Struct, field: &Field) -> String {
    format!("{}.{}", owner.name, field.name)
}

/// The method of reader and writer for a type of fixed size.
pub(super) fn method(ty: &Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::Int8 => "i8",
        Type::Int16 => "i16",
        Type::Uint16 => "u16",
        Type::Int32 => "i32",
        Type::Uint32 => "u32",
        Type::Int64 => "i64",
        Type::Float64 => "f64",
        Type::Uuid => "uuid",
        _ => "of no fixed size",
    }
}
