use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use klamm_schema::Schema;

/// Schema files by the folder that they have in this project.
pub(super) struct Folders {
    folders: BTreeMap<String, Vec<File>>,
}

/// A schema file.
pub(super) struct File {
    pub(super) path: PathBuf,
    /// The file's own name.
    pub(super) name: String,
    pub(super) text: String,
    pub(super) schema: Schema,
}

impl Folders {
    /// This project's: each folder below `dir`.
    pub(super) fn ours(dir: &Path) -> Result<Self, String> {
        let mut folders = BTreeMap::new();
        for path in entries(dir)? {
            let name = file_name(&path);
            folders.insert(name, read_folder(&path)?);
        }
        Ok(Self { folders })
    }

    /// Those below any folders, such as a source tree. They belong to this project's folder that
    /// most of their neighbours are in.
    pub(super) fn theirs(given: &[PathBuf], ours: &Self) -> Result<Self, String> {
        let mut folders = BTreeMap::<String, Vec<File>>::new();
        let mut found = Vec::new();
        for dir in given {
            let before = found.len();
            find(dir, &mut found)?;
            if found.len() == before {
                return Err(format!("{}: no schema files in it", dir.display()));
            }
        }
        for dir in found {
            let files = read_folder(&dir)?;
            let folder = ours.folder_of(&files).unwrap_or_else(|| module_name(&dir));
            folders.entry(folder).or_default().extend(files);
        }
        Ok(Self { folders })
    }

    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &File)> {
        let folders = self.folders.iter();
        folders.flat_map(|(folder, files)| files.iter().map(move |file| (folder.as_str(), file)))
    }

    pub(super) fn schemas(&self) -> impl Iterator<Item = &Schema> {
        self.files().map(|(_, file)| &file.schema)
    }

    /// The folder that most of these schemas are in.
    fn folder_of(&self, files: &[File]) -> Option<String> {
        let shared = |folder: &[File]| {
            let known = |file: &&File| {
                folder
                    .iter()
                    .any(|other| other.schema.name == file.schema.name)
            };
            files.iter().filter(known).count()
        };
        let counts = self
            .folders
            .iter()
            .map(|(name, folder)| (shared(folder), name));
        counts
            .filter(|(count, _)| *count > 0)
            .max()
            .map(|(_, name)| name.clone())
    }
}

/// The folders with schemas at `dir` or below. In a source tree only those that ship have them.
fn find(dir: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let mut has_schemas = false;
    for path in entries(dir)? {
        if path.is_dir() {
            let name = file_name(&path);
            if !matches!(name.as_str(), "test" | "target" | "build" | ".git") {
                find(&path, found)?;
            }
        } else if !has_schemas && is_json(&path) {
            // Other JSON files lie about, too.
            let text = read(&path)?;
            has_schemas = text.contains("\"validVersions\"") && text.contains("\"type\"");
        }
    }
    if has_schemas {
        found.push(dir.to_owned());
    }
    Ok(())
}

/// The module of a source tree that a folder belongs to.
fn module_name(dir: &Path) -> String {
    let parts: Vec<String> = dir
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    let src = parts.iter().position(|part| part == "src");
    match src.and_then(|index| index.checked_sub(1)) {
        Some(index) => parts[index].clone(),
        None => file_name(dir),
    }
}

fn read_folder(dir: &Path) -> Result<Vec<File>, String> {
    let mut files = Vec::new();
    for path in entries(dir)? {
        if !is_json(&path) {
            continue;
        }
        let text = read(&path)?;
        let schema =
            Schema::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        files.push(File {
            name: file_name(&path),
            path,
            text,
            schema,
        });
    }
    Ok(files)
}

fn is_json(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// What is in a folder, in order.
fn entries(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let problem = |error| format!("{}: {error}", dir.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(problem)? {
        paths.push(entry.map_err(problem)?.path());
    }
    paths.sort();
    Ok(paths)
}
