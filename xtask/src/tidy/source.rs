/// A text file of the repository.
pub(super) struct Source {
    /// From the root, with slashes.
    pub(super) path: String,
    pub(super) text: String,
    /// The first line of the unit tests at the end of the file, counted from 1.
    tests_from: usize,
}

impl Source {
    pub(super) fn new(path: String, text: String) -> Self {
        Self {
            tests_from: tests_from(&text),
            path,
            text,
        }
    }

    /// The lines with their numbers, counted from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The file's name with the extension.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The crate below `crates/` that the file belongs to.
    pub(super) fn crate_name(&self) -> Option<&str> {
        let (name, _) = self.path.strip_prefix("crates/")?.split_once('/')?;
        Some(name)
    }

    /// Whether the whole file is for tests.
    pub(super) fn is_test_file(&self) -> bool {
        let name = self.name();
        self.path.split('/').any(|part| part == "tests")
            || matches!(name, "tests.rs" | "testing.rs")
            || self.path.starts_with("interop/")
    }

    /// Whether a line is only compiled for tests.
    pub(super) fn is_test(&self, line: usize) -> bool {
        self.is_test_file() || line >= self.tests_from
    }
}

/// Where the module of unit tests begins, which is at the end of a file.
fn tests_from(text: &str) -> usize {
    let mut previous = "";
    for (number, line) in (1..).zip(text.lines()) {
        if previous == "#[cfg(test)]" && line.starts_with("mod tests {") {
            return number;
        }
        previous = line;
    }
    usize::MAX
}

/// The code of a line: without a comment, and with strings emptied.
pub(super) fn code(line: &str) -> String {
    let mut code = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    let mut in_string = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' if in_string => {
                chars.next();
            }
            '"' => {
                in_string = !in_string;
                code.push(c);
            }
            // A character literal may be a quote; a lifetime has no second apostrophe.
            '\'' if !in_string && chars.peek() == Some(&'"') => {
                chars.next();
                chars.next();
            }
            '/' if !in_string && chars.peek() == Some(&'/') => break,
            _ if in_string => {}
            _ => code.push(c),
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_has_no_comments_and_no_strings() {
        assert_eq!(code("a(); // .unwrap()"), "a(); ");
        assert_eq!(code(r#"a("// no \" comment"); b"#), r#"a(""); b"#);
        assert_eq!(code(r#"find('"'); b // c"#), "find(); b ");
        assert_eq!(code("/// docs"), "");
    }

    #[test]
    fn unit_tests_begin_at_their_module() {
        let text = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n}\n".to_owned();
        let source = Source::new("crates/net/src/a.rs".into(), text);
        assert!(!source.is_test(3));
        assert!(source.is_test(4));
        assert_eq!(source.crate_name(), Some("net"));
    }
}
