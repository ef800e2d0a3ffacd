//! Lengths, counts and numbers.

use klamm_schema::Type;

use super::{Halt, Walk, node};
use crate::node::{Node, Part, Role, Value};
use crate::words::bytes;

/// A length as it is on the wire.
#[derive(Clone, Copy)]
pub(super) struct Length {
    /// Where it starts.
    pub(super) offset: usize,
    /// How many bytes it takes.
    pub(super) taken: usize,
    /// The length; `None` for null.
    pub(super) len: Option<usize>,
    /// The type it is written as.
    pub(super) ty: &'static str,
    /// How it is written.
    pub(super) encoding: &'static str,
}

impl Length {
    /// The node for it, where the value has nodes of its own.
    pub(super) fn node(self, name: &'static str, part: Part) -> Node {
        Node {
            value: self.len.map_or(Value::Null, |len| Value::Int(len as i64)),
            offset: self.offset,
            len: self.taken,
            encoding: self.encoding,
            ..node(name, self.ty, Role::Prefix, part)
        }
    }
}

/// How lengths are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LengthForm {
    /// n+1 as a varint, 0 for null.
    Compact,
    /// int16, -1 for null.
    Int16,
    /// int32, -1 for null.
    Int32,
    /// A zigzag varint, less than 0 for null.
    Zigzag,
}

impl LengthForm {
    pub(super) fn of(ty: &Type, compact: bool) -> Self {
        match ty {
            _ if compact => Self::Compact,
            Type::String => Self::Int16,
            _ => Self::Int32,
        }
    }
}

impl Walk {
    pub(super) fn length(&mut self, form: LengthForm) -> Result<Length, Halt> {
        let offset = self.at;
        let (said, ty, encoding) = match form {
            LengthForm::Compact => {
                let said = i64::from(self.unsigned_varint()?) - 1;
                (said, "uvarint", "compact, n+1")
            }
            LengthForm::Int16 => (self.integer(2)?, "int16", "int16 len"),
            LengthForm::Int32 => (self.integer(4)?, "int32", "int32 len"),
            LengthForm::Zigzag => (i64::from(self.varint()?), "varint", "varint len"),
        };
        let len = match said {
            0.. => Some(said as usize),
            // Apache Kafka takes every negative length in a record for null.
            _ if said == -1 || form == LengthForm::Zigzag => None,
            _ => {
                self.at = offset;
                return self.halt(offset, format!("length {said} is negative"));
            }
        };
        Ok(Length {
            offset,
            taken: self.at - offset,
            len,
            ty,
            encoding,
        })
    }

    /// Makes sure that the window holds `length`; where it does not, shows the length and halts.
    pub(super) fn check(
        &mut self,
        length: Length,
        mut node: Node,
        out: &mut Vec<Node>,
    ) -> Result<Node, Halt> {
        let Some(needed) = length.len.filter(|len| *len > self.left()) else {
            return Ok(node);
        };
        node.offset = length.offset;
        node.len = length.taken;
        node.children = vec![length.node("length", node.part)];
        self.push(out, node)?;
        self.halt(
            self.at,
            format!("needs {}, {} left", bytes(needed), self.left_text()),
        )
    }

    /// Reads a signed big-endian integer of up to 8 bytes.
    pub(super) fn integer(&mut self, width: usize) -> Result<i64, Halt> {
        let taken = self.take(width)?;
        let mut value = [0; 8];
        if taken.first().is_some_and(|byte| *byte >= 0x80) {
            value = [0xff; 8];
        }
        value[8 - width..].copy_from_slice(&taken);
        Ok(i64::from_be_bytes(value))
    }

    pub(super) fn unsigned_varint(&mut self) -> Result<u32, Halt> {
        let offset = self.at;
        let value = self.long_varint(5)?;
        match u32::try_from(value) {
            Ok(value) => Ok(value),
            Err(_) => {
                self.at = offset;
                self.halt(offset, "varint is out of range")
            }
        }
    }

    pub(super) fn varint(&mut self) -> Result<i32, Halt> {
        let value = self.unsigned_varint()?;
        Ok((value >> 1) as i32 ^ -((value & 1) as i32))
    }

    pub(super) fn varlong(&mut self) -> Result<i64, Halt> {
        let value = self.long_varint(10)?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn long_varint(&mut self, max_len: usize) -> Result<u64, Halt> {
        let offset = self.at;
        let mut value = 0u64;
        for index in 0..max_len {
            let Some(&byte) = self.bytes[..self.end].get(offset + index) else {
                return self.halt(offset, "varint has no end");
            };
            let group = u64::from(byte & 0x7f);
            let shift = 7 * index as u32;
            if shift == 63 && group > 1 {
                return self.halt(offset, "varint is out of range");
            }
            value |= group << shift;
            if byte < 0x80 {
                self.at = offset + index + 1;
                return Ok(value);
            }
        }
        self.halt(offset, format!("varint is longer than {}", bytes(max_len)))
    }
}
