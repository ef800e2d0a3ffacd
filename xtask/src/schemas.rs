//! Apache Kafka's schemas of another release, compared with the ones in this project.

mod diff;
mod fold;
mod json;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use klamm_schema::{Schema, rust};

use fold::Folders;

/// Where this project has its schemas, from the root.
const OURS: &str = "crates/protocol/schemas";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Print,
    Check,
    Update,
}

/// Compares, and says whether the outcome is a success.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<bool, String> {
    let mut mode = Mode::Print;
    let mut given = Vec::new();
    for argument in arguments {
        match argument.as_str() {
            "--check" => mode = Mode::Check,
            "--update" => mode = Mode::Update,
            _ if argument.starts_with('-') => return Err(format!("{argument} is not known")),
            _ => given.push(PathBuf::from(argument)),
        }
    }
    if given.is_empty() {
        return Err("which folder? Name one with schema files".into());
    }
    let ours_dir = root.join(OURS);
    let ours = Folders::ours(&ours_dir)?;
    let theirs = Folders::theirs(&given, &ours)?;
    let files = generate(&theirs)?;
    println!(
        "{} schemas read; they make {} files of code",
        theirs.schemas().count(),
        files
    );
    let lines = diff::compare(&covered(&ours, &theirs), &by_name(&theirs));
    for line in &lines {
        println!("{line}");
    }
    match lines.len() {
        0 => println!("They say the same as the schemas in this project."),
        count => println!("{count} differences from the schemas in this project."),
    }
    if mode == Mode::Update {
        update(&ours_dir, &ours, &theirs)?;
    }
    Ok(mode != Mode::Check || lines.is_empty())
}

/// Generates code from schemas, to see that it can be done, and says how many files it makes.
fn generate(folders: &Folders) -> Result<usize, String> {
    let mut input = BTreeMap::<String, Vec<Schema>>::new();
    for (folder, file) in folders.files() {
        let schemas = input.entry(folder.to_owned()).or_default();
        schemas.push(file.schema.clone());
    }
    let files = rust::generate(&input);
    match files.iter().find(|file| file.text.is_empty()) {
        Some(file) => Err(format!("{} came out empty", file.name)),
        None => Ok(files.len()),
    }
}

fn by_name(folders: &Folders) -> BTreeMap<&str, &Schema> {
    let schemas = folders.schemas();
    schemas.map(|schema| (&*schema.name, schema)).collect()
}

/// The schemas of the folders that the given ones have, too: with the clients' schemas alone,
/// those of the metadata log are not missing.
fn covered<'a>(ours: &'a Folders, theirs: &Folders) -> BTreeMap<&'a str, &'a Schema> {
    let folders: BTreeSet<&str> = theirs.files().map(|(folder, _)| folder).collect();
    let files = ours.files().filter(|(folder, _)| folders.contains(folder));
    files
        .map(|(_, file)| (&*file.schema.name, &file.schema))
        .collect()
}

/// Writes the given schemas in place of this project's.
fn update(dir: &Path, ours: &Folders, theirs: &Folders) -> Result<(), String> {
    let names = by_name(theirs);
    let gone = covered(ours, theirs);
    let gone = ours
        .files()
        .filter(|(_, file)| gone.contains_key(&*file.schema.name))
        .filter(|(_, file)| !names.contains_key(&*file.schema.name));
    for (folder, file) in gone {
        let path = dir.join(folder).join(&file.name);
        fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("removed {folder}/{}", file.name);
    }
    for (folder, file) in theirs.files() {
        let path = dir.join(folder).join(&file.name);
        let text = json::condense(&file.text)
            .map_err(|error| format!("{}: {error}", file.path.display()))?;
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        fs::create_dir_all(dir.join(folder))
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        println!("wrote {folder}/{}", file.name);
    }
    Ok(())
}
