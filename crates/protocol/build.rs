//! Turns the schemas and tables in this folder into Rust.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use klamm_schema::{load_dir, rust};

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
    for file in rust::generate(&folders) {
        fs::write(out.join(&file.name), file.text)?;
    }
    let errors = fs::read_to_string(Path::new("facts/errors.tsv"))?;
    let errors = rust::error_codes(&errors).map_err(|line| format!("facts/errors.tsv: {line}"))?;
    fs::write(out.join("error_codes.rs"), errors)?;
    Ok(())
}
