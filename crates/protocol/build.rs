//! Turns the schemas and tables in this folder into Rust.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use klamm_schema::{Schema, load_dir, rust};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=schemas");
    println!("cargo::rerun-if-changed=facts/errors.tsv");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut folders = BTreeMap::new();
    for entry in fs::read_dir("schemas")? {
        let path = entry?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .ok_or("folder name")?;
        folders.insert(name.to_owned(), load_dir(&path)?);
    }
    fs::write(out.join("schemas.rs"), schema_texts(&folders)?)?;
    for file in rust::generate(&folders) {
        fs::write(out.join(&file.name), file.text)?;
    }
    let errors = fs::read_to_string(Path::new("facts/errors.tsv"))?;
    let errors = rust::error_codes(&errors).map_err(|line| format!("facts/errors.tsv: {line}"))?;
    fs::write(out.join("error_codes.rs"), errors)?;
    Ok(())
}

/// The table of the schemas' texts, ordered by name. Not every file has the name of its schema.
fn schema_texts(folders: &BTreeMap<String, Vec<Schema>>) -> Result<String, Box<dyn Error>> {
    let mut rows = BTreeMap::new();
    for (folder, schemas) in folders {
        let mut files: Vec<_> = fs::read_dir(Path::new("schemas").join(folder))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_, std::io::Error>>()?;
        files.retain(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        });
        files.sort();
        // The order of `load_dir`.
        for (path, schema) in files.iter().zip(schemas) {
            let text =
                format!("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/\", {path:?}))");
            let row = format!(
                "Schema {{ folder: {folder:?}, name: {:?}, text: {text} }},\n",
                schema.name
            );
            if rows.insert(schema.name.clone(), row).is_some() {
                return Err(format!("two schemas are called {}", schema.name).into());
            }
        }
    }
    let rows: String = rows.into_values().collect();
    Ok(format!(
        "/// Every schema of Apache Kafka 4.4.0, in the order of the names.\n\
         pub const ALL: &[Schema] = &[\n{rows}];\n"
    ))
}
