use super::table::Table;
use super::value::shown;
use super::{Look, colour};
use crate::{Node, Role, Tree};

/// Every node, a line each: where it is, what it is called, its type and value, how it is encoded, and
/// what it means.
pub fn tree(tree: &Tree, look: Look) -> String {
    let headings = [
        "OFFSET", "LENGTH", "FIELD", "TYPE", "VALUE", "ENCODING", "MEANING",
    ];
    let mut table = Table::new(&headings, &[0, 1]);
    for child in &tree.root.children {
        add(child, 0, &mut table);
    }
    table.render(look)
}

fn add(node: &Node, depth: usize, table: &mut Table) {
    let code = colour(node.part);
    table.row(vec![
        (node.offset.to_string(), "2"),
        (node.len.to_string(), "2"),
        (
            format!("{}{}", "  ".repeat(depth), node.name),
            if is_named(node) { code } else { "2" },
        ),
        (node.ty.to_string(), "2"),
        (shown(node), ""),
        (node.encoding.to_owned(), "2"),
        (node.about().to_owned(), ""),
    ]);
    for child in &node.children {
        add(child, depth + 1, table);
    }
    if let Some(region) = &node.inside {
        // Offsets start anew.
        let title = format!("{}({})", "  ".repeat(depth + 1), region.what);
        table.row(vec![
            (String::new(), ""),
            (region.bytes.len().to_string(), "2"),
            (title, "1"),
        ]);
        for child in &region.nodes {
            add(child, depth + 2, table);
        }
    }
}

/// Whether it has a name in the protocol, other than what helps to read it.
fn is_named(node: &Node) -> bool {
    node.role != Role::Prefix
}
