use klamm_schema::camel_case;

use crate::text::shown_value;
use crate::{Node, Role, Value};

/// How many characters of a record a line shows.
const LONGEST: usize = 1_000;

/// The fields among nodes on one line, as `name=value`: structs in braces, arrays in brackets, nulls
/// left out.
pub(crate) fn fields(nodes: &[Node]) -> String {
    let mut out = String::new();
    add_fields(nodes, &mut out);
    if let Some((end, _)) = out.char_indices().nth(LONGEST) {
        out.truncate(end);
        out.push('…');
    }
    out
}

fn add_fields(nodes: &[Node], out: &mut String) {
    for node in nodes {
        if out.len() > LONGEST * 4 {
            return;
        }
        match node.role {
            Role::Group => add_fields(&node.children, out),
            Role::Field if node.value != Value::Null => {
                if !out.is_empty() && !out.ends_with(['{', '[']) {
                    out.push(' ');
                }
                out.push_str(&camel_case(&node.name));
                out.push('=');
                add_value(node, out);
            }
            _ => {}
        }
    }
}

fn add_value(node: &Node, out: &mut String) {
    match &node.value {
        Value::Count(_) => {
            out.push('[');
            let elements = node
                .children
                .iter()
                .filter(|node| node.role == Role::Element);
            for (index, element) in elements.enumerate() {
                if out.len() > LONGEST * 4 {
                    break;
                }
                if index > 0 {
                    out.push_str(", ");
                }
                add_value(element, out);
            }
            out.push(']');
        }
        Value::None | Value::Opened(_) => {
            out.push('{');
            add_fields(&node.children, out);
            out.push('}');
        }
        _ => out.push_str(&shown_value(node)),
    }
}
