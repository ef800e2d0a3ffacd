use std::io;
use std::path::PathBuf;

use crate::Nodes;

impl Nodes {
    /// The segments of a node's replica, in order.
    pub fn segments(&self, node: u32, topic: &str, partition: usize) -> io::Result<Vec<PathBuf>> {
        let dir = self.data_dir(node).join(format!("{topic}-{partition}"));
        let mut segments = Vec::new();
        for entry in std::fs::read_dir(dir)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "log") {
                segments.push(path);
            }
        }
        segments.sort();
        Ok(segments)
    }

    /// All of them in one: nodes may begin new ones at different offsets.
    pub fn log_bytes(&self, node: u32, topic: &str, partition: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for segment in self.segments(node, topic, partition)? {
            bytes.extend(std::fs::read(segment)?);
        }
        Ok(bytes)
    }
}

/// Where logs begin to differ.
pub fn unlike(logs: &[Vec<u8>]) -> Option<usize> {
    let (longest, shortest) = (
        logs.iter().map(Vec::len).max()?,
        logs.iter().map(Vec::len).min()?,
    );
    let differ = |at: &usize| logs.iter().any(|log| log[*at] != logs[0][*at]);
    let first = (0..shortest).find(differ);
    first.or((shortest < longest).then_some(shortest))
}
