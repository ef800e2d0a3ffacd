use std::ops::Range;

use super::element::Html;
use super::part_class;
use crate::text::runs;
use crate::words::count;
use crate::{Node, Part};

/// Bytes of a row.
const ROW: usize = 16;

/// Bytes that offsets of nodes count in: a frame's, or what was decompressed.
pub(super) struct Bytes<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) nodes: &'a [Node],
    /// Which of them are secrets, in order.
    pub(super) hidden: Vec<Range<usize>>,
    /// What they are, for those who do not see the table.
    pub(super) label: &'a str,
}

/// A table of bytes, 16 a row with offsets. Every byte has the class of the part that it belongs to;
/// secrets are `**`. At most `most` bytes are shown. With `text`, a last column has the characters.
pub(super) fn table(of: &Bytes<'_>, text: bool, most: usize, html: &mut Html) {
    let shown = &of.bytes[..of.bytes.len().min(most)];
    let classes = classes(of.nodes, shown.len());
    let is_hidden = |at: usize| {
        let index = of.hidden.partition_point(|range| range.end <= at);
        of.hidden
            .get(index)
            .is_some_and(|range| range.contains(&at))
    };
    html.element("table", &[("class", "hex")], |html| {
        html.leaf("caption", &[], of.label);
        for (index, row) in shown.chunks(ROW).enumerate() {
            let start = index * ROW;
            html.element("tr", &[], |html| {
                html.leaf("th", &[("scope", "row")], &format!("{start:04x}"));
                for (column, byte) in row.iter().enumerate() {
                    let at = start + column;
                    let digits = if is_hidden(at) {
                        "**".to_owned()
                    } else {
                        format!("{byte:02x}")
                    };
                    html.leaf("td", &[("class", classes[at])], &digits);
                }
                if text {
                    characters(row, start, &is_hidden, html);
                }
            });
        }
    });
    if shown.len() < of.bytes.len() {
        let more = format!("… and {} more", count(of.bytes.len() - shown.len(), "byte"));
        html.leaf("p", &[("class", "more")], &more);
    }
}

/// The characters of a row: printable ASCII, and dots for the rest.
fn characters(row: &[u8], start: usize, is_hidden: &impl Fn(usize) -> bool, html: &mut Html) {
    for _ in row.len()..ROW {
        html.leaf("td", &[("class", "x")], "");
    }
    let attributes = [("class", "chars"), ("aria-hidden", "true")];
    html.element("td", &attributes, |html| {
        for (column, byte) in row.iter().enumerate() {
            let c = match byte {
                _ if is_hidden(start + column) => '*',
                0x20..0x7f => char::from(*byte),
                _ => '.',
            };
            html.leaf("i", &[], c.encode_utf8(&mut [0; 4]));
        }
    });
}

/// The class of each byte.
fn classes(nodes: &[Node], len: usize) -> Vec<&'static str> {
    let mut classes = vec![part_class(Part::Unread); len];
    for (range, part) in runs(nodes) {
        let range = range.start.min(len)..range.end.min(len);
        classes[range].fill(part_class(part));
    }
    classes
}
