use klamm_protocol::{ApiKey, ApiVersion};
use klamm_schema::{Field, Schema, Struct};

use crate::{Direction, NoSuchVersion, message_schema, smallest_frame};

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

/// A difference between two versions of a message, or that there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) sign: Sign,
    pub(crate) text: String,
}

fn change(sign: Sign, text: impl Into<String>) -> Change {
    Change {
        sign,
        text: text.into(),
    }
}

/// What differs between two versions of a request or response.
pub(crate) fn between(
    key: ApiKey,
    direction: Direction,
    (from, to): (i16, i16),
) -> Result<Vec<Change>, NoSuchVersion> {
    let missing = |version| NoSuchVersion {
        api: ApiVersion { key, version },
    };
    let size = |version| {
        let api = ApiVersion { key, version };
        smallest_frame(api, direction).map(|frame| frame.len())
    };
    let (old, new) = (size(from)?, size(to)?);
    let schema = message_schema(key, direction).ok_or(missing(from))?;
    let mut changes = Vec::new();
    let headers = [from, to].map(|version| direction.header_version(key, version));
    if headers[0] != headers[1] {
        let text = format!("header version {} becomes {}", headers[0], headers[1]);
        changes.push(change(Sign::Changed, text));
    }
    changes.extend(of_fields(schema, (from, to)));
    if changes.is_empty() {
        changes.push(change(Sign::Same, "the same fields"));
    }
    changes.push(if old == new {
        change(Sign::Same, format!("the smallest has {old} bytes"))
    } else {
        let text = format!("the smallest has {new} bytes instead of {old}");
        change(Sign::Changed, text)
    });
    Ok(changes)
}

/// What differs in the fields of a message, and in how they are encoded.
pub(crate) fn of_fields(schema: &Schema, (from, to): (i16, i16)) -> Vec<Change> {
    let mut changes = Vec::new();
    let flexible = [from, to].map(|version| schema.flexible_versions.contains(version));
    match flexible {
        [false, true] => changes.push(change(
            Sign::Changed,
            "lengths become compact, structs end with tagged fields",
        )),
        [true, false] => changes.push(change(
            Sign::Changed,
            "lengths are no longer compact, tagged fields are gone",
        )),
        _ => {}
    }
    walk(
        schema,
        &schema.root,
        (from, to),
        &mut Vec::new(),
        &mut changes,
    );
    changes
}

fn walk<'a>(
    schema: &'a Schema,
    owner: &'a Struct,
    (from, to): (i16, i16),
    path: &mut Vec<&'a str>,
    changes: &mut Vec<Change>,
) {
    for field in &owner.fields {
        path.push(&field.name);
        let place = path.join(".");
        let as_in = |version| format!("{}{}", field.ty, traits(field, version));
        match (field.versions.contains(from), field.versions.contains(to)) {
            (false, true) => {
                changes.push(change(Sign::Added, format!("{place}: {}", as_in(to))));
            }
            (true, false) => {
                changes.push(change(Sign::Removed, format!("{place}: {}", as_in(from))));
            }
            (true, true) => {
                let (old, new) = (as_in(from), as_in(to));
                if old != new {
                    let text = format!("{place}: {old} becomes {new}");
                    changes.push(change(Sign::Changed, text));
                }
                if let Some(owner) = field.ty.struct_name().and_then(|name| schema.find(name)) {
                    walk(schema, owner, (from, to), path, changes);
                }
            }
            (false, false) => {}
        }
        path.pop();
    }
}

fn traits(field: &Field, version: i16) -> String {
    let mut text = String::new();
    if field.nullable_versions.contains(version) {
        text.push_str(", nullable");
    }
    if let Some(tag) = field.tag.filter(|_| field.is_tagged(version)) {
        text.push_str(&format!(", tag {tag}"));
    }
    text
}
