use super::bytes::{self, Bytes};
use super::element::Html;
use super::part_class;
use super::tree::Rows;
use crate::text::runs;
use crate::{Node, Part, Tree};

/// How bytes are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    /// The most bytes that all tables together show.
    pub(super) bytes: usize,
    /// Whether characters are shown beside bytes.
    pub(super) text: bool,
}

/// A message of klamm's own making, such as a smallest instance: all of it.
pub(super) fn whole(tree: &Tree, label: &str, text: bool, html: &mut Html) {
    let room = Room {
        bytes: usize::MAX,
        text,
    };
    message(tree, label, room, &mut Rows::new(usize::MAX), html);
}

/// Bytes and tree side by side; the page's script links them. Gives how many bytes are shown.
pub(super) fn message(
    tree: &Tree,
    label: &str,
    room: Room,
    rows: &mut Rows,
    html: &mut Html,
) -> usize {
    let mut left = room;
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
                left.add(&bytes, html);
                regions(&tree.root, &mut Vec::new(), &mut left, html);
            });
            html.leaf("p", &[("class", "here"), ("hidden", "")], "");
        });
        html.element("div", &[("class", "scroll")], |html| {
            let label = format!("Fields of {label}");
            rows.table(&tree.root.children, &label, html);
        });
    });
    room.bytes - left.bytes
}

impl Room {
    fn add(&mut self, bytes: &Bytes<'_>, html: &mut Html) {
        bytes::table(bytes, self.text, self.bytes, html);
        self.bytes -= bytes.bytes.len().min(self.bytes);
    }
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
fn regions<'a>(node: &'a Node, path: &mut Vec<&'a str>, room: &mut Room, html: &mut Html) {
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
        room.add(&bytes, html);
        for node in &region.nodes {
            regions(node, path, room, html);
        }
    }
    path.pop();
}
