//! What differs between two versions of a message.

use klamm_protocol::{ApiKey, ApiVersion};
use klamm_schema::{Field, Schema, Struct};

use crate::words::bytes;
use crate::{Direction, NoSuchVersion, message_schema, smallest_frame};

/// What differs between two versions of a request or response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// Which way the message goes.
    pub direction: Direction,
    /// The message's name.
    pub message: &'static str,
    /// The two versions.
    pub versions: (i16, i16),
    /// The versions of their headers.
    pub header_versions: (i16, i16),
    /// Whether lengths are compact and structs end with tagged fields.
    pub flexible: (bool, bool),
    /// The sizes of their smallest instances, in bytes.
    pub sizes: (usize, usize),
    /// The fields that one of them has, or has otherwise, in the order of the schema.
    pub fields: Vec<FieldChange>,
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange {
    /// The names of the fields that lead to it, with dots between them.
    pub path: String,
    /// Its type.
    pub ty: String,
    /// How it is in the first version; `None` if it is not there.
    pub from: Option<Traits>,
    /// How it is in the second version; `None` if it is not there.
    pub to: Option<Traits>,
}

/// What may differ about a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Whether it may be null.
    pub nullable: bool,
    /// Its tag, if it is a tagged field.
    pub tag: Option<u32>,
}

/// What became of something from one version to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Added,
    Removed,
    Changed,
    Same,
}

impl Sign {
    /// The sign in front of a line.
    pub(crate) fn symbol(self) -> char {
        match self {
            Self::Added => '+',
            Self::Removed => '-',
            Self::Changed => '~',
            Self::Same => '=',
        }
    }
}

/// A difference in words, or that there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) sign: Sign,
    pub(crate) text: String,
}

/// Compares two versions of a request or response.
pub fn changes(
    key: ApiKey,
    (from, to): (i16, i16),
    direction: Direction,
) -> Result<Changes, NoSuchVersion> {
    let size = |version| {
        let api = ApiVersion { key, version };
        smallest_frame(api, direction).map(|frame| frame.len())
    };
    let sizes = (size(from)?, size(to)?);
    let api = ApiVersion { key, version: from };
    let schema = message_schema(key, direction).ok_or(NoSuchVersion { api })?;
    let header = |version| direction.header_version(key, version);
    Ok(Changes {
        direction,
        message: &schema.name,
        versions: (from, to),
        header_versions: (header(from), header(to)),
        flexible: flexible(schema, (from, to)),
        sizes,
        fields: fields(schema, (from, to)),
    })
}

/// What differs between two versions of a request or response, in words.
pub(crate) fn between(
    key: ApiKey,
    direction: Direction,
    versions: (i16, i16),
) -> Result<Vec<Change>, NoSuchVersion> {
    let changes = changes(key, versions, direction)?;
    let mut lines = Vec::new();
    let (old, new) = changes.header_versions;
    if old != new {
        let text = format!("header version {old} becomes {new}");
        lines.push(change(Sign::Changed, text));
    }
    lines.extend(in_words(changes.flexible, &changes.fields));
    if lines.is_empty() {
        lines.push(change(Sign::Same, "the same fields"));
    }
    let (old, new) = changes.sizes;
    lines.push(if old == new {
        change(Sign::Same, format!("the smallest has {}", bytes(old)))
    } else {
        let text = format!("the smallest has {} instead of {old}", bytes(new));
        change(Sign::Changed, text)
    });
    Ok(lines)
}

/// What differs in the fields of a message, and in how they are encoded, in words.
pub(crate) fn of_fields(schema: &Schema, versions: (i16, i16)) -> Vec<Change> {
    in_words(flexible(schema, versions), &fields(schema, versions))
}

fn in_words(flexible: (bool, bool), fields: &[FieldChange]) -> Vec<Change> {
    let mut lines = Vec::new();
    match flexible {
        (false, true) => lines.push(change(
            Sign::Changed,
            "lengths become compact, structs end with tagged fields",
        )),
        (true, false) => lines.push(change(
            Sign::Changed,
            "lengths are no longer compact, tagged fields are gone",
        )),
        _ => {}
    }
    lines.extend(fields.iter().filter_map(|field| {
        let path = &field.path;
        match (field.from, field.to) {
            (None, None) => None,
            (None, Some(new)) => {
                let text = format!("{path}: {}", field.text(new));
                Some(change(Sign::Added, text))
            }
            (Some(old), None) => {
                let text = format!("{path}: {}", field.text(old));
                Some(change(Sign::Removed, text))
            }
            (Some(old), Some(new)) => {
                let (old, new) = (field.text(old), field.text(new));
                let text = format!("{path}: {old} becomes {new}");
                Some(change(Sign::Changed, text))
            }
        }
    }));
    lines
}

fn change(sign: Sign, text: impl Into<String>) -> Change {
    Change {
        sign,
        text: text.into(),
    }
}

fn flexible(schema: &Schema, (from, to): (i16, i16)) -> (bool, bool) {
    let is_flexible = |version| schema.flexible_versions.contains(version);
    (is_flexible(from), is_flexible(to))
}

fn fields(schema: &Schema, versions: (i16, i16)) -> Vec<FieldChange> {
    let mut found = Vec::new();
    walk(schema, &schema.root, versions, &mut Vec::new(), &mut found);
    found
}

fn walk<'a>(
    schema: &'a Schema,
    owner: &'a Struct,
    (from, to): (i16, i16),
    path: &mut Vec<&'a str>,
    found: &mut Vec<FieldChange>,
) {
    for field in &owner.fields {
        path.push(&field.name);
        let (old, new) = (Traits::of(field, from), Traits::of(field, to));
        if old != new {
            found.push(FieldChange {
                path: path.join("."),
                ty: field.ty.to_string(),
                from: old,
                to: new,
            });
        }
        if old.is_some()
            && new.is_some()
            && let Some(owner) = field.ty.struct_name().and_then(|name| schema.find(name))
        {
            walk(schema, owner, (from, to), path, found);
        }
        path.pop();
    }
}

impl FieldChange {
    fn text(&self, traits: Traits) -> String {
        let mut text = self.ty.clone();
        if traits.nullable {
            text.push_str(", nullable");
        }
        if let Some(tag) = traits.tag {
            text.push_str(&format!(", tag {tag}"));
        }
        text
    }
}

impl Traits {
    fn of(field: &Field, version: i16) -> Option<Self> {
        field.versions.contains(version).then(|| Self {
            nullable: field.nullable_versions.contains(version),
            tag: field.tag.filter(|_| field.is_tagged(version)),
        })
    }
}
