//! What the explainer is given: frames, segments, indexes, states of producers. The first byte says
//! which, the second how.
#![no_main]

use klamm_explain::log::{Batch, Cutter, IndexEntries, IndexKind, Tail, producers};
use klamm_explain::{Contents, Limits, Node, Options, Tree, apis, decode, json, text};
use klamm_protocol::{ApiVersion, Bytes};
use libfuzzer_sys::fuzz_target;

/// Smaller than those of the command line, so that a run is short.
const OPTIONS: Options = Options {
    show_secrets: false,
    limits: Limits {
        nodes: 5_000,
        problems: 50,
        decompressed_bytes: 1 << 16,
    },
};

fuzz_target!(|data: &[u8]| {
    let &[form, how, ref bytes @ ..] = data else {
        return;
    };
    let bytes = Bytes::copy_from_slice(bytes);
    match form % 5 {
        0 => requests(bytes),
        1 => response(bytes, how),
        2 => segment(bytes, how),
        3 => index(bytes, how),
        _ => drawn(&producers(bytes, &OPTIONS)),
    }
});

/// A stream of requests.
fn requests(stream: Bytes) {
    let mut end = 0;
    for frame in decode::Frames::new(stream.clone()) {
        assert_eq!(frame.offset, end);
        end += frame.bytes.len();
        drawn(&decode::request(frame.bytes, &OPTIONS));
    }
    assert_eq!(end, stream.len());
}

/// A response of an API, whose version is the first byte.
fn response(bytes: Bytes, key: u8) {
    let Some(version) = bytes.first() else {
        return;
    };
    let key = apis().nth(usize::from(key) % apis().count());
    let key = key.expect("the remainder is less than the count");
    let versions = key.coded_versions();
    let count = i16::from(*version) % (versions.max - versions.min + 1);
    let api = ApiVersion {
        key,
        version: versions.min + count,
    };
    drawn(&decode::response(bytes.slice(1..), api, &OPTIONS));
}

/// A segment of each of Apache Kafka's topics, or another one, in pieces of any size.
fn segment(bytes: Bytes, how: u8) {
    let topics = Contents::TOPICS.len();
    let topic = usize::from(how) % (topics + 1);
    let contents = Contents::TOPICS
        .get(topic)
        .map_or(Contents::Opaque, |(contents, _)| *contents);
    let step = 1 + usize::from(how) / (topics + 1) * 16;
    let mut cutter = Cutter::default();
    let mut end = 0;
    for piece in bytes.chunks(step) {
        cutter.feed(piece);
        while let Some(piece) = cutter.next_batch() {
            assert_eq!(piece.at, end);
            end += piece.bytes.len() as u64;
            batch(piece.bytes, contents, false);
        }
    }
    end += match cutter.finish() {
        None => 0,
        Some(Tail::Zeros { len, .. } | Tail::Broken { len, .. }) => len,
        Some(Tail::Cut { piece, .. }) => {
            let len = piece.bytes.len() as u64;
            batch(piece.bytes, contents, true);
            len
        }
    };
    assert_eq!(end, bytes.len() as u64);
    drawn(&decode::records(bytes, contents, &OPTIONS));
}

fn batch(bytes: Bytes, contents: Contents, is_cut: bool) {
    let Ok(batch) = Batch::new(bytes, contents, is_cut) else {
        return;
    };
    let _ = batch.problem();
    assert!(!json::log_batch(&batch, 0).is_empty());
    let mut left = OPTIONS.limits.nodes;
    let shown = batch.entries(&OPTIONS, &mut |entry| {
        assert!(!text::log_entry(&batch, &entry, Default::default()).is_empty());
        assert!(!json::log_entry(&batch, &entry, 0).to_string().is_empty());
        left -= 1;
        if left == 0 { Err(()) } else { Ok(()) }
    });
    let _ = shown;
}

fn index(bytes: Bytes, how: u8) {
    let kinds = [IndexKind::Offset, IndexKind::Time, IndexKind::Transaction];
    let kind = kinds[usize::from(how) % kinds.len()];
    let mut entries = IndexEntries::new(kind, i64::from(how), bytes.clone());
    let mut len = 0;
    for entry in entries.by_ref() {
        len += kind.entry_len();
        assert!(!text::index_entry(&entry).is_empty());
        assert!(!json::index_entry(&entry).is_empty());
    }
    assert_eq!(len + entries.rest().len(), bytes.len());
}

/// Nodes cover the bytes, and can be shown.
fn drawn(tree: &Tree) {
    assert_eq!((tree.root.offset, tree.root.len), (0, tree.bytes.len()));
    covered(&tree.root);
    assert!(!text::decoded(tree, Default::default()).is_empty());
    assert!(!json::decoded(tree, Some(0)).to_string().is_empty());
}

fn covered(node: &Node) {
    if !node.children.is_empty() {
        tiled(&node.children, node.offset, node.end());
    }
    if let Some(region) = &node.inside {
        tiled(&region.nodes, 0, region.bytes.len());
    }
}

/// Nodes follow each other without a gap.
fn tiled(nodes: &[Node], start: usize, end: usize) {
    let mut at = start;
    for node in nodes {
        assert_eq!(node.offset, at, "{}", node.name);
        at = node.end();
        covered(node);
    }
    assert_eq!(at, end);
}
