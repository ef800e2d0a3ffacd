use klamm_protocol::Uuid;

use super::unreadable;
use crate::error::LogError;
use crate::storage::Dir;

/// `partition.metadata`: the id of the topic that a log belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionMetadata {
    /// The topic's id.
    pub topic_id: Uuid,
}

impl PartitionMetadata {
    /// The file's name.
    pub const FILE_NAME: &'static str = "partition.metadata";

    /// Reads the file, if it is there.
    pub fn read(dir: &dyn Dir) -> Result<Option<Self>, LogError> {
        let Some(text) = super::read(dir, Self::FILE_NAME)? else {
            return Ok(None);
        };
        let value = |key: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':').map(str::trim))
        };
        let wrong = |problem| unreadable(dir, Self::FILE_NAME, problem);
        match value("version") {
            Some("0") => {}
            Some(version) => {
                return Err(wrong(format!(
                    "its version is {version:?}, klamm reads version 0"
                )));
            }
            None => return Err(wrong("it has no line \"version: 0\"".into())),
        }
        let Some(topic_id) = value("topic_id") else {
            return Err(wrong("it has no line \"topic_id: …\"".into()));
        };
        match topic_id.parse() {
            Ok(id) if id != Uuid::ZERO => Ok(Some(Self { topic_id: id })),
            _ => Err(wrong(format!("{topic_id:?} is no topic id"))),
        }
    }

    /// Writes the file.
    pub fn write(self, dir: &dyn Dir) -> Result<(), LogError> {
        let text = format!("version: 0\ntopic_id: {}", self.topic_id);
        super::write(dir, Self::FILE_NAME, &text)
    }
}
