use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use klamm_protocol::{Codec, codecs};
use klamm_schema::{Schema, load_dir};

/// A message: its generated codec and the schema it was generated from.
pub(crate) struct Subject {
    pub(crate) codec: Codec,
    pub(crate) schema: Schema,
}

/// Every message that has a valid version.
pub(crate) fn all() -> Vec<Subject> {
    let mut schemas = schemas();
    codecs()
        .map(|&codec| {
            let schema = schemas.remove(codec.name);
            Subject {
                codec,
                schema: schema.unwrap_or_else(|| panic!("{} has no schema", codec.name)),
            }
        })
        .collect()
}

/// Every schema that klamm generates from, by name.
pub(crate) fn schemas() -> BTreeMap<String, Schema> {
    let folders = std::fs::read_dir(schema_dir()).unwrap();
    folders
        .flat_map(|folder| load_dir(&folder.unwrap().path()).unwrap())
        .map(|schema| (schema.name.clone(), schema))
        .collect()
}

fn schema_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/protocol/schemas")
}
