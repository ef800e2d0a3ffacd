use std::collections::BTreeMap;

use klamm_metadata::Feature;
use klamm_protocol::ErrorCode;
use klamm_schema::{Schema, Struct};
use serde::Serialize;

use super::{batches, errors, features, index, records};
use crate::{Direction, apis, message_schema};

/// What a search looks through.
#[derive(Serialize)]
struct Names {
    /// Name, what it is, and where: a page, or a place on one.
    pages: Vec<(String, String, String)>,
    /// For each field the messages that have it: the index of the page times 4, and 1 for its
    /// request or 2 for its response, or neither for a record.
    fields: BTreeMap<&'static str, Vec<usize>>,
}

/// The script with all names.
pub(super) fn script() -> String {
    let mut names = Names {
        pages: Vec::new(),
        fields: BTreeMap::new(),
    };
    for key in apis() {
        let page = names.pages.len();
        let name = key.name().unwrap_or_default().to_owned();
        let what = format!("API {}", key.0);
        names.pages.push((name, what, index::path(key)));
        for (direction, mark) in Direction::BOTH.into_iter().zip(1..) {
            if let Some(schema) = message_schema(key, direction) {
                names.add_fields(schema, page * 4 + mark);
            }
        }
    }
    for schema in records::all() {
        let page = names.pages.len();
        let path = records::path(&schema.name);
        let what = "record".to_owned();
        names.pages.push((schema.name.clone(), what, path));
        names.add_fields(schema, page * 4);
    }
    for code in ErrorCode::all() {
        let name = code.name().unwrap_or_default().to_owned();
        let path = format!("{}#{name}", errors::PATH);
        names.pages.push((name, format!("error {}", code.0), path));
    }
    for (name, path) in [
        ("Record batches", batches::PATH.to_owned()),
        ("metadata.version", features::PATH.to_owned()),
    ] {
        names.pages.push((name.to_owned(), "page".to_owned(), path));
    }
    for feature in Feature::ALL {
        let path = format!("{}#{}", features::PATH, feature.name);
        let what = "feature".to_owned();
        names.pages.push((feature.name.to_owned(), what, path));
    }
    let json = serde_json::to_string(&names).expect("keys are texts");
    format!("const KLAMM_NAMES = {json};\n")
}

impl Names {
    fn add_fields(&mut self, schema: &'static Schema, place: usize) {
        let structs = [&schema.root].into_iter().chain(&schema.structs);
        let lives = |owner: &&Struct| !owner.versions.intersect(schema.valid_versions).is_empty();
        for field in structs.filter(lives).flat_map(|owner| &owner.fields) {
            if field.versions.intersect(schema.valid_versions).is_empty() {
                continue;
            }
            let places = self.fields.entry(&field.name).or_default();
            if places.last() != Some(&place) {
                places.push(place);
            }
        }
    }
}
