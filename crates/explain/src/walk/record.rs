//! Records of batches of magic 2.

use klamm_protocol::records::{BatchHeader, ControlKey};

use super::batch::place;
use super::prefix::LengthForm;
use super::{Halt, Walk, node};
use crate::node::{Node, Part, Role, Value};
use crate::time::utc;
use crate::words;

impl Walk {
    /// Reads as many records as a batch says that it has.
    pub(super) fn records(
        &mut self,
        header: &BatchHeader,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let Ok(count) = usize::try_from(header.record_count) else {
            return self.halt(
                self.at,
                format!("record count {} is negative", header.record_count),
            );
        };
        for index in 0..count {
            if self.left() == 0 {
                return self.halt(
                    self.at,
                    format!(
                        "says that it has {}, ends after {index}",
                        words::count(count, "record")
                    ),
                );
            }
            self.indexed(index, |walk| walk.record(index, header, out))?;
        }
        Ok(())
    }

    fn record(
        &mut self,
        index: usize,
        batch: &BatchHeader,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        let length = self.length(LengthForm::Zigzag)?;
        let Some(len) = length.len else {
            self.at = length.offset;
            return self.halt(length.offset, "record's length is negative");
        };
        let mut node = Node {
            encoding: length.encoding,
            ..node(format!("[{index}]"), "Record", Role::Element, Part::Record)
        };
        if !self.quiet {
            node = self.check(length, node, out)?;
        }
        let there = len.min(self.left());
        self.at = length.offset;
        let mut note = None;
        let result = self.group(out, node, |walk, out| {
            walk.at = length.offset + length.taken;
            walk.push(out, length.node("length", Part::Record))?;
            walk.window(out, there, |walk, out| {
                walk.record_fields(batch, &mut note, out)
            })
        });
        if let (Some(note), Some(node)) = (note, out.last_mut()) {
            node.note = Some(note.into());
        }
        result
    }

    fn record_fields(
        &mut self,
        batch: &BatchHeader,
        note: &mut Option<String>,
        out: &mut Vec<Node>,
    ) -> Result<(), Halt> {
        self.record_number("Attributes", "int8", None, out)?;
        let append_time = batch.append_time();
        let time_of = |delta: i64| append_time.unwrap_or(batch.base_timestamp.wrapping_add(delta));
        let delta = self.record_number(
            "TimestampDelta",
            "varlong",
            Some(&|delta| utc(time_of(delta))),
            out,
        )?;
        let offset_of = |delta: i64| batch.base_offset.0.wrapping_add(delta);
        let text = |delta: i64| Some(format!("offset {}", offset_of(delta)));
        let offset = self.record_number("OffsetDelta", "varint", Some(&text), out)?;
        *note = Some(match utc(time_of(delta)) {
            Some(time) if time_of(delta) != -1 => format!("offset {}, {time}", offset_of(offset)),
            _ => format!("offset {}", offset_of(offset)),
        });
        let is_control = batch.attributes.is_control();
        let opening = self.key_opening(is_control);
        let key = self.blob("Record", "Key", LengthForm::Zigzag, opening, out)?;
        if is_control
            && let Ok(control) = ControlKey::parse(key.as_deref())
            && let Some(node) = out.last_mut()
        {
            node.note = Some(control.kind.to_string().into());
        }
        let opening = self.record_opening(is_control, key.as_deref());
        self.blob("Record", "Value", LengthForm::Zigzag, opening, out)?;
        self.named("Headers", |walk| walk.headers(out))
    }

    /// Reads a number of a record.
    fn record_number(
        &mut self,
        name: &'static str,
        ty: &'static str,
        note: Option<&dyn Fn(i64) -> Option<String>>,
        out: &mut Vec<Node>,
    ) -> Result<i64, Halt> {
        let offset = self.at;
        let (value, encoding) = self.named(name, |walk| match ty {
            "int8" => Ok((walk.integer(1)?, "1 byte")),
            "varlong" => Ok((walk.varlong()?, "zigzag varint")),
            _ => Ok((walk.varint()?.into(), "zigzag varint")),
        })?;
        let node = Node {
            value: Value::Int(value),
            encoding,
            offset,
            len: self.at - offset,
            note: note.and_then(|note| note(value)).map(Into::into),
            place: Some(place("Record", name)),
            ..node(name, ty, Role::Field, Part::Record)
        };
        self.push(out, node)?;
        Ok(value)
    }

    /// Reads bytes that may be null, and gives them back.
    pub(super) fn blob(
        &mut self,
        format: &'static str,
        name: &'static str,
        form: LengthForm,
        opening: Option<super::opened::Opening>,
        out: &mut Vec<Node>,
    ) -> Result<Option<bytes::Bytes>, Halt> {
        self.named(name, |walk| {
            let part = if format == "Record" || format == "Header" {
                Part::Record
            } else {
                Part::Batch
            };
            let node = Node {
                place: Some(place(format, name)),
                ..node(name, "bytes", Role::Field, part)
            };
            let length = walk.length(form)?;
            let mut node = walk.check(
                length,
                Node {
                    encoding: length.encoding,
                    ..node
                },
                out,
            )?;
            let content = match length.len {
                Some(len) => Some(walk.bytes.slice(walk.at..walk.at + len)),
                None => None,
            };
            if let (Some(opening), Some(content)) = (opening, &content) {
                walk.open(opening, length, content.clone(), node, part, out)?;
                return Ok(Some(content.clone()));
            }
            walk.at += length.len.unwrap_or(0);
            node.value = content.clone().map_or(Value::Null, Value::Bytes);
            (node.offset, node.len, node.prefix) =
                (length.offset, walk.at - length.offset, length.taken);
            walk.push(out, node)?;
            Ok(content)
        })
    }

    fn headers(&mut self, out: &mut Vec<Node>) -> Result<(), Halt> {
        let offset = self.at;
        let count = self.varint()?;
        let len = self.at - offset;
        let mut node = Node {
            encoding: "varint count",
            place: Some(place("Record", "Headers")),
            ..node("Headers", "[]Header", Role::Field, Part::Record)
        };
        let Ok(count) = usize::try_from(count) else {
            self.at = offset;
            return self.halt(offset, format!("header count {count} is negative"));
        };
        node.value = Value::Count(count);
        if count == 0 {
            (node.offset, node.len, node.prefix) = (offset, len, len);
            return self.push(out, node);
        }
        self.at = offset;
        self.group(out, node, |walk, out| {
            walk.at = offset + len;
            let prefix = Node {
                value: Value::Int(count as i64),
                encoding: "zigzag varint",
                offset,
                len,
                ..super::node("count", "varint", Role::Prefix, Part::Record)
            };
            walk.push(out, prefix)?;
            for index in 0..count {
                let header =
                    super::node(format!("[{index}]"), "Header", Role::Element, Part::Record);
                walk.indexed(index, |walk| {
                    walk.group(out, header, |walk, out| {
                        walk.blob("Header", "Key", LengthForm::Zigzag, None, out)?;
                        walk.blob("Header", "Value", LengthForm::Zigzag, None, out)?;
                        Ok(())
                    })
                })?;
            }
            Ok(())
        })
    }
}
