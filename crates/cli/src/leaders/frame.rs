use crate::args::Format;
use crate::cut::cut;
use crate::errors::Problem;
use crate::output::{Output, WriteError};
use crate::table::{Style, reflowed};

/// What `--watch` shows: on a terminal in place of what was there, elsewhere after it.
pub(crate) struct Frame<'a> {
    out: &'a Output,
    format: Format,
    shown: usize,
    /// What the last look that worked showed.
    last: String,
}

const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";
const CLEAR_SCREEN: &str = "\x1b[2J";
const HOME: &str = "\x1b[H";
const CLEAR_LINE_REST: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";

impl<'a> Frame<'a> {
    pub(crate) fn new(out: &'a Output, format: Format) -> Self {
        Self {
            out,
            format,
            shown: 0,
            last: String::new(),
        }
    }

    /// Shows the next result.
    pub(crate) fn show(&mut self, caption: &str, text: &str) -> Result<(), WriteError> {
        text.clone_into(&mut self.last);
        let caption = Style::Dim.paint(caption, self.out.look());
        self.draw(&caption, text)
    }

    /// The cluster could not be asked: the last result stays, under the reason.
    pub(crate) fn trouble(&mut self, caption: &str, problem: &Problem) -> Result<(), WriteError> {
        let Some((width, _)) = self.out.size() else {
            self.out.problem(problem);
            return Ok(());
        };
        let problem = Style::Bad.paint(&reflowed(&problem.to_string(), width), self.out.look());
        let text = self.last.clone();
        self.draw(&format!("{caption}\n{problem}\nAs it was before:"), &text)
    }

    fn draw(&mut self, caption: &str, text: &str) -> Result<(), WriteError> {
        let first = self.shown == 0;
        self.shown += 1;
        match self.out.size() {
            Some(size) => {
                let begin = if first {
                    format!("{HIDE_CURSOR}{CLEAR_SCREEN}")
                } else {
                    String::new()
                };
                self.out
                    .results(&format!("{begin}{}", in_place(caption, text, size)))
            }
            // Objects are a line each; other results are told apart by an empty line.
            None if first || self.format == Format::Json => self.out.results(text),
            None => self.out.results(&format!("\n{text}")),
        }
    }

    /// Leaves the terminal as it was found.
    pub(crate) fn end(&self) -> Result<(), WriteError> {
        if self.out.size().is_some() {
            self.out.results(&format!("{SHOW_CURSOR}\r\n"))
        } else {
            Ok(())
        }
    }
}

/// A screenful that replaces the last one without flicker: each line is cleared to its end, then
/// all below.
fn in_place(caption: &str, text: &str, (width, height): (usize, usize)) -> String {
    let lines: Vec<&str> = caption.lines().chain([""]).chain(text.lines()).collect();
    // The last row stays free, so that nothing scrolls.
    let rows = height.saturating_sub(1).max(1);
    let fits = lines.len() <= rows;
    let mut out = HOME.to_owned();
    for line in lines.iter().take(if fits { rows } else { rows - 1 }) {
        out.extend([cut(line, width).as_str(), CLEAR_LINE_REST, "\r\n"]);
    }
    if !fits {
        let hidden = lines.len() - (rows - 1);
        let note = format!("({hidden} more lines: a taller terminal shows them)");
        out.extend([cut(&note, width).as_str(), CLEAR_LINE_REST, "\r\n"]);
    }
    out.push_str(CLEAR_BELOW);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_fill_the_screen_and_no_more() {
        let frame = in_place("caption", "one\ntwo\n", (80, 24));
        assert_eq!(
            frame,
            "\x1b[Hcaption\x1b[K\r\n\x1b[K\r\none\x1b[K\r\ntwo\x1b[K\r\n\x1b[J"
        );
        let text: String = (0..50).map(|n| format!("{n}\n")).collect();
        let narrow = in_place("caption", &text, (10, 10));
        assert!(
            narrow.contains("\r\n(44 more \u{2026}\x1b[K\r\n"),
            "{narrow:?}"
        );
        let frame = in_place("caption", &text, (80, 10));
        assert_eq!(frame.matches("\r\n").count(), 9);
        assert!(frame.contains("(44 more lines"), "{frame:?}");
    }
}
