use std::fmt::Write as _;

/// Rust source in the making, indented by its braces.
#[derive(Debug, Default)]
pub(super) struct Code {
    text: String,
    depth: usize,
}

impl Code {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Adds a line. It is indented one step less if it begins with a closing bracket, and what
    /// follows one step more if it ends with an opening one.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if line.starts_with(['}', ')', ']']) {
            self.depth = self.depth.saturating_sub(1);
        }
        if line.is_empty() {
            self.text.push('\n');
        } else {
            let _ = writeln!(self.text, "{:width$}{line}", "", width = 4 * self.depth);
        }
        if line.ends_with(['{', '(', '[']) {
            self.depth += 1;
        }
    }

    /// Adds a block: `head {`, what `body` adds, `}`. Without a condition (`None`) only the body.
    pub(super) fn when(&mut self, condition: Option<&str>, body: impl FnOnce(&mut Self)) {
        match condition {
            None => body(self),
            Some(condition) => {
                self.line(format!("if {condition} {{"));
                body(self);
                self.line("}");
            }
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}
