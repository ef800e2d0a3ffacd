use bytes::Bytes;
use klamm_protocol::records::{self, ControlKey, DecompressLimit, Record};

use super::cut::BEFORE_LENGTH;
use super::says;
use crate::text::bytes_shown;
use crate::walk::{coordinator_type, key_opening, value_opening};
use crate::{Contents, Options, Severity, Tree, decode};

/// A batch of a log: what its header says, and its records.
#[derive(Clone, Debug)]
pub struct Batch {
    batch: records::Batch,
    contents: Contents,
    is_cut: bool,
}

impl Batch {
    /// Reads a batch. One whose end is missing may be `is_cut`; it has the records that are there.
    pub fn new(bytes: Bytes, contents: Contents, is_cut: bool) -> Result<Self, String> {
        let bytes = if is_cut { patched(bytes) } else { bytes };
        let mut batches = records::Batches::new(bytes);
        match batches.next() {
            Some(Ok(batch)) => Ok(Self {
                batch,
                contents,
                is_cut,
            }),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("too little of a batch to say anything".to_owned()),
        }
    }

    /// The header; `None` in the older formats.
    pub fn header(&self) -> Option<&records::BatchHeader> {
        match &self.batch {
            records::Batch::V2(batch) => Some(batch.header()),
            records::Batch::Legacy(_) => None,
        }
    }

    /// The batch as the codec has it.
    pub fn inner(&self) -> &records::Batch {
        &self.batch
    }

    /// The offset of the first record; in the older formats that of the last one.
    pub fn base_offset(&self) -> i64 {
        self.header()
            .map_or(self.batch.last_offset().0, |header| header.base_offset.0)
    }

    /// The epoch of the leader that appended it.
    pub fn epoch(&self) -> Option<i32> {
        self.header().map(|header| header.partition_leader_epoch.0)
    }

    /// What is wrong with it, but for its records.
    pub fn problem(&self) -> Option<String> {
        if self.is_cut {
            return None;
        }
        self.batch.verify_crc().err().map(|error| error.to_string())
    }

    /// Calls `visit` for each record. Where they cannot be read to the end, says why.
    pub fn entries<E>(
        &self,
        options: &Options,
        visit: &mut dyn FnMut(Entry) -> Result<(), E>,
    ) -> Result<Option<String>, E> {
        let limit = DecompressLimit(options.limits.decompressed_bytes);
        let records = match self.batch.records(limit) {
            Ok(records) => records,
            // What is missing may be all of the records, or what decompressing them needs.
            Err(_) if self.is_cut => return Ok(None),
            Err(error) => return Ok(Some(error.to_string())),
        };
        let mut records = records.iter();
        loop {
            let position = records.position();
            match records.next() {
                Some(Ok(record)) => visit(self.entry(&record, position, options))?,
                Some(Err(error)) if !self.is_cut => return Ok(Some(error.to_string())),
                _ => return Ok(None),
            }
        }
    }

    fn entry(&self, record: &Record<'_>, position: usize, options: &Options) -> Entry {
        let is_control = self.batch.is_control();
        let key = Content::new(
            record.key_bytes(),
            |_| key_opening(self.contents, is_control),
            options,
        );
        let value = Content::new(
            record.value_bytes(),
            |_| value_opening(self.contents, is_control, record.key()),
            options,
        );
        let (kind, version) = match (&value, is_control) {
            (_, true) => {
                let kind = ControlKey::parse(record.key()).map(|key| key.kind.to_string());
                (
                    kind.unwrap_or_else(|_| "control".to_owned()),
                    value.version(),
                )
            }
            (Content::Opened(tree), _) if record.key().is_none() || !key.is_opened() => {
                let name = tree.subject.message.unwrap_or("unknown");
                (name.to_owned(), value.version())
            }
            _ if self.contents == Contents::Opaque => ("data".to_owned(), None),
            _ => {
                let kind = coordinator_type(self.contents, record.key());
                let name = kind.map_or("unknown", |kind| kind.name);
                (name.to_owned(), value.version())
            }
        };
        Entry {
            offset: record.offset().0,
            position,
            timestamp: record.timestamp(),
            sequence: record.sequence(),
            kind,
            version,
            is_control,
            key,
            value,
            headers: record
                .headers()
                .iter()
                .map(|header| {
                    let name = String::from_utf8_lossy(header.key).into_owned();
                    (name, header.value.map(Bytes::copy_from_slice))
                })
                .collect(),
        }
    }
}

/// A batch of which the end is missing, with the length of what is there.
fn patched(bytes: Bytes) -> Bytes {
    let mut bytes = Vec::from(bytes);
    let len = bytes.len().saturating_sub(BEFORE_LENGTH) as u32;
    if let Some(field) = bytes.get_mut(BEFORE_LENGTH - 4..BEFORE_LENGTH) {
        field.copy_from_slice(&len.to_be_bytes());
    }
    bytes.into()
}

/// A record of a log.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its offset.
    pub offset: i64,
    /// Where it starts in the records of the batch, decompressed, in bytes.
    pub position: usize,
    /// When it was created or appended, in milliseconds since 1970; -1 if that is not known.
    pub timestamp: i64,
    /// Its number among its producer's, if that counts.
    pub sequence: Option<i32>,
    /// Its type: a schema's name such as `TopicRecord`, a coordinator's such as `OffsetCommit`, a
    /// control record's such as `COMMIT`, or `data`.
    pub kind: String,
    /// The version of what the value holds.
    pub version: Option<i16>,
    /// Whether it is a control record.
    pub is_control: bool,
    /// The key.
    pub key: Content,
    /// The value.
    pub value: Content,
    /// Names and values of the headers.
    pub headers: Vec<(String, Option<Bytes>)>,
}

impl Entry {
    /// What it says, on one line.
    pub fn says(&self) -> String {
        let mut parts = Vec::new();
        if !self.is_control {
            match &self.key {
                Content::Null => {}
                Content::Bytes(bytes) => parts.push(format!("key={}", bytes_shown(bytes))),
                Content::Opened(tree) => parts.push(says::fields(&tree.root.children)),
            }
        }
        match &self.value {
            Content::Null if self.is_control => {}
            Content::Null => parts.push("(deleted)".to_owned()),
            Content::Bytes(bytes) => parts.push(format!("value={}", bytes_shown(bytes))),
            Content::Opened(tree) => parts.push(says::fields(&tree.root.children)),
        }
        for (name, value) in &self.headers {
            let value = value.as_deref().map_or("null".to_owned(), bytes_shown);
            parts.push(format!("header {name:?}={value}"));
        }
        parts.retain(|part| !part.is_empty());
        parts.join(" ")
    }

    /// How many bytes its key, its value and its headers have.
    pub fn content_len(&self) -> usize {
        let headers = self.headers.iter();
        let headers =
            headers.map(|(name, value)| name.len() + value.as_ref().map_or(0, Bytes::len));
        self.key.len() + self.value.len() + headers.sum::<usize>()
    }

    /// What is wrong with it.
    pub fn problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (name, content) in [("key", &self.key), ("value", &self.value)] {
            if let Content::Opened(tree) = content {
                let problems = tree.problems.iter();
                let bad = problems.filter(|problem| problem.severity != Severity::Notice);
                found.extend(bad.map(|problem| format!("{name}, {problem}")));
            }
        }
        found
    }
}

/// The key or the value of a record.
#[derive(Clone, Debug)]
pub enum Content {
    /// There is none.
    Null,
    /// Bytes that mean something to whoever wrote them.
    Bytes(Bytes),
    /// A message.
    Opened(Box<Tree>),
}

impl Content {
    fn new(
        bytes: Option<Bytes>,
        opening: impl FnOnce(&Bytes) -> Option<crate::walk::Opening>,
        options: &Options,
    ) -> Self {
        let Some(bytes) = bytes else {
            return Self::Null;
        };
        match opening(&bytes) {
            Some(opening) => Self::Opened(Box::new(decode::opened(bytes, opening, options))),
            None => Self::Bytes(bytes),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Null => 0,
            Self::Bytes(bytes) => bytes.len(),
            Self::Opened(tree) => tree.bytes.len(),
        }
    }

    fn is_opened(&self) -> bool {
        matches!(self, Self::Opened(_))
    }

    /// The version of the message.
    fn version(&self) -> Option<i16> {
        match self {
            Self::Opened(tree) => tree.subject.message_version,
            _ => None,
        }
    }
}
