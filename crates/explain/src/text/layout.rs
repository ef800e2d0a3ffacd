use std::ops::Range;

use super::{Look, colour};
use crate::{Node, Part, Region, Tree, words};

/// Bytes of a row.
const ROW: usize = 16;
/// How many bytes a layout shows; the others are counted.
const MOST: usize = 64 << 10;
/// How many runs the legend lists.
const MOST_RUNS: usize = 12;

/// The bytes, 16 a row with offsets, in the colours of the parts that they belong to, and then what was
/// decompressed. Secrets are `**`.
pub fn layout(tree: &Tree, look: Look) -> String {
    let mut out = rows(
        &tree.bytes,
        std::slice::from_ref(&tree.root),
        &tree.hidden(),
        look,
    );
    regions(&tree.root, &mut Vec::new(), look, &mut out);
    out
}

fn regions<'a>(node: &'a Node, path: &mut Vec<&'a str>, look: Look, out: &mut String) {
    path.push(&node.name);
    if let Some(region) = &node.inside {
        let Region { what, bytes, nodes } = &**region;
        let title = format!(
            "{}, {what}: {}",
            path[1..].join("."),
            words::bytes(bytes.len())
        );
        out.push_str(&format!("\n{}\n", look.bold(&title)));
        out.push_str(&rows(bytes, nodes, &region.hidden(), look));
        for node in nodes {
            regions(node, path, look, out);
        }
    }
    for child in &node.children {
        regions(child, path, look, out);
    }
    path.pop();
}

fn rows(bytes: &[u8], nodes: &[Node], hidden: &[Range<usize>], look: Look) -> String {
    let runs = runs(nodes);
    let mut out = legend(&runs, look);
    let shown = &bytes[..bytes.len().min(MOST)];
    let width = if shown.len() > 0x10000 - ROW { 6 } else { 4 };
    let mut painter = Painter {
        runs: &runs,
        hidden,
        look,
    };
    for (index, row) in shown.chunks(ROW).enumerate() {
        let start = index * ROW;
        let offset = format!("{start:0width$x}");
        out.push_str(&look.dim(&offset));
        out.push_str("  ");
        out.push_str(&painter.hex(start, row));
        out.push_str("  ");
        out.push_str(&painter.text(start, row));
        while out.ends_with(' ') {
            out.pop();
        }
        out.push('\n');
    }
    if shown.len() < bytes.len() {
        let more = format!("… and {} more\n", words::bytes(bytes.len() - shown.len()));
        out.push_str(&look.dim(&more));
    }
    out
}

/// Neighbouring bytes of one part, and which.
pub(crate) fn runs(nodes: &[Node]) -> Vec<(Range<usize>, Part)> {
    let mut runs: Vec<(Range<usize>, Part)> = Vec::new();
    for node in nodes {
        node.leaves(&mut |leaf| match runs.last_mut() {
            _ if leaf.len == 0 => {}
            Some((range, part)) if *part == leaf.part => range.end = leaf.end(),
            _ => runs.push((leaf.offset..leaf.end(), leaf.part)),
        });
    }
    runs
}

/// `frame 0-3, header 4-14, …`, or the names alone where there are too many.
fn legend(runs: &[(Range<usize>, Part)], look: Look) -> String {
    let words: Vec<String> = if runs.len() <= MOST_RUNS {
        runs.iter()
            .map(|(range, part)| {
                let (first, last) = (range.start, range.end - 1);
                let text = if first == last {
                    format!("{} {first}", part.name())
                } else {
                    format!("{} {first}-{last}", part.name())
                };
                look.part(*part, &text)
            })
            .collect()
    } else {
        let present = |part: &&Part| runs.iter().any(|(_, other)| other == *part);
        let parts = Part::ALL.iter().filter(present);
        parts.map(|part| look.part(*part, part.name())).collect()
    };
    if words.is_empty() {
        String::new()
    } else {
        format!("{}\n", words.join(", "))
    }
}

/// Colours bytes in ascending order.
struct Painter<'a> {
    runs: &'a [(Range<usize>, Part)],
    hidden: &'a [Range<usize>],
    look: Look,
}

impl Painter<'_> {
    fn code(&mut self, at: usize) -> &'static str {
        while self.runs.first().is_some_and(|(range, _)| range.end <= at) {
            self.runs = &self.runs[1..];
        }
        self.runs.first().map_or("", |(_, part)| colour(*part))
    }

    fn is_hidden(&mut self, at: usize) -> bool {
        while self.hidden.first().is_some_and(|range| range.end <= at) {
            self.hidden = &self.hidden[1..];
        }
        self.hidden.first().is_some_and(|range| range.contains(&at))
    }

    fn hex(&mut self, start: usize, row: &[u8]) -> String {
        let mut painter = Painter { ..*self };
        let mut out = String::new();
        for column in 0..ROW {
            if column > 0 {
                out.push_str(if column == ROW / 2 { "  " } else { " " });
            }
            let Some(byte) = row.get(column) else {
                out.push_str("  ");
                continue;
            };
            let text = if painter.is_hidden(start + column) {
                "**".to_owned()
            } else {
                format!("{byte:02x}")
            };
            out.push_str(&self.look.paint(painter.code(start + column), &text));
        }
        out
    }

    /// The bytes that are printable ASCII, and dots. The last user of a row's bytes.
    fn text(&mut self, start: usize, row: &[u8]) -> String {
        let mut out = String::new();
        for (column, byte) in row.iter().enumerate() {
            let c = match byte {
                _ if self.is_hidden(start + column) => '*',
                0x20..0x7f => char::from(*byte),
                _ => '.',
            };
            let code = self.code(start + column);
            out.push_str(&self.look.paint(code, &c.to_string()));
        }
        out
    }
}
