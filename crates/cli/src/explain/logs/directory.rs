use std::path::{Path, PathBuf};
use std::{fs, io};

use klamm_explain::input::{Form, base_offset};
use klamm_explain::log::Filter;

use crate::errors::Problem;
use crate::explain::input::unreadable;
use crate::table::printable;

/// The most files of a directory that are looked at.
pub(super) const MOST_FILES: usize = 100_000;

/// What is in a directory.
pub(super) struct Listing {
    files: Vec<LogFile>,
    /// Names of partitions' directories.
    directories: Vec<String>,
    /// Names of files that are not read.
    unknown: Vec<String>,
    /// Whether there are more files than are looked at.
    pub(super) is_cut: bool,
}

/// A file that can be read.
pub(super) struct LogFile {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) form: Form,
    pub(super) size: Option<u64>,
    /// The offset in its name.
    offset: Option<i64>,
}

/// Lists a directory: texts first, then snapshots, then each segment and what belongs to it.
pub(super) fn list(path: &Path) -> Result<Listing, Problem> {
    let name = path.display().to_string();
    let mut listing = Listing {
        files: Vec::new(),
        directories: Vec::new(),
        unknown: Vec::new(),
        is_cut: false,
    };
    let entries = fs::read_dir(path).and_then(|mut entries| {
        let mut found = Vec::new();
        for entry in entries.by_ref().take(MOST_FILES) {
            let entry = entry?;
            found.push((entry.path(), entry.metadata()?));
        }
        listing.is_cut = entries.next().is_some();
        io::Result::Ok(found)
    });
    for (path, metadata) in entries.map_err(|error| unreadable(&name, &error))? {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if metadata.is_dir() {
            listing.directories.push(name);
            continue;
        }
        match Form::tell(&[], Some(&name)) {
            Form::Frames => listing.unknown.push(name),
            form => listing.files.push(LogFile {
                offset: base_offset(&name),
                size: Some(metadata.len()),
                path,
                name,
                form,
            }),
        }
    }
    listing.files.sort_by_key(|file| {
        let rank = match file.form {
            Form::Text => 0,
            Form::Snapshot => 1,
            _ => 2,
        };
        (
            rank,
            file.offset,
            Form::ALL.iter().position(|form| *form == file.form),
            file.name.clone(),
        )
    });
    listing.directories.sort();
    listing.unknown.sort();
    if listing.files.is_empty() && listing.directories.is_empty() {
        return Err(Problem::misuse(format!("{name} is no log directory"))
            .because("no file in it has the name of a log segment, an index or a checkpoint")
            .next("give the directory of a partition, such as __cluster_metadata-0"));
    }
    Ok(listing)
}

impl Listing {
    /// The files that may have records which the filter takes.
    pub(super) fn files_for<'a>(&'a self, filter: &'a Filter) -> impl Iterator<Item = &'a LogFile> {
        let starts: Vec<i64> = self
            .files
            .iter()
            .filter(|file| file.form == Form::Log)
            .filter_map(|file| file.offset)
            .collect();
        self.files.iter().filter(move |file| {
            let (Form::Log, Some(first)) = (file.form, file.offset) else {
                return true;
            };
            let next = starts.iter().find(|start| **start > first);
            let is_before = next
                .zip(filter.from)
                .is_some_and(|(next, from)| *next <= from);
            !is_before && filter.to.is_none_or(|to| first <= to)
        })
    }

    /// What else is there.
    pub(super) fn others(&self) -> String {
        let mut text = String::new();
        if !self.directories.is_empty() {
            text.push_str("directories (give one of them):\n");
            for name in &self.directories {
                text.push_str(&format!("  {}\n", printable(name)));
            }
        }
        if !self.unknown.is_empty() {
            let names: Vec<_> = self.unknown.iter().map(|name| printable(name)).collect();
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}not read: {}\n", names.join(", ")));
        }
        // A line apart from the files that were read.
        if self.files.is_empty() || text.is_empty() {
            text
        } else {
            format!("\n{text}")
        }
    }
}
