use klamm_config::{Properties, decode};
use klamm_protocol::{BrokerId, Uuid};

use super::unreadable;
use crate::error::LogError;
use crate::storage::Dir;

/// `meta.properties`: which cluster and node a directory belongs to, version 1 (KIP-631, KIP-858).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaProperties {
    /// The cluster's id.
    pub cluster_id: String,
    /// The node's id.
    pub node_id: BrokerId,
    /// The directory's own id; formatted by an older version it has none.
    pub directory_id: Option<Uuid>,
}

impl MetaProperties {
    /// The file's name.
    pub const FILE_NAME: &'static str = "meta.properties";

    /// Reads the file, if it is there: a directory without it is not formatted.
    pub fn read(dir: &dyn Dir) -> Result<Option<Self>, LogError> {
        let bytes = dir.read_small(Self::FILE_NAME, super::MAX_LEN);
        let bytes = bytes.map_err(LogError::io("read", dir.file(Self::FILE_NAME)))?;
        let Some(bytes) = bytes else {
            return Ok(None);
        };
        let name = dir.file(Self::FILE_NAME).display().to_string();
        let wrong = |problem| unreadable(dir, Self::FILE_NAME, problem);
        let properties = Properties::parse(&name, &decode(&bytes));
        let properties = properties.map_err(|e| wrong(format!("line {}: {}", e.line, e.kind)))?;
        let value = |key: &str| properties.get(key).map(|entry| entry.value.as_str());
        let required = |key: &str| {
            value(key).ok_or_else(|| {
                wrong(format!(
                    "it has no {key}; it was damaged, or written by a broker before KRaft"
                ))
            })
        };
        match required("version")? {
            "1" => {}
            version => {
                let problem = format!("its version is {version:?}, klamm reads version 1");
                return Err(wrong(problem));
            }
        }
        let node_id = required("node.id")?;
        let node_id = node_id.parse().ok().filter(|&id: &i32| id >= 0);
        let node_id = node_id.ok_or_else(|| wrong("node.id is no number from 0 on".into()))?;
        let directory_id = match value("directory.id") {
            Some(id) => match id.parse() {
                Ok(id) => Some(id),
                Err(e) => return Err(wrong(format!("directory.id is {id:?}; {e}"))),
            },
            None => None,
        };
        Ok(Some(Self {
            cluster_id: required("cluster.id")?.to_owned(),
            node_id: BrokerId(node_id),
            directory_id,
        }))
    }

    /// Writes the file.
    pub fn write(&self, dir: &dyn Dir) -> Result<(), LogError> {
        let mut text = format!(
            "node.id={}\nversion=1\ncluster.id={}\n",
            self.node_id,
            escaped(&self.cluster_id)
        );
        if let Some(id) = self.directory_id {
            text.push_str(&format!("directory.id={id}\n"));
        }
        super::write(dir, Self::FILE_NAME, &text)
    }
}

/// A value as properties files have it.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for (place, c) in value.chars().enumerate() {
        match c {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\\' => text.push_str("\\\\"),
            ' ' | '\t' if place == 0 => text.extend(['\\', c]),
            _ => text.push(c),
        }
    }
    text
}
