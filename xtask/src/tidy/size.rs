use super::Finding;
use super::source::{Source, code};

/// How many lines a file may have.
pub(super) const MAX_LINES: usize = 400;
/// How many columns a line of code may have, and the text of a comment.
const MAX_COLUMNS: usize = 100;

pub(super) fn check(source: &Source, findings: &mut Vec<Finding>) {
    if !is_written_by_hand(source) {
        return;
    }
    let mut find = |line, rule, text| {
        findings.push(Finding {
            path: source.path.clone(),
            line,
            rule,
            text,
        });
    };
    let lines = source.lines().count();
    if lines > MAX_LINES {
        find(
            0,
            "long-file",
            format!("{lines} lines; a file tells one story in {MAX_LINES}: split it"),
        );
    }
    for (number, line) in source.lines() {
        let columns = match comment(line) {
            Some(text) => text.chars().count(),
            // What people read stays in one piece, so that a search finds it.
            None if source.is_test(number) => 0,
            None => line.chars().count().min(code(line).chars().count()),
        };
        if columns > MAX_COLUMNS {
            find(
                number,
                "wide-line",
                format!("{columns} columns; break it at {MAX_COLUMNS}"),
            );
        }
        if line.ends_with([' ', '\t']) && !source.is_test(number) {
            find(
                number,
                "trailing-space",
                "space at the end; remove it".into(),
            );
        }
    }
}

/// The text of a line that is a comment as a whole.
fn comment(line: &str) -> Option<&str> {
    let markers = ["///", "//!", "//", "#", "*"];
    let line = line.trim_start();
    let text = markers
        .iter()
        .find_map(|marker| line.strip_prefix(marker))?;
    Some(text.trim_start())
}

/// Code: prose, data and lock files have lines of their own lengths.
fn is_written_by_hand(source: &Source) -> bool {
    let name = source.name();
    match name.rsplit_once('.') {
        Some((_, extension)) => matches!(extension, "rs" | "java" | "toml" | "sh"),
        // Scripts without an extension.
        None => source.text.starts_with("#!"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: String) -> Vec<&'static str> {
        let mut findings = Vec::new();
        check(&Source::new(path.into(), text), &mut findings);
        findings.iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn long_and_wide_code_is_found() {
        assert_eq!(rules("a.rs", "x\n".repeat(401)), ["long-file"]);
        assert_eq!(rules("a.rs", "x\n".repeat(400)), [""; 0]);
        assert_eq!(rules("a.rs", "é".repeat(101)), ["wide-line"]);
        assert_eq!(rules("a.rs", "é".repeat(100)), [""; 0]);
        assert_eq!(
            rules("a.rs", format!("    /// {}", "x".repeat(100))),
            [""; 0]
        );
        assert_eq!(
            rules("a.rs", format!("    /// {}", "x".repeat(101))),
            ["wide-line"]
        );
        assert_eq!(rules("a.rs", "x \n".into()), ["trailing-space"]);
        assert_eq!(rules("a.md", "é".repeat(101)), [""; 0]);
        assert_eq!(
            rules("bench/run", format!("#!/bin/sh\n{}", "x".repeat(101))),
            ["wide-line"]
        );
    }
}
