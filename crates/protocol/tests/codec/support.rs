//! Every message with its schema.

use std::path::{Path, PathBuf};

use klamm_protocol::{Bytes, Codec, codecs};
use klamm_schema::value::{self, RandomOptions};
use klamm_schema::{Schema, load_dir};

/// A message: its generated codec and the schema it was generated from.
pub(crate) struct Subject {
    pub(crate) codec: Codec,
    pub(crate) schema: Schema,
}

impl Subject {
    /// A random value of this message, encoded by the model.
    pub(crate) fn random_bytes(&self, version: i16, rng: &mut fastrand::Rng) -> Bytes {
        let options = RandomOptions::default();
        let value = value::random(&self.schema, version, options, &mut || rng.u64(..));
        Bytes::from(value::encode(&self.schema, version, &value))
    }
}

/// Every message that has a valid version.
pub(crate) fn subjects() -> Vec<Subject> {
    let codecs: Vec<Codec> = codecs().copied().collect();
    let mut schemas = schemas();
    schemas.retain(|schema| !schema.valid_versions.is_empty());
    assert_eq!(
        codecs.len(),
        schemas.len(),
        "every schema with a version has a codec"
    );
    codecs
        .into_iter()
        .map(|codec| {
            let index = schemas
                .iter()
                .position(|schema| schema.name == codec.name)
                .unwrap_or_else(|| panic!("{} has no schema", codec.name));
            Subject {
                codec,
                schema: schemas.swap_remove(index),
            }
        })
        .collect()
}

/// Every schema of the crate.
pub(crate) fn schemas() -> Vec<Schema> {
    let root = crate_dir().join("schemas");
    let folders = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    folders
        .flat_map(|folder| load_dir(&folder).unwrap())
        .collect()
}

/// A table of the crate, as lines of fields; without the heading.
pub(crate) fn facts(name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(crate_dir().join("facts").join(name)).unwrap();
    let rows = text.lines().skip(1);
    rows.map(|row| row.split('\t').map(str::to_owned).collect())
        .collect()
}

fn crate_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The seed of this run: random, unless `KLAMM_SEED` gives one, and named by a failing test.
pub(crate) fn seed() -> u64 {
    match std::env::var("KLAMM_SEED") {
        Ok(seed) => seed.parse().expect("KLAMM_SEED is a number"),
        Err(_) => fastrand::u64(..),
    }
}

/// How many random values each message and version gets.
pub(crate) fn instances() -> usize {
    if std::env::var_os("KLAMM_FULL").is_some() {
        1000
    } else {
        20
    }
}
