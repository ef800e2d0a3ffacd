use std::borrow::Cow;

/// A text without characters that command terminals or end lines: those stand as their escapes.
/// Names and messages come from servers and files, which may hold anything.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let escaped = text.chars().map(|c| {
        if c.is_control() {
            c.escape_default().to_string()
        } else {
            c.to_string()
        }
    });
    Cow::Owned(escaped.collect())
}

/// A text as one field of a line whose fields are set apart by blanks: its own blanks stand as their
/// escapes, too.
pub(crate) fn word(text: &str) -> String {
    let each = |c: char| {
        if c.is_whitespace() {
            c.escape_unicode().to_string()
        } else {
            c.to_string()
        }
    };
    printable(text).chars().map(each).collect()
}

/// How a cell looks on a terminal with colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    #[default]
    Plain,
    Bold,
    Good,
    Warn,
    Bad,
    Dim,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "\x1b[1m",
            Self::Good => "\x1b[32m",
            Self::Warn => "\x1b[33m",
            Self::Bad => "\x1b[31m",
            Self::Dim => "\x1b[2m",
        }
    }

    /// The text in this style, or as it is where there are no colours.
    pub(crate) fn paint(self, text: &str, look: Look) -> String {
        if look.colour && self != Self::Plain {
            format!("{}{text}\x1b[0m", self.code())
        } else {
            text.to_owned()
        }
    }
}

/// What the place that a text goes to can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) colour: bool,
    /// Columns of the terminal; `None` where lines may be as long as they are.
    pub(crate) width: Option<usize>,
}

/// Where a column's text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
    /// On the left; shortened where a terminal is too narrow.
    Text,
}

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn new(text: impl ToString, style: Style) -> Self {
        Self {
            text: printable(&text.to_string()).into_owned(),
            style,
        }
    }
}

impl<T: ToString> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text, Style::Plain)
    }
}

/// Aligned columns under a line of headings. Where a terminal is too narrow, the widest column of
/// [`Align::Text`] gives way, with an ellipsis.
pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<Cell>>,
}

const GAP: usize = 2;
const NARROWEST: usize = 12;

impl Table {
    pub(crate) fn new(columns: &[(&'static str, Align)]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.rows.push(cells);
    }

    pub(crate) fn render(&self, look: Look) -> String {
        let widths = self.widths(look.width);
        let mut out = String::new();
        let heading = self
            .columns
            .iter()
            .map(|(title, _)| Cell::new(title, Style::Bold));
        self.line(&heading.collect::<Vec<_>>(), &widths, look, &mut out);
        for row in &self.rows {
            self.line(row, &widths, look, &mut out);
        }
        out
    }

    fn widths(&self, available: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = self
            .columns
            .iter()
            .map(|(title, _)| title.chars().count())
            .collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.text.chars().count());
            }
        }
        let Some(available) = available else {
            return widths;
        };
        loop {
            let total = widths.iter().sum::<usize>() + GAP * (widths.len().saturating_sub(1));
            let Some(excess) = total.checked_sub(available).filter(|&excess| excess > 0) else {
                return widths;
            };
            let texts = self.columns.iter().zip(widths.iter_mut());
            let widest = texts
                .filter(|((_, align), width)| *align == Align::Text && **width > NARROWEST)
                .map(|(_, width)| width)
                .max_by_key(|width| **width);
            match widest {
                Some(width) => *width -= excess.min(*width - NARROWEST).min(1.max(*width / 8)),
                None => return widths,
            }
        }
    }

    fn line(&self, cells: &[Cell], widths: &[usize], look: Look, out: &mut String) {
        let mut line = String::new();
        for (index, cell) in cells.iter().enumerate() {
            let width = widths[index];
            let text = shortened(&cell.text, width);
            let padding = " ".repeat(width - text.chars().count());
            let painted = if text.is_empty() {
                text.clone()
            } else {
                cell.style.paint(&text, look)
            };
            if index > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            match self.columns[index].1 {
                Align::Left | Align::Text => line.extend([painted.as_str(), padding.as_str()]),
                Align::Right => line.extend([padding.as_str(), painted.as_str()]),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// A text of at most this many characters: its end stays, as topics differ there and partitions are
/// named there.
fn shortened(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let end = width.saturating_sub(1) / 2;
    let start = width.saturating_sub(1) - end;
    let head: String = text.chars().take(start).collect();
    let tail: String = text.chars().skip(length - end).collect();
    format!("{head}\u{2026}{tail}")
}

/// `1 topic`, `2 topics`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

/// Breaks a text at blanks into lines of at most `width` characters, each after an indent.
pub(crate) fn wrapped(text: &str, indent: &str, width: Option<usize>) -> String {
    const WIDEST: usize = 100;
    let room = width
        .unwrap_or(WIDEST)
        .min(WIDEST)
        .saturating_sub(indent.len())
        .max(20);
    let mut out = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > room {
            out.extend([indent, line.as_str(), "\n"]);
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    out.extend([indent, line.as_str(), "\n"]);
    out
}

/// The last line of a result: broken like prose on terminals, and in one style.
pub(crate) fn closing(text: &str, style: Style, look: Look) -> String {
    let text = look
        .width
        .map_or(text.to_owned(), |width| reflowed(text, width));
    format!("{}\n", style.paint(&text, look))
}

/// Breaks the lines of a text that are too long for a terminal; what follows is indented like the
/// line, and two more.
pub(crate) fn reflowed(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if line.chars().count() <= width {
            out.extend([line, "\n"]);
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let (first, rest) = match wrapped(line, indent, Some(width)).split_once('\n') {
            Some((first, _)) => (
                first.to_owned(),
                line.trim_start()[first.trim_start().len()..].trim_start(),
            ),
            None => (line.to_owned(), ""),
        };
        out.extend([first.as_str(), "\n"]);
        if !rest.is_empty() {
            out.push_str(&wrapped(rest, &format!("{indent}  "), Some(width)));
        }
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn table() -> Table {
        let mut table = Table::new(&[
            ("PARTITION", Align::Text),
            ("LEADS", Align::Right),
            ("ERROR", Align::Text),
        ]);
        table.row(vec!["orders.europe.v1-0".into(), 7.into(), "".into()]);
        let bad = Cell::new("PREFERRED_LEADER_NOT_AVAILABLE (80)", Style::Bad);
        table.row(vec!["a-12".into(), 123_456.into(), bad]);
        table
    }

    #[test]
    fn columns_are_aligned() {
        expect![[r#"
            PARTITION            LEADS  ERROR
            orders.europe.v1-0       7
            a-12                123456  PREFERRED_LEADER_NOT_AVAILABLE (80)
        "#]]
        .assert_eq(&table().render(Look::default()));
    }

    #[test]
    fn narrow_terminals_shorten_the_widest_text() {
        let look = Look {
            colour: false,
            width: Some(44),
        };
        let text = table().render(look);
        assert!(
            text.lines().all(|line| line.chars().count() <= 44),
            "{text}"
        );
        expect![[r#"
            PARTITION            LEADS  ERROR
            orders.europe.v1-0       7
            a-12                123456  PREFERRE…LE (80)
        "#]]
        .assert_eq(&text);
        let look = Look {
            colour: false,
            width: Some(3),
        };
        expect![[r#"
            PARTITION      LEADS  ERROR
            orders….v1-0       7
            a-12          123456  PREFER… (80)
        "#]]
        .assert_eq(&table().render(look));
    }

    #[test]
    fn colours_do_not_count_as_width() {
        let look = Look {
            colour: true,
            width: None,
        };
        let text = table().render(look).replace('\x1b', "^");
        expect![[r#"
            ^[1mPARTITION^[0m            ^[1mLEADS^[0m  ^[1mERROR^[0m
            orders.europe.v1-0       7
            a-12                123456  ^[31mPREFERRED_LEADER_NOT_AVAILABLE (80)^[0m
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn long_lines_are_broken_for_terminals() {
        let text =
            "error: it is as it is, whatever that may be\n  cause: a long story, not for now\nend";
        expect![[r#"
            error: it is as it is,
              whatever that may be
              cause: a long story,
                not for now
            end"#]]
        .assert_eq(&reflowed(text, 22));
        assert_eq!(reflowed(text, 80), text);
    }

    #[test]
    fn nothing_commands_a_terminal() {
        assert_eq!(printable("\x1b[2J a\nb\u{9b}"), r"\u{1b}[2J a\nb\u{9b}");
        let mut table = Table::new(&[("PARTITION", Align::Text)]);
        table.row(vec!["\x1b]0;x\x07\r\n".into()]);
        let text = table.render(Look::default());
        assert_eq!(text, "PARTITION\n\\u{1b}]0;x\\u{7}\\r\\n\n");
    }

    #[test]
    fn text_wraps_at_blanks() {
        let text = "one two three four five six seven";
        let lines = "  one two three four
  five six seven
";
        assert_eq!(wrapped(text, "  ", Some(24)), lines);
    }
}
