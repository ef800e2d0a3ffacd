//! Records fields and batches of magic 2.

use bytes::Bytes;
use klamm_protocol::records::{
    Attributes, BatchHeader, Compression, DecompressLimit, RecordBatch, TimestampType,
};

use super::prefix::LengthForm;
use super::{Halt, MAX_NESTING, Walk, node};
use crate::node::{Node, Part, Place, Region, Role, Severity, Value};
use crate::time::utc;
use crate::words::{are, bytes, does};

/// Bytes from the start of a batch that its length field does not count.
const BEFORE_LENGTH: usize = 12;
/// Where the magic is, in every format.
const MAGIC: usize = 16;
/// Where the bytes start that the CRC covers.
const CRC_COVERS_FROM: usize = 21;
/// Where the length field is.
const LENGTH: usize = 8;

/// The fields before the records, in the order of the wire.
const HEADER: &[(&str, &str, usize)] = &[
    ("BaseOffset", "int64", 8),
    ("BatchLength", "int32", 4),
    ("PartitionLeaderEpoch", "int32", 4),
    ("Magic", "int8", 1),
    ("Crc", "uint32", 4),
    ("Attributes", "int16", 2),
    ("LastOffsetDelta", "int32", 4),
    ("BaseTimestamp", "int64", 8),
    ("MaxTimestamp", "int64", 8),
    ("ProducerId", "int64", 8),
    ("ProducerEpoch", "int16", 2),
    ("BaseSequence", "int32", 4),
    ("RecordCount", "int32", 4),
];

impl Walk {
    /// Reads a records field.
    pub(super) fn records_field(
        &mut self,
        form: LengthForm,
        nullable: bool,
        mut node: Node,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let length = self.length(form)?;
        node.encoding = length.encoding;
        let Some(len) = length.len.filter(|len| *len > 0) else {
            node.value = length
                .len
                .map_or(Value::Null, |_| Value::Bytes(Bytes::new()));
            (node.offset, node.len, node.prefix) = (length.offset, length.taken, length.taken);
            if length.len.is_none() && !nullable {
                self.problem(
                    Severity::Broken,
                    length.offset,
                    "is null, which it may not be in this version",
                );
            }
            return self.push(out, node);
        };
        let there = len.min(self.left());
        node.value = Value::Opened(self.bytes.slice(self.at..self.at + there));
        let part = node.part;
        self.at = length.offset;
        self.group(out, node, |walk, out| {
            walk.at = length.offset + length.taken;
            walk.push(out, length.node("length", part))?;
            walk.window(out, there, Self::batches)?;
            if there < len {
                return walk.halt(
                    walk.at,
                    format!("needs {}, {} {} there", bytes(len), there, are(there)),
                );
            }
            Ok(())
        })
    }

    /// Reads batches to the end of the window.
    pub(crate) fn batches(&mut self, out: &mut Vec<Node>) -> Result<(), Halt> {
        let mut index = 0;
        while self.left() > 0 {
            self.indexed(index, |walk| walk.any_batch(index, out))?;
            index += 1;
        }
        Ok(())
    }

    fn any_batch(&mut self, index: usize, out: &mut Vec<Node>) -> Result<(), Halt> {
        let start = self.at;
        let (Some(said), Some([magic])) = (self.peek(LENGTH), self.peek(MAGIC)) else {
            let what = format!(
                "the start of a batch: {} of it {} here",
                bytes(self.left()),
                are(self.left())
            );
            self.problem(Severity::Notice, start, what);
            self.rest(out);
            return Ok(());
        };
        let said = i32::from_be_bytes(said);
        let (least, ty) = match magic {
            0 => (14, "Message v0"),
            1 => (22, "Message v1"),
            2 => (BatchHeader::LEN - BEFORE_LENGTH, "RecordBatch v2"),
            _ => {
                let what = format!("magic {}, which is none of 0, 1 and 2", magic as i8);
                return self.halt(start + MAGIC, what);
            }
        };
        let len = match usize::try_from(said) {
            Ok(len) if len >= least => BEFORE_LENGTH + len,
            _ => {
                let what = format!(
                    "says that {} follow{} its length, at least {least} must",
                    bytes(said),
                    does(said)
                );
                return self.halt(start + LENGTH, what);
            }
        };
        let there = len.min(self.left());
        let cut = there < len;
        if cut {
            let what = format!("the start of a batch: {there} of {len} bytes are here");
            self.problem(Severity::Notice, start, what);
        }
        let was_quiet = self.quiet;
        self.quiet |= cut;
        let batch = Node {
            place: Some(Place::Message(ty)),
            ..node(format!("[{index}]"), ty, Role::Element, Part::Batch)
        };
        let result = self.group(out, batch, |walk, out| {
            walk.window(out, there, |walk, out| match magic {
                2 => walk.batch(start..start + len, out),
                _ => walk.legacy(magic, start..start + len, out),
            })
        });
        self.quiet = was_quiet;
        result
    }

    /// Reads a batch of magic 2; `range` is where it is, if all of it is there.
    fn batch(&mut self, range: std::ops::Range<usize>, out: &mut Vec<Node>) -> Result<(), Halt> {
        let whole = (range.end <= self.end).then(|| self.bytes.slice(range.clone()));
        let mut facts = Facts::default();
        for (name, ty, width) in HEADER {
            let node = self.named(name, |walk| {
                walk.header_field((name, ty, *width), whole.as_ref(), &mut facts)
            })?;
            self.push(out, node)?;
        }
        let header: [u8; BatchHeader::LEN] = self.bytes[range.start..]
            .first_chunk()
            .copied()
            .unwrap_or([0; BatchHeader::LEN]);
        let header = BatchHeader::from_bytes(&header);
        match facts.attributes.compression() {
            Ok(Compression::None) => self.records(&header, out),
            // Compaction may leave no records, and then nothing was compressed.
            Ok(_) if self.left() == 0 => Ok(()),
            Ok(compression) => self.compressed(compression, whole, &header, out),
            Err(error) => self.halt(range.start + CRC_COVERS_FROM, error.to_string()),
        }
    }

    fn header_field(
        &mut self,
        (name, ty, width): (&'static str, &'static str, usize),
        whole: Option<&Bytes>,
        facts: &mut Facts,
    ) -> Result<Node, Halt> {
        let offset = self.at;
        let mut value = self.integer(width)?;
        let mut note = None;
        match name {
            "Crc" => {
                value &= 0xffff_ffff;
                if let Some(whole) = whole {
                    note = Some(self.crc_note(
                        value as u32,
                        crc32c::crc32c(&whole[CRC_COVERS_FROM..]),
                        offset,
                    ));
                }
            }
            "Attributes" => {
                facts.attributes = Attributes::from_bits(value as i16);
                note = Some(attributes_note(facts.attributes));
            }
            "BaseTimestamp" | "MaxTimestamp" => note = timestamp_note(value),
            _ => {}
        }
        Ok(Node {
            value: Value::Int(value),
            encoding: width_text(width),
            offset,
            len: width,
            note: note.map(Into::into),
            place: Some(place("RecordBatch", name)),
            ..node(name, ty, Role::Field, Part::Batch)
        })
    }

    /// What a checksum says, and a problem if it does not fit.
    pub(super) fn crc_note(&mut self, said: u32, computed: u32, offset: usize) -> String {
        if said == computed {
            return format!("{said:#010x}, fits the bytes");
        }
        let what = format!("checksum is {said:#010x}, the bytes have {computed:#010x}");
        self.problem(Severity::Broken, offset, what);
        format!("{said:#010x}, but the bytes have {computed:#010x}")
    }

    fn compressed(
        &mut self,
        compression: Compression,
        whole: Option<Bytes>,
        header: &BatchHeader,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let (offset, len) = (self.at, self.left());
        let content = Value::Bytes(self.take(len)?);
        let node = Node {
            value: content.clone(),
            encoding: compression.name(),
            offset,
            len,
            ..node("records", "compressed records", Role::Field, Part::Record)
        };
        self.push(out, node)?;
        let hidden = Value::Hidden(len);
        if self.hides_unread()
            && let Some(node) = out.last_mut()
        {
            node.value = hidden.clone();
        }
        let Some(whole) = whole else { return Ok(()) };
        if self.nesting >= MAX_NESTING {
            return Ok(());
        }
        let limit = DecompressLimit(self.decompressed_left);
        let records = RecordBatch::parse(whole).and_then(|batch| batch.records(limit));
        match records {
            Err(error) => {
                self.problem(Severity::Broken, offset, error.to_string());
                Ok(())
            }
            Ok(records) => {
                let what = format!("decompressed with {compression}");
                let (region, result) = self.inside(what, records.body().clone(), |walk, out| {
                    walk.records(header, out)
                });
                if let Some(node) = out.last_mut() {
                    // What they decompress to says whether they have a secret.
                    node.value = if region.hidden().is_empty() {
                        content
                    } else {
                        hidden
                    };
                    node.inside = Some(Box::new(region));
                }
                result
            }
        }
    }

    /// Reads bytes that are not the frame's own, with offsets of their own.
    pub(super) fn inside(
        &mut self,
        what: String,
        bytes: Bytes,
        body: impl FnOnce(&mut Self, &mut Vec<Node>) -> Result<(), Halt>,
    ) -> (Region, Result<(), Halt>) {
        self.decompressed_left = self.decompressed_left.saturating_sub(bytes.len());
        let place = (self.at, self.end);
        let outer_bytes = std::mem::replace(&mut self.bytes, bytes);
        let outer_region = self.region.replace(what.clone());
        (self.at, self.end) = (0, self.bytes.len());
        self.nesting += 1;
        let mut nodes = Vec::new();
        let len = self.end;
        let result = self.window(&mut nodes, len, body);
        // A limit leaves bytes that the window does not cover.
        self.end = len;
        self.rest(&mut nodes);
        self.nesting -= 1;
        self.region = outer_region;
        let bytes = std::mem::replace(&mut self.bytes, outer_bytes);
        (self.at, self.end) = place;
        // What is left of the frame starts after the compressed bytes.
        let result = result.map_err(|halt| Halt {
            offset: place.0,
            ..halt
        });
        (Region { what, bytes, nodes }, result)
    }
}

/// What later fields of a batch depend on.
#[derive(Default)]
struct Facts {
    attributes: Attributes,
}

pub(super) fn place(format: &'static str, field: &'static str) -> Place {
    Place::Field {
        message: format,
        owner: format,
        name: field,
    }
}

pub(super) fn width_text(width: usize) -> &'static str {
    match width {
        1 => "1 byte",
        2 => "2 bytes",
        4 => "4 bytes",
        _ => "8 bytes",
    }
}

pub(super) fn timestamp_note(millis: i64) -> Option<String> {
    if millis == -1 {
        Some("none".to_owned())
    } else {
        utc(millis)
    }
}

pub(super) fn attributes_note(attributes: Attributes) -> String {
    let mut words = vec![match attributes.compression() {
        Ok(Compression::None) => "not compressed".to_owned(),
        Ok(compression) => compression.to_string(),
        Err(_) => "compression without a meaning".to_owned(),
    }];
    words.push(
        match attributes.timestamp_type() {
            TimestampType::CreateTime => "create time",
            TimestampType::LogAppendTime => "log append time",
        }
        .to_owned(),
    );
    for (is_set, word) in [
        (attributes.is_transactional(), "transactional"),
        (attributes.is_control(), "control"),
        (attributes.has_delete_horizon(), "delete horizon"),
    ] {
        if is_set {
            words.push(word.to_owned());
        }
    }
    words.join(", ")
}
