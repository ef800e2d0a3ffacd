//! Every message with its schema and codec, and what must hold of every tree.

use klamm_explain::{Node, Region, Role, Tree, Value, schema};
use klamm_protocol::{Bytes, Codec, codecs};
use klamm_schema::value::{self, RandomOptions, StructValue};
use klamm_schema::{Field, Schema, Struct, Type};

/// A message: its generated codec and its schema.
pub(crate) struct Subject {
    pub(crate) codec: Codec,
    pub(crate) schema: &'static Schema,
}

/// Every message that has a valid version.
pub(crate) fn subjects() -> Vec<Subject> {
    codecs()
        .map(|&codec| Subject {
            codec,
            schema: schema(codec.name).unwrap(),
        })
        .collect()
}

impl Subject {
    pub(crate) fn random(&self, version: i16, rng: &mut fastrand::Rng) -> (StructValue, Bytes) {
        let options = RandomOptions::default();
        let value = value::random(self.schema, version, options, &mut || rng.u64(..));
        let bytes = value::encode(self.schema, version, &value);
        (value, bytes.into())
    }
}

/// The seed of this run: random, unless `KLAMM_SEED` gives one, and named by a failing test.
pub(crate) fn seed() -> u64 {
    match std::env::var("KLAMM_SEED") {
        Ok(seed) => seed.parse().expect("KLAMM_SEED is a number"),
        Err(_) => fastrand::u64(..),
    }
}

/// How many random values each message and version gets.
pub(crate) fn instances() -> usize {
    if std::env::var_os("KLAMM_FULL").is_some() {
        200
    } else {
        3
    }
}

/// Nodes without children cover the bytes without gap or overlap, and so does every node's children
/// the node; the same holds inside of compressed ones.
pub(crate) fn assert_tiles(tree: &Tree, place: &str) {
    assert_eq!(
        (tree.root.offset, tree.root.len),
        (0, tree.bytes.len()),
        "{place}"
    );
    assert_covers(&tree.root, place);
    let mut at = 0;
    tree.root.leaves(&mut |leaf| {
        assert_eq!(leaf.offset, at, "{place}: {} {leaf:?}", leaf.name);
        at = leaf.end();
    });
    assert_eq!(at, tree.bytes.len(), "{place}");
}

fn assert_covers(node: &Node, place: &str) {
    if !node.children.is_empty() {
        assert_covered(node.offset, node.end(), &node.children, place);
    }
    assert!(node.prefix <= node.len, "{place}: {node:?}");
    if let Some(region) = &node.inside {
        let Region { nodes, bytes, .. } = &**region;
        assert_covered(0, bytes.len(), nodes, place);
    }
}

fn assert_covered(start: usize, end: usize, nodes: &[Node], place: &str) {
    let mut at = start;
    for node in nodes {
        assert_eq!(node.offset, at, "{place}: {}", node.name);
        at = node.end();
        assert_covers(node, place);
    }
    assert_eq!(at, end, "{place}");
}

/// The nodes show the values of a struct, and no others.
pub(crate) fn assert_struct(
    schema: &Schema,
    version: i16,
    owner: &Struct,
    nodes: &[Node],
    value: &StructValue,
    place: &str,
) {
    let mut tagged = Vec::new();
    let mut unknown = Vec::new();
    let mut plain = Vec::new();
    for node in nodes {
        match node.role {
            Role::Field => plain.push(node),
            Role::Prefix => {}
            Role::Group => {
                for tag in &node.children {
                    for child in &tag.children {
                        match child.role {
                            Role::Field => tagged.push(child),
                            Role::Unknown => unknown.push((tag.name.clone(), child)),
                            _ => {}
                        }
                    }
                }
            }
            _ => panic!("{place}: {node:?}"),
        }
    }
    let (mut plain, mut tagged) = (plain.into_iter(), tagged.into_iter());
    // Known tagged fields stand in the order of the tags, which may not be that of the schema.
    let mut tagged_values = Vec::new();
    for (field, value) in owner.fields.iter().zip(&value.fields) {
        if !field.versions.contains(version) {
            continue;
        }
        if field.is_tagged(version) {
            tagged_values.push((field.tag, field, value));
            continue;
        }
        let node = plain
            .next()
            .unwrap_or_else(|| panic!("{place}: no {}", field.name));
        assert_field(schema, version, field, &field.ty, node, value, place);
    }
    assert!(plain.next().is_none(), "{place}");
    tagged_values.sort_by_key(|(tag, ..)| *tag);
    let mut next = tagged.next();
    for (_, field, value) in tagged_values {
        // One at its default is left out.
        if let Some(node) = next.filter(|node| node.name == field.name) {
            assert_field(schema, version, field, &field.ty, node, value, place);
            next = tagged.next();
        }
    }
    assert!(next.is_none(), "{place}: {next:?}");
    let unknown: Vec<_> = unknown
        .iter()
        .map(|(tag, node)| match &node.value {
            Value::Bytes(bytes) => (tag.to_string(), bytes.to_vec()),
            other => panic!("{place}: {other:?}"),
        })
        .collect();
    let expected: Vec<_> = value
        .unknown
        .iter()
        .map(|(tag, bytes)| (format!("tag {tag}"), bytes.clone()))
        .collect();
    assert_eq!(unknown, expected, "{place}");
}

fn assert_field(
    schema: &Schema,
    version: i16,
    field: &Field,
    ty: &Type,
    node: &Node,
    value: &value::Value,
    place: &str,
) {
    let place = &format!("{place}.{}", node.name);
    if node.role == Role::Field {
        assert_eq!(node.name, field.name, "{place}");
    }
    match (value, &node.value) {
        (value::Value::Null, Value::Null) => {}
        (value::Value::Bool(a), Value::Bool(b)) => assert_eq!(a, b, "{place}"),
        (value::Value::Int(a), Value::Int(b)) => assert_eq!(a, b, "{place}"),
        (value::Value::Float(a), Value::Float(b)) => assert_eq!(a, b, "{place}"),
        (value::Value::Uuid(a), Value::Uuid(b)) => assert_eq!(a, b, "{place}"),
        (value::Value::Text(a), Value::Text(b)) => assert_eq!(a, &**b, "{place}"),
        (value::Value::Bytes(a), Value::Bytes(b) | Value::Opened(b)) => assert_eq!(a, b, "{place}"),
        (value::Value::Array(values), Value::Count(count)) => {
            assert_eq!(values.len(), *count, "{place}");
            let Type::Array(element) = ty else {
                panic!("{place}: {ty}")
            };
            let elements = node
                .children
                .iter()
                .filter(|node| node.role == Role::Element);
            for (node, value) in elements.zip(values) {
                assert_field(schema, version, field, element, node, value, place);
            }
        }
        (value::Value::Struct(value), Value::None) => {
            let owner = schema.find(ty.struct_name().unwrap()).unwrap();
            assert_struct(schema, version, owner, &node.children, value, place);
        }
        (a, b) => panic!("{place}: {a:?} is shown as {b:?}"),
    }
}
