//! Kafka's checkpoint files: a version, a count, and so many lines.

use crate::error::LogError;
use crate::storage::Dir;

/// The most that a checkpoint file may have: a million partitions with names of 249 characters fit.
const MAX_LEN: usize = 512 * 1024 * 1024;
const VERSION: &str = "0";

/// Reads a checkpoint file; none at all is an empty one, as is one without a byte, which Apache
/// Kafka makes before it has anything to write.
pub(crate) fn read<T>(
    dir: &dyn Dir,
    name: &str,
    entry: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, LogError> {
    let bytes = dir.read_small(name, MAX_LEN);
    let bytes = bytes.map_err(LogError::io("read", dir.file(name)))?;
    let bytes = bytes.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    parse(&text, entry).map_err(|problem| LogError::Unreadable {
        file: dir.file(name),
        problem,
    })
}

fn parse<T>(text: &str, entry: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let mut lines = (1..).zip(text.lines());
    let mut line = |what: &str| lines.next().ok_or_else(|| format!("it ends before {what}"));
    let (_, version) = line("the version in line 1")?;
    if version.trim() != VERSION {
        return Err(format!(
            "its version is {version:?}, klamm reads version {VERSION}"
        ));
    }
    let (_, count) = line("the count in line 2")?;
    let count: usize = count
        .trim()
        .parse()
        .map_err(|_| format!("line 2 should be a count and is {count:?}"))?;
    let mut entries = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let read = entry(line).ok_or_else(|| format!("line {number} is no entry: {line:?}"))?;
        entries.push(read);
    }
    if entries.len() != count {
        let found = entries.len();
        return Err(format!(
            "it should have {count} entries, as line 2 says, and has {found}"
        ));
    }
    Ok(entries)
}

/// Replaces a checkpoint file as a whole.
pub(crate) fn write(
    dir: &dyn Dir,
    name: &str,
    entries: impl ExactSizeIterator<Item = String>,
) -> Result<(), LogError> {
    let mut text = format!("{VERSION}\n{}\n", entries.len());
    for entry in entries {
        text.push_str(&entry);
        text.push('\n');
    }
    let written = dir.replace(name, text.as_bytes());
    written.map_err(LogError::io("write", dir.file(name)))
}
