use super::code::Code;
use super::shape::{Shape, When, field_name};
use crate::{Field, Struct, Type};

/// The body of `fn size(&self, version: i16, s: &mut Sizer) -> usize`.
pub(super) fn size(shape: &Shape<'_>, owner: &Struct, code: &mut Code) {
    code.line("let mut len = 0;");
    let mut run = FixedRun::default();
    for field in &owner.fields {
        let plain = shape.plain(owner, field);
        let lacks = (!field.ignorable && shape.present(owner, field) != When::Always)
            .then(|| shape.present(owner, field));
        if let (Some(size), None) = (field.ty.fixed_size(), &lacks) {
            run.add(&plain, size, code);
            continue;
        }
        run.flush(code);
        let check = |code: &mut Code| {
            code.line(format!(
                "s.refuse(EncodeError::FieldNotInVersion {{ field: {:?}, version }});",
                place(owner, field)
            ));
        };
        let body = |code: &mut Code| size_value(shape, owner, field, code);
        match (plain, lacks) {
            (When::Always, _) => body(code),
            (When::Never, None) => {}
            (When::If(condition), None) => code.when(Some(&condition), body),
            (plain, Some(present)) => {
                if let When::If(condition) = &plain {
                    code.when(Some(condition), body);
                }
                let absent = match present {
                    When::If(condition) => format!("!({condition}) && {}", shape.is_set(field)),
                    _ => shape.is_set(field),
                };
                code.when(Some(&absent), check);
            }
        }
    }
    run.flush(code);
    if shape.ever_flexible() {
        size_tagged(shape, owner, code);
    }
    code.line("len");
}

fn size_tagged(shape: &Shape<'_>, owner: &Struct, code: &mut Code) {
    let fields = shape.tagged_fields(owner);
    code.line("if flexible {");
    if fields.is_empty() {
        code.line("len += self.unknown_tagged_fields.size_section(s);");
    } else {
        code.line("let mut tags = self.unknown_tagged_fields.len() as u32;");
        for (tag, field, when) in &fields {
            code.when(Some(&both(when, &shape.is_set(field))), |code| {
                code.line("tags += 1;");
                code.line(format!("len += s.tagged({tag}, |s| {{"));
                code.line("let mut len = 0;");
                size_value(shape, owner, field, code);
                code.line("len");
                code.line("});");
            });
        }
        code.line("len += unsigned_varint_len(tags);");
        let known: Vec<String> = fields
            .iter()
            .map(|(tag, _, when)| both(when, &format!("tag == {tag}")))
            .collect();
        code.line(format!(
            "len += self.unknown_tagged_fields.size(|tag| {}, s);",
            known.join(" || ")
        ));
    }
    if shape.flexible(owner) == When::Always {
        code.line("}");
    } else {
        code.line("} else if !self.unknown_tagged_fields.is_empty() {");
        code.line(format!(
            "s.refuse(EncodeError::FieldNotInVersion {{ field: \"{}.unknown_tagged_fields\", version }});",
            owner.name
        ));
        code.line("}");
    }
}

/// Both conditions as one expression.
pub(super) fn both(when: &When, condition: &str) -> String {
    match when {
        When::Always => condition.to_owned(),
        When::Never => "false".to_owned(),
        When::If(version) => format!("{version} && {condition}"),
    }
}

/// Sizes a field that is present.
fn size_value(shape: &Shape<'_>, owner: &Struct, field: &Field, code: &mut Code) {
    let name = field_name(field);
    if !field.is_nullable() {
        return size_type(
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
        Type::String => format!("len += s.null_string({compact})"),
        Type::Struct(_) => "len += 1".to_owned(),
        _ => format!("len += s.null({compact})"),
    };
    let refuse = format!(
        "s.refuse(EncodeError::Null {{ field: {:?}, version }})",
        place(owner, field)
    );
    code.line(format!("match &self.{name} {{"));
    code.line("Some(value) => {");
    if matches!(field.ty, Type::Struct(_)) {
        // A marker byte comes before a struct that may be null.
        match shape.nullable(owner, field) {
            When::Never => {}
            When::Always => code.line("len += 1;"),
            When::If(condition) => code.line(format!("len += usize::from({condition});")),
        }
    }
    size_type(shape, owner, field, &field.ty, "value", code);
    code.line("}");
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

fn size_type(
    shape: &Shape<'_>,
    owner: &Struct,
    field: &Field,
    ty: &Type,
    value: &str,
    code: &mut Code,
) {
    let compact = shape.compact(owner, field);
    let what = place(owner, field);
    match ty {
        Type::String => code.line(format!(
            "len += s.string({what:?}, {compact}, {});",
            borrowed(value)
        )),
        Type::Bytes | Type::Records => {
            code.line(format!(
                "len += s.bytes({what:?}, {compact}, {value}.len());"
            ));
        }
        Type::Struct(_) => code.line(format!("len += {value}.size(version, s);")),
        Type::Array(element) => {
            code.line(format!("len += s.len({what:?}, {compact}, {value}.len());"));
            if let Some(size) = element.fixed_size() {
                code.line(format!("len += {value}.len() * {size};"));
            } else {
                code.line(format!("for element in {} {{", borrowed(value)));
                size_type(shape, owner, field, element, "element", code);
                code.line("}");
            }
        }
        _ => code.line(format!("len += {};", ty.fixed_size().unwrap_or(0))),
    }
}

/// A place expression as a reference: `value` and `element` are references already.
pub(super) fn borrowed(value: &str) -> String {
    if value.starts_with("self.") {
        format!("&{value}")
    } else {
        value.to_owned()
    }
}

fn place(owner: &Struct, field: &Field) -> String {
    format!("{}.{}", owner.name, field.name)
}

/// Neighbours of fixed size and with the same condition, added at once.
#[derive(Default)]
struct FixedRun {
    condition: Option<String>,
    size: usize,
}

impl FixedRun {
    fn add(&mut self, when: &When, size: usize, code: &mut Code) {
        let condition = match when {
            When::Never => return,
            When::Always => None,
            When::If(condition) => Some(condition.clone()),
        };
        if self.condition != condition {
            self.flush(code);
            self.condition = condition;
        }
        self.size += size;
    }

    fn flush(&mut self, code: &mut Code) {
        if self.size > 0 {
            let line = format!("len += {};", self.size);
            code.when(self.condition.as_deref(), |code| code.line(line));
        }
        *self = Self::default();
    }
}
