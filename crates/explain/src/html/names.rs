use std::collections::BTreeMap;

use klamm_schema::{Schema, Struct};
use serde::Serialize;

use super::index;
use crate::{Direction, apis, message_schema};

/// What a search looks through.
#[derive(Serialize)]
struct Names {
    /// Name, what it is, and where: a page, or a place on one.
    pages: Vec<(String, String, String)>,
    /// For each field the messages that have it: the index of the page times 4, and 1 for its
    /// request or 2 for its response.
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
