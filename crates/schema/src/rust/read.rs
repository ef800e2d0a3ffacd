use super::code::Code;
use super::run::{Run, RunField, Step, steps};
use super::shape::{Shape, When, field_name};
use super::write::{conditional, method};
use crate::{Field, Struct, Type};

/// The body of `fn read(&mut self, r: &mut Reader<'_>, version: i16) -> Result<(), DecodeError>`.
///
/// `self` is the default value; what a version lacks stays that.
pub(super) fn read(shape: &Shape<'_>, owner: &Struct, code: &mut Code) {
    for step in steps(shape, owner) {
        match step {
            Step::One(field, when) => conditional(&when, code, |code| {
                read_value(shape, owner, field, false, code);
            }),
            Step::Run(run) => read_run(&run, code),
        }
    }
    if shape.ever_flexible() {
        code.line("if flexible {");
        read_tagged(shape, owner, code);
        code.line("}");
    }
    code.line("Ok(())");
}

fn read_run(run: &Run<'_>, code: &mut Code) {
    let all = run.all();
    if let When::If(condition) = &all {
        code.line(format!("if {condition} {{"));
    }
    code.line(format!("let fixed = r.fixed::<{}>()?;", run.size));
    for RunField { field, at, .. } in &run.fields {
        code.line(format!(
            "self.{} = fixed.{}({at});",
            field_name(field),
            method(&field.ty)
        ));
    }
    if all == When::Always {
        return;
    }
    if !run.is_all_or_none() {
        code.line("} else {");
        // Where one of the run's fields is missing, those that came with it are too.
        for RunField { field, when, .. } in run.fields.iter().filter(|field| field.when != all) {
            conditional(when, code, |code| {
                code.line(format!(
                    "self.{} = r.{}()?;",
                    field_name(field),
                    method(&field.ty)
                ));
            });
        }
    }
    code.line("}");
}

fn read_tagged(shape: &Shape<'_>, owner: &Struct, code: &mut Code) {
    let tagged = shape.tagged_fields(owner);
    if tagged.is_empty() {
        return code.line("self.unknown_tagged_fields = TaggedFields::read(r)?;");
    }
    code.line("self.unknown_tagged_fields = TaggedFields::read_known(r, |tag, r| {");
    code.line("match tag {");
    for (tag, field, when) in &tagged {
        let guard = match when {
            When::If(condition) => format!(" if {condition}"),
            _ => String::new(),
        };
        code.line(format!("{tag}{guard} => {{"));
        read_value(shape, owner, field, true, code);
        code.line("}");
    }
    code.line("_ => return Ok(false),");
    code.line("}");
    code.line("Ok(true)");
    code.line("})?;");
}

/// Reads a field that is present.
fn read_value(shape: &Shape<'_>, owner: &Struct, field: &Field, tagged: bool, code: &mut Code) {
    let reading = Reading {
        shape,
        what: format!("{}.{}", owner.name, field.name),
        compact: shape.compact(owner, field),
        place: format!("self.{}", field_name(field)),
    };
    match shape.nullable(owner, field) {
        _ if !field.is_nullable() => reading.required(&field.ty, &Target::Plain, code),
        When::Never => reading.required(&field.ty, &Target::Option, code),
        When::Always => reading.nullable(&field.ty, tagged, code),
        When::If(condition) => {
            code.line(format!("if {condition} {{"));
            reading.nullable(&field.ty, tagged, code);
            code.line("} else {");
            reading.required(&field.ty, &Target::Option, code);
            code.line("}");
        }
    }
}

/// How a field's value is read.
struct Reading<'a> {
    shape: &'a Shape<'a>,
    /// The field's name in an error.
    what: String,
    compact: String,
    /// The field in Rust.
    place: String,
}

/// Where a value goes that is not null.
enum Target {
    /// Into the field.
    Plain,
    /// Into the field, which is an `Option`.
    Option,
}

impl Reading<'_> {
    fn required(&self, ty: &Type, target: &Target, code: &mut Code) {
        let Self {
            what,
            compact,
            place,
            ..
        } = self;
        let (inner, borrowed) = match target {
            Target::Plain => (place.clone(), format!("&mut {place}")),
            Target::Option => {
                let inner = format!("{place}.get_or_insert_default()");
                (inner.clone(), inner)
            }
        };
        match ty {
            Type::String => code.line(format!(
                "r.required_string({what:?}, {compact}, {borrowed})?;"
            )),
            Type::Struct(_) => code.line(format!("{inner}.read(r, version)?;")),
            Type::Array(element) => {
                code.line(format!("let count = r.required_len({what:?}, {compact})?;"));
                self.elements(element, &borrowed, code);
            }
            Type::Bytes | Type::Records => code.line(format!(
                "r.required_bytes({what:?}, {compact}, {borrowed})?;"
            )),
            _ => code.line(format!("{place} = r.{}()?;", method(ty))),
        }
    }

    fn nullable(&self, ty: &Type, tagged: bool, code: &mut Code) {
        let Self { compact, place, .. } = self;
        match ty {
            Type::String => code.line(format!("r.nullable_string({compact}, &mut {place})?;")),
            Type::Bytes | Type::Records => {
                code.line(format!("r.nullable_bytes({compact}, &mut {place})?;"));
            }
            Type::Array(element) => {
                code.line(format!("if let Some(count) = r.len({compact})? {{"));
                self.elements(element, &format!("{place}.get_or_insert_default()"), code);
                self.or_null(code);
            }
            _ => {
                let present = if tagged {
                    "r.tagged_marker()?"
                } else {
                    "r.marker()?"
                };
                code.line(format!("if {present} {{"));
                self.required(ty, &Target::Option, code);
                self.or_null(code);
            }
        }
    }

    fn or_null(&self, code: &mut Code) {
        code.line("} else {");
        code.line(format!("{} = None;", self.place));
        code.line("}");
    }

    /// Reads `count` elements into the list that `list` borrows.
    fn elements(&self, element: &Type, list: &str, code: &mut Code) {
        let Self { what, compact, .. } = self;
        let (least, read) = match element {
            Type::Int32 => return code.line(format!("r.i32s(count, {list})?;")),
            Type::Struct(name) => (
                format!("{}::LEAST", self.shape.struct_name(name)),
                "element.read(r, version)".to_owned(),
            ),
            Type::String => (
                crate::least::least_of(element, true).to_string(),
                format!("r.required_string({what:?}, {compact}, element)"),
            ),
            Type::Bytes | Type::Records => (
                crate::least::least_of(element, true).to_string(),
                format!("r.required_bytes({what:?}, {compact}, element)"),
            ),
            _ => (
                crate::least::least_of(element, true).to_string(),
                format!("{{ *element = r.{}()?; Ok(()) }}", method(element)),
            ),
        };
        code.line(format!(
            "r.array(count, {least}, {list}, |r, element| {read})?;"
        ));
    }
}
