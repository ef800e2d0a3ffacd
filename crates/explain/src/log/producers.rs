use bytes::Bytes;

use crate::catalog::schema;
use crate::walk::Opening;
use crate::{Node, Options, Problem, Severity, Tree, decode};

/// Where the checksum is: after the version.
const CRC: usize = 2;
/// Where the bytes start that it covers.
const CRC_COVERS_FROM: usize = 6;

/// Explains the state of producers that Apache Kafka keeps beside a segment (`.snapshot`).
pub fn producers(bytes: Bytes, options: &Options) -> Tree {
    let schema = schema("ProducerSnapshot").expect("the schemas have it");
    let mut tree = decode::opened(bytes, Opening::Versioned(schema), options);
    let said = tree.bytes.get(CRC..CRC_COVERS_FROM);
    let Some(said) = said.and_then(|said| said.first_chunk()) else {
        return tree;
    };
    let said = u32::from_be_bytes(*said);
    let computed = crc32c::crc32c(&tree.bytes[CRC_COVERS_FROM..]);
    if let Some(node) = find(&mut tree.root, "Crc") {
        let fits = if said == computed {
            "fits"
        } else {
            "does not fit"
        };
        node.note = Some(format!("{said:#010x}, {fits} the bytes").into());
    }
    if said != computed {
        tree.problems.push(Problem {
            severity: Severity::Broken,
            offset: CRC,
            region: None,
            path: "Crc".to_owned(),
            what: format!("checksum is {said:#010x}, the bytes have {computed:#010x}"),
        });
    }
    tree
}

fn find<'a>(node: &'a mut Node, name: &str) -> Option<&'a mut Node> {
    if node.name == name {
        return Some(node);
    }
    node.children.iter_mut().find_map(|child| find(child, name))
}
