use thiserror::Error;

/// Why bytes could not be read as what they were said to be. The peer is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The frame ends before the value does.
    #[error("needs {needed} bytes where {left} are left")]
    Truncated {
        /// How many bytes the value needs.
        needed: usize,
        /// How many bytes the frame has left.
        left: usize,
    },
    /// An array claims more elements than the rest of the frame could hold.
    #[error("claims {count} elements of at least {element} bytes where {left} bytes are left")]
    ImpossibleCount {
        /// The claimed number of elements.
        count: usize,
        /// The least an element takes on the wire, in bytes.
        element: usize,
        /// Bytes left that no enclosing array has claimed.
        left: usize,
    },
    /// A length or count below -1, or -1 where there is no null.
    #[error("length {0} is negative")]
    NegativeLength(i64),
    /// Null where the field is not nullable in this version.
    #[error("field {0} is null, which it may not be in this version")]
    Null(&'static str),
    /// A varint goes on past its longest form or its range.
    #[error("varint is longer than {0} bytes or out of range")]
    VarintTooLong(u8),
    /// A string is longer than an int16 can say, which Apache Kafka refuses in compact form, too.
    #[error("string has {0} bytes, more than 32767")]
    StringTooLong(usize),
    /// A string is not UTF-8.
    #[error("string is not valid UTF-8")]
    Utf8,
    /// The same tag occurs twice, or tags are not in ascending order.
    #[error("tag {tag} comes after tag {previous}")]
    TagOrder {
        /// The tag out of order.
        tag: u32,
        /// The tag before it.
        previous: u32,
    },
    /// A known tagged field took another number of bytes than its size said.
    #[error("tag {tag} says {said} bytes and takes {taken}")]
    TagSize {
        /// The tag.
        tag: u32,
        /// The size before the field, in bytes.
        said: usize,
        /// The bytes that the field took.
        taken: usize,
    },
    /// The message has no such version.
    #[error("{message} has no version {version}")]
    UnsupportedVersion {
        /// The message's name.
        message: &'static str,
        /// The version asked for.
        version: i16,
    },
}

/// Why a value cannot be written in a version. The caller is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The message has no such version.
    #[error("{message} has no version {version}")]
    UnsupportedVersion {
        /// The message's name.
        message: &'static str,
        /// The version asked for.
        version: i16,
    },
    /// A field that may not be dropped is set to other than its default in a version that lacks it.
    #[error("version {version} cannot carry a value in {field}")]
    FieldNotInVersion {
        /// The field, as `Struct.Field` with the schema's names.
        field: &'static str,
        /// The version asked for.
        version: i16,
    },
    /// Null in a version where the field is not nullable.
    #[error("field {field} may not be null in version {version}")]
    Null {
        /// The field, as `Struct.Field` with the schema's names.
        field: &'static str,
        /// The version asked for.
        version: i16,
    },
    /// A string, byte array, array or frame is longer than its length prefix can say.
    #[error("{what} is {len} long, more than the limit of {limit}")]
    TooLong {
        /// The field, as `Struct.Field` with the schema's names, or `frame`.
        what: &'static str,
        /// Its length, in bytes or elements.
        len: usize,
        /// The limit.
        limit: usize,
    },
    /// An unknown tagged field carries a tag that is out of order or that this version knows.
    #[error("tagged field {0} is out of order or known in this version")]
    Tag(u32),
}
