use klamm_protocol::{ApiKey, ApiVersion};
use klamm_schema::{Field, Schema, Struct};
use thiserror::Error;

use super::Look;
use crate::{Direction, NoSuchVersion, message_schema, smallest_frame};

/// Why there is nothing to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(transparent)]
pub struct NoChanges(#[from] pub NoSuchVersion);

/// What differs between two versions of an API.
pub fn changes(
    key: ApiKey,
    (from, to): (i16, i16),
    directions: &[Direction],
    look: Look,
) -> Result<String, NoChanges> {
    let title = format!("{key}: version {from} to {to}");
    let mut out = format!("{}\n", look.bold(&title));
    for direction in directions {
        let sizes = [from, to].map(|version| {
            let api = ApiVersion { key, version };
            smallest_frame(api, *direction).map(|frame| frame.len())
        });
        let [old, new] = sizes;
        let (old, new) = (old?, new?);
        let Some(schema) = message_schema(key, *direction) else {
            continue;
        };
        out.push_str(&format!("\n{}\n", look.bold(&schema.name)));
        let mut lines = Vec::new();
        let headers = [from, to].map(|version| direction.header_version(key, version));
        if headers[0] != headers[1] {
            lines.push((
                '~',
                format!("header version {} becomes {}", headers[0], headers[1]),
            ));
        }
        let flexible = [from, to].map(|version| schema.flexible_versions.contains(version));
        match flexible {
            [false, true] => lines.push((
                '~',
                "lengths become compact, structs end with tagged fields".to_owned(),
            )),
            [true, false] => lines.push((
                '~',
                "lengths are no longer compact, tagged fields are gone".to_owned(),
            )),
            _ => {}
        }
        compare(schema, (from, to), &mut lines);
        if lines.is_empty() {
            lines.push(('=', "the same fields".to_owned()));
        }
        lines.push(if old == new {
            ('=', format!("the smallest has {old} bytes"))
        } else {
            (
                '~',
                format!("the smallest has {new} bytes instead of {old}"),
            )
        });
        for (sign, text) in lines {
            let code = match sign {
                '+' => "32",
                '-' => "31",
                '~' => "33",
                _ => "2",
            };
            out.push_str(&look.paint(code, &format!("{sign} {text}")));
            out.push('\n');
        }
    }
    Ok(out)
}

fn compare(schema: &Schema, versions: (i16, i16), lines: &mut Vec<(char, String)>) {
    walk(schema, &schema.root, versions, &mut Vec::new(), lines);
}

fn walk<'a>(
    schema: &'a Schema,
    owner: &'a Struct,
    (from, to): (i16, i16),
    path: &mut Vec<&'a str>,
    lines: &mut Vec<(char, String)>,
) {
    for field in &owner.fields {
        path.push(&field.name);
        let place = path.join(".");
        match (field.versions.contains(from), field.versions.contains(to)) {
            (false, true) => {
                lines.push(('+', format!("{place}: {}{}", field.ty, traits(field, to))))
            }
            (true, false) => {
                lines.push(('-', format!("{place}: {}{}", field.ty, traits(field, from))))
            }
            (true, true) => {
                let (old, new) = (traits(field, from), traits(field, to));
                if old != new {
                    let (old, new) = (format!("{}{old}", field.ty), format!("{}{new}", field.ty));
                    lines.push(('~', format!("{place}: {old} becomes {new}")));
                }
                if let Some(owner) = field.ty.struct_name().and_then(|name| schema.find(name)) {
                    walk(schema, owner, (from, to), path, lines);
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
