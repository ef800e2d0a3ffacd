use super::{Look, wrap};

/// A column may not make the others too narrow.
const WIDEST: usize = 64;
/// A last column narrower than this stands below the others.
const NARROWEST: usize = 24;
/// How far it is indented where it stands below the others.
const BELOW: usize = 18;

/// Columns of text, each cell with the terminal's code for its colour; the last one is wrapped where
/// the width is known.
pub(super) struct Table {
    rows: Vec<Vec<(String, &'static str)>>,
    /// Columns that are aligned to the right.
    right: &'static [usize],
}

impl Table {
    pub(super) fn new(headings: &[&str], right: &'static [usize]) -> Self {
        let headings = headings
            .iter()
            .map(|text| ((*text).to_owned(), "1"))
            .collect();
        Self {
            rows: vec![headings],
            right,
        }
    }

    pub(super) fn row(&mut self, cells: Vec<(String, &'static str)>) {
        self.rows.push(cells);
    }

    pub(super) fn render(&self, look: Look) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                let widest = cells.map(|(text, _)| text.chars().count()).max();
                widest.unwrap_or(0).min(WIDEST)
            })
            .collect();
        let mut out = String::new();
        for row in &self.rows {
            self.render_row(row, &widths, look, &mut out);
        }
        out
    }

    fn render_row(
        &self,
        row: &[(String, &'static str)],
        widths: &[usize],
        look: Look,
        out: &mut String,
    ) {
        let mut line = String::new();
        let mut at = 0;
        for (column, (text, code)) in row.iter().enumerate() {
            let len = text.chars().count();
            let pad = " ".repeat(widths[column].saturating_sub(len));
            let is_last = column + 1 == row.len();
            if is_last {
                self.render_last(text, code, at, look, &mut line);
                break;
            }
            if self.right.contains(&column) {
                line.push_str(&pad);
                line.push_str(&look.paint(code, text));
            } else {
                line.push_str(&look.paint(code, text));
                line.push_str(&pad);
            }
            line.push_str("  ");
            at += widths[column].max(len) + 2;
        }
        for part in line.split('\n').filter(|part| !part.trim().is_empty()) {
            out.push_str(part.trim_end());
            out.push('\n');
        }
    }

    /// The last cell: beside the others where there is room, else below them.
    fn render_last(&self, text: &str, code: &str, at: usize, look: Look, line: &mut String) {
        let room = look.width.map(|width| (width, width.saturating_sub(at)));
        let (indent, lines) = match room {
            None => (at, vec![text.to_owned()]),
            Some((_, room)) if room >= NARROWEST => (at, wrap(text, room)),
            Some((width, _)) => (
                BELOW,
                wrap(text, width.saturating_sub(BELOW).max(NARROWEST)),
            ),
        };
        for (index, part) in lines.iter().enumerate() {
            if index > 0 || indent < at {
                line.push('\n');
                line.push_str(&" ".repeat(indent));
            }
            line.push_str(&look.paint(code, part));
        }
    }
}
