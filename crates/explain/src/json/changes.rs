use klamm_protocol::ApiKey;
use serde::Serialize;

use super::line;
use crate::changes::Traits;
use crate::{Direction, NoSuchVersion};

#[derive(Serialize)]
struct ChangesJson {
    api_key: i16,
    name: Option<&'static str>,
    kind: &'static str,
    message: &'static str,
    version: Pair<i16>,
    header_version: Pair<i16>,
    flexible: Pair<bool>,
    size: Pair<usize>,
    fields: Vec<FieldJson>,
}

#[derive(Serialize)]
struct Pair<T> {
    from: T,
    to: T,
}

#[derive(Serialize)]
struct FieldJson {
    path: String,
    change: &'static str,
    #[serde(rename = "type")]
    ty: String,
    from: Option<TraitsJson>,
    to: Option<TraitsJson>,
}

#[derive(Serialize)]
struct TraitsJson {
    nullable: bool,
    tag: Option<u32>,
}

/// What differs between two versions of a request or response, as one JSON object on one line.
pub fn changes(
    key: ApiKey,
    versions: (i16, i16),
    direction: Direction,
) -> Result<String, NoSuchVersion> {
    let changes = crate::changes(key, versions, direction)?;
    let fields = changes.fields.into_iter().map(|field| FieldJson {
        path: field.path,
        change: match (field.from, field.to) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        },
        ty: field.ty,
        from: field.from.map(TraitsJson::from),
        to: field.to.map(TraitsJson::from),
    });
    Ok(line(&ChangesJson {
        api_key: key.0,
        name: key.name(),
        kind: direction.name(),
        message: changes.message,
        version: changes.versions.into(),
        header_version: changes.header_versions.into(),
        flexible: changes.flexible.into(),
        size: changes.sizes.into(),
        fields: fields.collect(),
    }))
}

impl<T> From<(T, T)> for Pair<T> {
    fn from((from, to): (T, T)) -> Self {
        Self { from, to }
    }
}

impl From<Traits> for TraitsJson {
    fn from(traits: Traits) -> Self {
        Self {
            nullable: traits.nullable,
            tag: traits.tag,
        }
    }
}
