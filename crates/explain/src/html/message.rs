use super::bytes::{self, Bytes};
use super::element::Html;
use super::part_class;
use super::tree::Rows;
use crate::text::runs;
use crate::{Node, Part, Tree};

/// What a message may take on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    /// The most bytes that a table shows.
    pub(super) bytes: usize,
    /// The most rows of a tree.
    pub(super) rows: usize,
    /// Whether characters are shown beside bytes.
    pub(super) text: bool,
}

impl Room {
    /// Smallest instances are shown as they are.
    pub(super) const SMALLEST: Self = Self {
        bytes: usize::MAX,
        rows: usize::MAX,
        text: false,
    };
}

/// Bytes and tree side by side; the page's script links them.
pub(super) fn message(tree: &Tree, label: &str, room: Room, html: &mut Html) {
    html.element("div", &[("class", "msg")], |html| {
        html.element("div", &[("class", "pane")], |html| {
            legend(&tree.root, html);
            html.element("div", &[("class", "scroll")], |html| {
                let bytes = Bytes {
                    bytes: &tree.bytes,
                    nodes: std::slice::from_ref(&tree.root),
                    hidden: tree.hidden(),
                    label: &format!("Bytes of {label}"),
                };
                bytes::table(&bytes, room.text, room.bytes, html);
                regions(&tree.root, &mut Vec::new(), room, html);
            });
            html.leaf("p", &[("class", "here"), ("hidden", "")], "");
        });
        html.element("div", &[("class", "scroll")], |html| {
            let label = format!("Fields of {label}");
            Rows::new(room.rows).table(&tree.root.children, &label, html);
        });
    });
}

/// The parts that there are, each in its colour.
fn legend(root: &Node, html: &mut Html) {
    let runs = runs(std::slice::from_ref(root));
    html.element("ul", &[("class", "legend")], |html| {
        for part in Part::ALL {
            if runs.iter().any(|(_, other)| *other == part) {
                html.leaf("li", &[("class", part_class(part))], part.name());
            }
        }
    });
}

/// The tables of what was decompressed, in the order in which the tree's rows count them.
fn regions<'a>(node: &'a Node, path: &mut Vec<&'a str>, room: Room, html: &mut Html) {
    path.push(&node.name);
    for child in &node.children {
        regions(child, path, room, html);
    }
    if let Some(region) = &node.inside {
        let place = path.get(1..).unwrap_or_default().join(".");
        let bytes = Bytes {
            bytes: &region.bytes,
            nodes: &region.nodes,
            hidden: region.hidden(),
            label: &format!("{place}, {}", region.what),
        };
        bytes::table(&bytes, room.text, room.bytes, html);
        for node in &region.nodes {
            regions(node, path, room, html);
        }
    }
    path.pop();
}
