use super::Finding;
use super::size::MAX_LINES;
use super::source::Source;

/// The list of exceptions, from the root.
pub(super) const PATH: &str = "xtask/tidy.allow";

/// Exceptions to the rules, each with its reason.
///
/// A line is `RULE PATH REASON…`, or `long-file PATH LINES REASON…`: the file may have so many lines
/// and no more, so that it can only get shorter. An exception that is not needed is a finding itself.
#[derive(Debug, Default)]
pub(super) struct Allowed {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    line: usize,
    rule: String,
    path: String,
    lines: Option<usize>,
}

impl Allowed {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut entries = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = || format!("{PATH}:{number}: not `RULE PATH REASON`");
            let mut words = line.split_whitespace();
            let rule = words.next().ok_or_else(wrong)?.to_owned();
            let path = words.next().ok_or_else(wrong)?.to_owned();
            let lines = match rule.as_str() {
                "long-file" => {
                    let lines = words.next().and_then(|word| word.parse().ok());
                    Some(lines.ok_or_else(|| format!("{PATH}:{number}: how many lines?"))?)
                }
                _ => None,
            };
            words.next().ok_or_else(wrong)?;
            entries.push(Entry {
                line: number,
                rule,
                path,
                lines,
            });
        }
        Ok(Self { entries })
    }

    /// The findings that remain, and those about the exceptions.
    pub(super) fn apply(&self, findings: Vec<Finding>, sources: &[Source]) -> Vec<Finding> {
        let mut used = vec![false; self.entries.len()];
        let mut remaining = Vec::new();
        for finding in findings {
            let entry = self
                .entries
                .iter()
                .position(|entry| entry.rule == finding.rule && entry.path == finding.path);
            match entry {
                Some(index) if self.covers(&self.entries[index], sources) => used[index] = true,
                Some(index) => {
                    used[index] = true;
                    remaining.push(finding);
                }
                None => remaining.push(finding),
            }
        }
        let unused = self.entries.iter().zip(used).filter(|(_, used)| !used);
        remaining.extend(unused.map(|(entry, _)| Finding {
            path: PATH.into(),
            line: entry.line,
            rule: "unused-exception",
            text: format!("{} keeps {} now; remove the line", entry.path, entry.rule),
        }));
        remaining
    }

    fn covers(&self, entry: &Entry, sources: &[Source]) -> bool {
        let Some(lines) = entry.lines else {
            return true;
        };
        sources
            .iter()
            .find(|source| source.path == entry.path)
            .is_none_or(|source| (MAX_LINES..=lines).contains(&source.lines().count()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(path: &str) -> Finding {
        Finding {
            path: path.into(),
            line: 0,
            rule: "long-file",
            text: String::new(),
        }
    }

    #[test]
    fn an_exception_covers_its_file_up_to_its_lines() {
        let sources = [
            Source::new("a.rs".into(), "x\n".repeat(450)),
            Source::new("b.rs".into(), "x\n".repeat(451)),
        ];
        let text = "# Files\nlong-file a.rs 450 a table\nlong-file b.rs 450 a table\n";
        let allowed = Allowed::parse(text).unwrap();
        let remaining = allowed.apply(vec![long("a.rs"), long("b.rs")], &sources);
        assert_eq!(remaining, [long("b.rs")]);
    }

    #[test]
    fn an_exception_nobody_needs_is_a_finding() {
        let allowed = Allowed::parse("unsafe a.rs it must\n").unwrap();
        let remaining = allowed.apply(Vec::new(), &[]);
        assert_eq!(remaining.len(), 1);
        assert_eq!(remaining[0].rule, "unused-exception");
    }

    #[test]
    fn an_exception_needs_a_reason() {
        for text in [
            "unsafe",
            "unsafe a.rs",
            "long-file a.rs 400",
            "long-file a.rs b c",
        ] {
            assert!(Allowed::parse(text).is_err(), "{text}");
        }
    }
}
