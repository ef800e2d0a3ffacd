//! Messages of the formats 0 and 1.

use std::ops::Range;

use bytes::Bytes;
use klamm_protocol::records::{Attributes, Batch, Batches, Compression, DecompressLimit};

use super::batch::{attributes_note, place, timestamp_note, width_text};
use super::prefix::LengthForm;
use super::{Halt, MAX_NESTING, Walk, node};
use crate::node::{Node, Part, Role, Severity, Value};

/// Bytes from the start of a message to those that its CRC covers.
const CRC_COVERS_FROM: usize = 16;

impl Walk {
    /// Reads a message; `range` is where it is, if all of it is there.
    pub(super) fn legacy(
        &mut self,
        magic: u8,
        range: Range<usize>,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let whole = (range.end <= self.end).then(|| self.bytes.slice(range.clone()));
        self.legacy_number(("Offset", "int64", 8), None, out)?;
        self.legacy_number(("MessageSize", "int32", 4), None, out)?;
        self.legacy_number(("Crc", "uint32", 4), whole.as_ref(), out)?;
        self.legacy_number(("Magic", "int8", 1), None, out)?;
        let attributes = self.legacy_number(("Attributes", "int8", 1), None, out)?;
        if magic > 0 {
            self.legacy_number(("Timestamp", "int64", 8), None, out)?;
        }
        let compression = Attributes::from_bits(attributes as i16).compression();
        let is_compressed = !matches!(compression, Ok(Compression::None));
        let opening = self.key_opening(false).filter(|_| !is_compressed);
        let key = self.blob("Message", "Key", LengthForm::Int32, opening, out)?;
        let opening = self.record_opening(false, key.as_deref());
        let opening = opening.filter(|_| !is_compressed);
        self.blob("Message", "Value", LengthForm::Int32, opening, out)?;
        let Some(whole) = whole.filter(|_| is_compressed && self.nesting < MAX_NESTING) else {
            return Ok(());
        };
        let offset = self.at;
        let limit = DecompressLimit(self.decompressed_left);
        let records = match Batches::new(whole).next() {
            Some(Ok(Batch::Legacy(batch))) => batch.records(limit),
            Some(Err(error)) => Err(error),
            _ => return Ok(()),
        };
        match records {
            Err(error) => {
                self.problem(Severity::Broken, offset, error.to_string());
                Ok(())
            }
            Ok(records) => {
                let what = match compression {
                    Ok(compression) => format!("decompressed with {compression}"),
                    Err(_) => "decompressed".to_owned(),
                };
                let (region, result) = self.inside(what, records.body().clone(), Self::batches);
                if let Some(node) = out.last_mut() {
                    node.inside = Some(Box::new(region));
                }
                result
            }
        }
    }

    fn legacy_number(
        &mut self,
        (name, ty, width): (&'static str, &'static str, usize),
        whole: Option<&Bytes>,
        out: &mut Vec<Node>,
    ) -> Result<i64, Halt> {
        let offset = self.at;
        let mut value = self.named(name, |walk| walk.integer(width))?;
        let note = match name {
            "Crc" => {
                value &= 0xffff_ffff;
                whole.map(|whole| {
                    let computed = crc32fast::hash(&whole[CRC_COVERS_FROM..]);
                    self.crc_note(value as u32, computed, offset)
                })
            }
            "Attributes" => Some(attributes_note(Attributes::from_bits(value as i16))),
            "Timestamp" => timestamp_note(value),
            _ => None,
        };
        let node = Node {
            value: Value::Int(value),
            encoding: width_text(width),
            offset,
            len: width,
            note: note.map(Into::into),
            place: Some(place("Message", name)),
            ..node(name, ty, Role::Field, Part::Batch)
        };
        self.push(out, node)?;
        Ok(value)
    }
}
