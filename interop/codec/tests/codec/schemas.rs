use std::collections::BTreeMap;

use klamm_java_peer::json;
use klamm_schema::{Schema, load_dir};

use crate::{Context, subjects};

/// The jars carry Apache's own schema files, comments and all; the generator takes them as they are.
pub(crate) fn equal(context: &mut Context) {
    let dir = tempfile::tempdir().unwrap();
    context
        .java
        .call("schemas", json!({ "dir": dir.path().to_str().unwrap() }))
        .unwrap();
    let java: BTreeMap<String, Schema> = load_dir(dir.path())
        .unwrap()
        .into_iter()
        .map(|schema| (schema.name.clone(), schema))
        .collect();
    let ours = subjects::schemas();
    assert_eq!(
        java.keys().collect::<Vec<_>>(),
        ours.keys().collect::<Vec<_>>()
    );
    for (name, schema) in &ours {
        assert_eq!(meaning(schema), meaning(&java[name]), "{name}");
    }
    println!("  {} schemas", java.len());
}

/// Everything a schema says but its explanations, which klamm's copies are without.
fn meaning(schema: &Schema) -> String {
    let mut schema = schema.clone();
    for owner in std::iter::once(&mut schema.root).chain(&mut schema.structs) {
        for field in &mut owner.fields {
            field.about.clear();
        }
    }
    format!("{schema:#?}")
}
