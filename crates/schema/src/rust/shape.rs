//! What the two walks and the declarations have in common: Rust's names and types for schema
//! fields, and conditions on the version.

use std::collections::BTreeMap;

use crate::{Default, Field, Schema, Struct, Type, Versions, snake_case};

/// A schema, and the Rust names of its structs.
pub(super) struct Shape<'a> {
    pub(super) schema: &'a Schema,
    /// Structs whose Rust name is not the schema's.
    pub(super) renamed: BTreeMap<String, String>,
}

/// When something holds, as far as it is known when the code is generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum When {
    Always,
    Never,
    /// A Rust expression over `version`.
    If(String),
}

impl When {
    /// Whether `versions` has the current version, of which it is known that it is in `among`.
    pub(super) fn in_versions(versions: Versions, among: Versions) -> Self {
        let both = versions.intersect(among);
        if both.is_empty() {
            return Self::Never;
        }
        let low = (both.min > among.min).then(|| format!("version >= {}", both.min));
        let high = (both.max < among.max).then(|| format!("version <= {}", both.max));
        match (low, high) {
            (None, None) => Self::Always,
            (Some(_), Some(_)) if both.min == both.max => {
                Self::If(format!("version == {}", both.min))
            }
            (Some(_), Some(_)) => {
                Self::If(format!("({}..={}).contains(&version)", both.min, both.max))
            }
            (Some(one), None) | (None, Some(one)) => Self::If(one),
        }
    }

    /// As a Rust expression.
    pub(super) fn expression(&self) -> &str {
        match self {
            Self::Always => "true",
            Self::Never => "false",
            Self::If(expression) => expression,
        }
    }
}

impl<'a> Shape<'a> {
    /// The message's own struct, then all others.
    pub(super) fn structs(&self) -> impl Iterator<Item = &'a Struct> {
        std::iter::once(&self.schema.root).chain(&self.schema.structs)
    }

    /// The versions in which a struct can occur.
    pub(super) fn versions(&self, owner: &Struct) -> Versions {
        self.schema.valid_versions.intersect(owner.versions)
    }

    /// The name of a struct in Rust.
    pub(super) fn struct_name<'b>(&'b self, name: &'b str) -> &'b str {
        self.renamed.get(name).map_or(name, String::as_str)
    }

    /// Whether the message has tagged fields in any version.
    pub(super) fn ever_flexible(&self) -> bool {
        !self
            .schema
            .flexible_versions
            .intersect(self.schema.valid_versions)
            .is_empty()
    }

    /// When a struct has a tagged section.
    pub(super) fn flexible(&self, owner: &Struct) -> When {
        When::in_versions(self.schema.flexible_versions, self.versions(owner))
    }

    /// The expression that says whether a field's length is compact: the local `flexible`, or what a
    /// field says of itself.
    pub(super) fn compact(&self, owner: &Struct, field: &Field) -> String {
        match field.flexible_versions {
            None => "flexible".to_owned(),
            Some(versions) => When::in_versions(versions, self.versions(owner))
                .expression()
                .to_owned(),
        }
    }

    /// When a field is among the fields that are written in order.
    pub(super) fn plain(&self, owner: &Struct, field: &Field) -> When {
        let versions = self.versions(owner);
        let present = field.versions.intersect(versions);
        let tagged = field.tagged_versions.intersect(present);
        if tagged.is_empty() {
            return When::in_versions(present, versions);
        }
        // A field turns from plain to tagged, never back.
        When::in_versions(Versions::new(present.min, tagged.min - 1), versions)
    }

    /// The version from which on a field is on the wire, if it is so up to the last version.
    pub(super) fn since(&self, owner: &Struct, field: &Field) -> Option<i16> {
        let versions = self.versions(owner);
        let present = field.versions.intersect(versions);
        (!present.is_empty() && present.max == versions.max).then_some(present.min)
    }

    /// When a field is among the tagged fields.
    pub(super) fn tagged(&self, owner: &Struct, field: &Field) -> When {
        When::in_versions(
            field.tagged_versions.intersect(field.versions),
            self.versions(owner),
        )
    }

    /// When a field is on the wire in either way.
    pub(super) fn present(&self, owner: &Struct, field: &Field) -> When {
        When::in_versions(field.versions, self.versions(owner))
    }

    /// When a field may be null.
    pub(super) fn nullable(&self, owner: &Struct, field: &Field) -> When {
        When::in_versions(
            field.nullable_versions,
            self.versions(owner).intersect(field.versions),
        )
    }

    /// The fields that are ever tagged, by tag.
    pub(super) fn tagged_fields<'b>(&self, owner: &'b Struct) -> Vec<(u32, &'b Field, When)> {
        let mut fields: Vec<_> = owner
            .fields
            .iter()
            .filter_map(|field| Some((field.tag?, field, self.tagged(owner, field))))
            .filter(|(_, _, when)| *when != When::Never)
            .collect();
        fields.sort_by_key(|(tag, _, _)| *tag);
        fields
    }

    /// The Rust type of a schema type, of which `field` is.
    fn rust_type(&self, field: &Field, ty: &Type) -> String {
        match ty {
            Type::Bool => "bool".to_owned(),
            Type::Int8 => "i8".to_owned(),
            Type::Int16 => "i16".to_owned(),
            Type::Uint16 => "u16".to_owned(),
            Type::Int32 => "i32".to_owned(),
            Type::Uint32 => "u32".to_owned(),
            Type::Int64 => "i64".to_owned(),
            Type::Float64 => "f64".to_owned(),
            Type::Uuid => "Uuid".to_owned(),
            Type::String => "SmallString".to_owned(),
            Type::Bytes | Type::Records => "Bytes".to_owned(),
            Type::Struct(name) => self.struct_name(name).to_owned(),
            Type::Array(element) => match **element {
                Type::Int32 => format!("SmallVec<[i32; {}]>", inline_of(field)),
                _ => format!("Vec<{}>", self.rust_type(field, element)),
            },
        }
    }

    /// The Rust type of a field.
    pub(super) fn field_type(&self, field: &Field) -> String {
        let ty = self.rust_type(field, &field.ty);
        if field.is_nullable() {
            format!("Option<{ty}>")
        } else {
            ty
        }
    }

    /// The expression for a field's default value.
    pub(super) fn default_value(&self, field: &Field) -> String {
        let value = match (&field.default, &field.ty) {
            (Default::Null, _) => return "None".to_owned(),
            (Default::True, _) => "true".to_owned(),
            (Default::Int(i64::MIN), _) => "i64::MIN".to_owned(),
            (Default::Int(number), _) => number.to_string(),
            (Default::Float(number), _) => format!("{number:?}"),
            (Default::Text(text), _) => format!("SmallString::from_static({text:?})"),
            (Default::Zero, Type::Bool) => "false".to_owned(),
            (Default::Zero, Type::Float64) => "0.0".to_owned(),
            (Default::Zero, Type::Uuid) => "Uuid::ZERO".to_owned(),
            (Default::Zero, Type::Struct(name)) => format!("{}::default()", self.struct_name(name)),
            (Default::Zero, Type::String) => "SmallString::new()".to_owned(),
            (Default::Zero, Type::Bytes | Type::Records) => "Bytes::new()".to_owned(),
            (Default::Zero, Type::Array(element)) => match **element {
                Type::Int32 => "SmallVec::new()".to_owned(),
                _ => "Vec::new()".to_owned(),
            },
            (Default::Zero, _) => "0".to_owned(),
        };
        if field.is_nullable() {
            format!("Some({value})")
        } else {
            value
        }
    }

    /// The expression for whether `self`'s field is other than its default.
    pub(super) fn is_set(&self, field: &Field) -> String {
        let name = field_name(field);
        let empties = matches!(
            field.ty,
            Type::String | Type::Bytes | Type::Records | Type::Array(_)
        );
        match (&field.default, field.is_nullable()) {
            (Default::Null, _) => format!("self.{name}.is_some()"),
            (Default::Zero, false) if empties => format!("!self.{name}.is_empty()"),
            (Default::Zero, true) if empties => {
                format!("self.{name}.as_ref().is_none_or(|value| !value.is_empty())")
            }
            (Default::Zero, false) if field.ty == Type::Bool => format!("self.{name}"),
            (Default::True, false) => format!("!self.{name}"),
            (Default::Text(text), false) => format!("self.{name} != *{text:?}"),
            (Default::Text(text), true) => {
                format!("self.{name}.as_ref().is_none_or(|value| *value != *{text:?})")
            }
            _ => format!("self.{name} != {}", self.default_value(field)),
        }
    }
}

/// How many integers a list holds without an allocation.
fn inline_of(field: &Field) -> usize {
    if field.name.starts_with("Partition") {
        // Partitions of a topic: as many as make the list 64 bytes large, a line of a cache.
        14
    } else {
        // Replica lists: as many as a usual replication factor.
        4
    }
}

/// A field's name in Rust.
pub(super) fn field_name(field: &Field) -> String {
    identifier(&snake_case(&field.name))
}

/// A name that may be one of Rust's keywords, as an identifier.
pub(super) fn identifier(name: &str) -> String {
    const KEYWORDS: &[&str] = &[
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do",
        "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in",
        "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
        "return", "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe",
        "unsized", "use", "virtual", "where", "while", "yield",
    ];
    if KEYWORDS.contains(&name) {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}
