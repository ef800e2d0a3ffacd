use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use bytes::Bytes;

use super::{DecodeError, EncodeError, Reader, Writer};

/// A tagged field that this version of the schema does not know, kept as it came (KIP-482).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaggedField {
    /// The tag.
    pub tag: u32,
    /// The field's bytes, without tag and size.
    pub data: Bytes,
}

/// The unknown tagged fields of one struct, in ascending order of their tags.
///
/// They survive decoding and encoding, and take one pointer where there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaggedFields(
    #[expect(clippy::box_collection, reason = "one word")] Option<Box<Vec<TaggedField>>>,
);

impl TaggedFields {
    /// Nothing.
    pub const EMPTY: Self = Self(None);

    /// The fields, in the order in which they are written.
    #[inline]
    pub fn as_slice(&self) -> &[TaggedField] {
        self.0.as_ref().map_or(&[], |fields| fields.as_slice())
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Adds a field at the end.
    pub fn push(&mut self, tag: u32, data: Bytes) {
        self.0
            .get_or_insert_default()
            .push(TaggedField { tag, data });
    }

    /// Reads a tagged section in which every tag is unknown.
    #[inline(always)]
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::read_known(reader, |_, _| Ok(false))
    }

    /// Reads a tagged section. `known` reads the field of a tag it knows and says so; the field must
    /// then take the bytes that its size says.
    #[inline(always)]
    pub fn read_known<'a>(
        reader: &mut Reader<'a>,
        known: impl FnMut(u32, &mut Reader<'a>) -> Result<bool, DecodeError>,
    ) -> Result<Self, DecodeError> {
        if reader.skip_zero() {
            return Ok(Self::EMPTY);
        }
        let count = reader.unsigned_varint()? as usize;
        Self::read_some(reader, count, known)
    }

    #[cold]
    fn read_some<'a>(
        reader: &mut Reader<'a>,
        count: usize,
        mut known: impl FnMut(u32, &mut Reader<'a>) -> Result<bool, DecodeError>,
    ) -> Result<Self, DecodeError> {
        // A tag and a size take a byte each.
        const LEAST: usize = 2;
        reader.begin_array(count, LEAST)?;
        let mut unknown = Self::EMPTY;
        let mut previous = None;
        for left in (1..=count).rev() {
            reader.begin_element(LEAST);
            let tag = reader.unsigned_varint()?;
            if let Some(previous) = previous.filter(|previous| *previous >= tag) {
                return Err(DecodeError::TagOrder { tag, previous });
            }
            previous = Some(tag);
            let said = reader.unsigned_varint()? as usize;
            let before = reader.remaining();
            if said > before {
                return Err(DecodeError::Truncated {
                    needed: said,
                    left: before,
                });
            }
            if known(tag, reader)? {
                let taken = before - reader.remaining();
                if taken != said {
                    return Err(DecodeError::TagSize { tag, said, taken });
                }
            } else {
                let fields = unknown
                    .0
                    .get_or_insert_with(|| Box::new(Vec::with_capacity(left)));
                fields.push(TaggedField {
                    tag,
                    data: reader.bytes(said)?,
                });
            }
        }
        Ok(unknown)
    }

    /// Refuses fields out of order and those of which `known` says that this version of the schema
    /// knows them: those have a field of their own.
    #[inline(always)]
    pub fn check(&self, known: impl Fn(u32) -> bool, writer: &mut Writer<'_, '_>) {
        if let Some(tag) = self.misplaced(known) {
            writer.refuse(EncodeError::Tag(tag));
        }
    }

    #[inline(always)]
    fn misplaced(&self, known: impl Fn(u32) -> bool) -> Option<u32> {
        if self.is_empty() {
            None
        } else {
            self.misplaced_some(known)
        }
    }

    #[cold]
    fn misplaced_some(&self, known: impl Fn(u32) -> bool) -> Option<u32> {
        let mut least = 0;
        let mut tags = self.as_slice().iter().map(|field| field.tag);
        tags.find(|tag| {
            let is_misplaced = *tag < least || known(*tag);
            least = tag.saturating_add(1);
            is_misplaced
        })
    }

    /// Writes a section in which every tag is unknown.
    #[inline(always)]
    pub fn write_section<'w, 'm>(&self, mut writer: Writer<'w, 'm>) -> Writer<'w, 'm> {
        if self.is_empty() {
            writer.bool(false);
            return writer;
        }
        self.check(|_| false, &mut writer);
        writer.unsigned_varint(self.len() as u32);
        self.write_some(0..=u32::MAX, writer)
    }

    /// Writes the fields with tags in `tags`, without the section's count: between two known fields
    /// those with a tag between theirs.
    #[inline(always)]
    pub fn write<'w, 'm>(
        &self,
        tags: RangeInclusive<u32>,
        writer: Writer<'w, 'm>,
    ) -> Writer<'w, 'm> {
        if self.is_empty() {
            writer
        } else {
            self.write_some(tags, writer)
        }
    }

    #[cold]
    fn write_some<'w, 'm>(
        &self,
        tags: RangeInclusive<u32>,
        mut writer: Writer<'w, 'm>,
    ) -> Writer<'w, 'm> {
        let fields = self.as_slice().iter();
        for field in fields.filter(|field| tags.contains(&field.tag)) {
            writer.unsigned_varint(field.tag);
            writer.unsigned_varint(field.data.len() as u32);
            writer.raw(&field.data);
        }
        writer
    }
}
