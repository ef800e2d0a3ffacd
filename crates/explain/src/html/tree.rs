use super::element::Html;
use super::part_class;
use crate::text::shown;
use crate::words::count;
use crate::{Node, Role};

/// How deep rows are indented; those that are deeper stay there.
pub(super) const DEEPEST: usize = 20;

/// The rows of trees: how many more there may be.
pub(super) struct Rows {
    /// How many rows may be added.
    left: usize,
    /// How many rows there would have been beyond that.
    dropped: usize,
    /// The bytes that offsets count in, as their tables follow each other in the page.
    regions: usize,
}

impl Rows {
    pub(super) fn new(most: usize) -> Self {
        Self {
            left: most,
            dropped: 0,
            regions: 0,
        }
    }

    /// Whether there may be no more rows.
    pub(super) fn is_full(&self) -> bool {
        self.left == 0
    }

    /// A table with a row for each of the nodes and those below them.
    pub(super) fn table(&mut self, nodes: &[Node], label: &str, html: &mut Html) {
        self.regions = 0;
        self.dropped = 0;
        html.element("table", &[("class", "tree")], |html| {
            html.leaf("caption", &[], label);
            html.element("thead", &[], |html| {
                html.element("tr", &[], |html| {
                    for heading in ["At", "Bytes", "Field", "Value"] {
                        html.leaf("th", &[("scope", "col")], heading);
                    }
                });
            });
            html.element("tbody", &[], |html| {
                for node in nodes {
                    self.add(node, 0, 0, html);
                }
            });
        });
        if self.dropped > 0 {
            let more = format!("… and {} more", count(self.dropped, "row"));
            html.leaf("p", &[("class", "more")], &more);
        }
    }

    fn add(&mut self, node: &Node, depth: usize, region: usize, html: &mut Html) {
        if self.takes_row() {
            row(node, depth, region, html);
        }
        for child in &node.children {
            self.add(child, depth + 1, region, html);
        }
        if let Some(inside) = &node.inside {
            self.regions += 1;
            let region = self.regions;
            if self.takes_row() {
                attributed(("inside", depth + 1, region), html, |html| {
                    html.leaf("td", &[], "0");
                    html.leaf("td", &[], &inside.bytes.len().to_string());
                    html.leaf("th", &[("scope", "row")], &inside.what);
                    html.leaf("td", &[], &count(inside.bytes.len(), "byte"));
                });
            }
            for child in &inside.nodes {
                self.add(child, depth + 2, region, html);
            }
        }
    }

    fn takes_row(&mut self) -> bool {
        if self.left == 0 {
            self.dropped += 1;
            return false;
        }
        self.left -= 1;
        true
    }
}

fn row(node: &Node, depth: usize, region: usize, html: &mut Html) {
    attributed((part_class(node.part), depth, region), html, |html| {
        html.leaf("td", &[], &node.offset.to_string());
        html.leaf("td", &[], &node.len.to_string());
        html.element("th", &[("scope", "row")], |html| {
            // What only helps to read a field stays in the background.
            let tag = if node.role == Role::Prefix { "i" } else { "b" };
            html.leaf(tag, &[], &node.name);
            if node.ty != node.name {
                html.text(" ");
                html.leaf("span", &[], &node.ty);
            }
            let about = node.about();
            if !about.is_empty() {
                html.element("p", &[], |html| html.prose(about));
            }
        });
        html.element("td", &[], |html| {
            let value = shown(node);
            if !value.is_empty() {
                html.leaf("b", &[], &value);
            }
            if !node.encoding.is_empty() {
                html.text(" ");
                html.leaf("span", &[], node.encoding);
            }
        });
    });
}

fn attributed(
    (class, depth, region): (&str, usize, usize),
    html: &mut Html,
    content: impl FnOnce(&mut Html),
) {
    let class = format!("{class} d{}", depth.min(DEEPEST));
    let region = region.to_string();
    let attributes = [("class", class.as_str()), ("data-region", &region)];
    // Nearly all rows are of the first region.
    let used = if region == "0" { 1 } else { 2 };
    html.element("tr", &attributes[..used], content);
}
