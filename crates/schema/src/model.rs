use crate::Versions;

/// What a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The body of a request.
    Request,
    /// The body of a response.
    Response,
    /// A request's or response's header.
    Header,
    /// A record of the metadata log.
    Metadata,
    /// Anything else that is stored: raft, storage and embedded data.
    Data,
    /// The key of a coordinator's record.
    CoordinatorKey,
    /// The value of a coordinator's record.
    CoordinatorValue,
}

/// One schema file.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The API's key; for metadata and coordinator records the record type.
    pub api_key: Option<i16>,
    /// What it describes.
    pub kind: Kind,
    /// The message's name, such as `ElectLeadersRequest`.
    pub name: String,
    /// On requests: `broker` and `controller`, the listeners that serve the API.
    pub listeners: Vec<String>,
    /// The versions that exist.
    pub valid_versions: Versions,
    /// The versions with compact lengths and tagged fields.
    pub flexible_versions: Versions,
    /// Whether the latest version may still change.
    pub latest_version_unstable: bool,
    /// The message's own fields.
    pub root: Struct,
    /// Every other struct, in the order in which they occur.
    pub structs: Vec<Struct>,
}

/// A struct: the message itself, or one that its fields are made of.
#[derive(Clone, Debug)]
pub struct Struct {
    /// The schema's name.
    pub name: String,
    /// The versions it occurs in.
    pub versions: Versions,
    /// Its fields in the order of the wire; tagged ones come last there, by tag.
    pub fields: Vec<Field>,
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// The schema's name.
    pub name: String,
    /// What the schema file says it means. Empty in the copies that klamm carries.
    pub about: String,
    /// Its type.
    pub ty: Type,
    /// The versions it occurs in.
    pub versions: Versions,
    /// The versions in which it may be null.
    pub nullable_versions: Versions,
    /// The versions in which it is a tagged field.
    pub tagged_versions: Versions,
    /// Its tag, where it is ever tagged.
    pub tag: Option<u32>,
    /// The versions in which its length is compact, where they differ from the message's.
    pub flexible_versions: Option<Versions>,
    /// Whether a value is dropped silently in a version that lacks the field.
    pub ignorable: bool,
    /// The value where nothing else is said.
    pub default: Default,
    /// Whether it is the key, or part of the key, of the map that its struct is an entry of.
    pub map_key: bool,
    /// What the value stands for, such as `topicName`.
    pub entity_type: Option<String>,
}

impl Field {
    /// Whether it may be null in any version.
    pub fn is_nullable(&self) -> bool {
        !self.nullable_versions.is_empty()
    }

    /// Whether it is written among the tagged fields in `version`.
    pub fn is_tagged(&self, version: i16) -> bool {
        self.tagged_versions.contains(version) && self.versions.contains(version)
    }
}

/// A field's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A byte that is 0 or 1.
    Bool,
    /// A signed 8-bit integer.
    Int8,
    /// A signed 16-bit integer.
    Int16,
    /// An unsigned 16-bit integer.
    Uint16,
    /// A signed 32-bit integer.
    Int32,
    /// An unsigned 32-bit integer.
    Uint32,
    /// A signed 64-bit integer.
    Int64,
    /// A double.
    Float64,
    /// 16 bytes.
    Uuid,
    /// UTF-8 with its length.
    String,
    /// Bytes with their length.
    Bytes,
    /// Record batches with their length.
    Records,
    /// A struct of the same schema, by name.
    Struct(String),
    /// An array of anything but arrays.
    Array(Box<Type>),
}

impl Type {
    /// The size on the wire in bytes, where it is the same for every value.
    pub fn fixed_size(&self) -> Option<usize> {
        match self {
            Self::Bool | Self::Int8 => Some(1),
            Self::Int16 | Self::Uint16 => Some(2),
            Self::Int32 | Self::Uint32 => Some(4),
            Self::Int64 | Self::Float64 => Some(8),
            Self::Uuid => Some(16),
            _ => None,
        }
    }

    /// The name of the struct that it is, or is an array of.
    pub fn struct_name(&self) -> Option<&str> {
        match self {
            Self::Struct(name) => Some(name),
            Self::Array(element) => element.struct_name(),
            _ => None,
        }
    }
}

impl std::fmt::Display for Type {
    /// In the schemas' own form.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Bool => "bool",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Uint16 => "uint16",
            Self::Int32 => "int32",
            Self::Uint32 => "uint32",
            Self::Int64 => "int64",
            Self::Float64 => "float64",
            Self::Uuid => "uuid",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Records => "records",
            Self::Struct(name) => name,
            Self::Array(element) => return write!(f, "[]{element}"),
        })
    }
}

/// A field's default value.
#[derive(Clone, Debug, PartialEq)]
pub enum Default {
    /// Null.
    Null,
    /// The type's own: false, zero, empty, a struct of defaults.
    Zero,
    /// True.
    True,
    /// An integer other than 0.
    Int(i64),
    /// A number other than 0.
    Float(f64),
    /// A text that is not empty.
    Text(String),
}

impl Schema {
    /// The struct with this name.
    pub fn find(&self, name: &str) -> Option<&Struct> {
        self.structs.iter().find(|candidate| candidate.name == name)
    }

    /// The struct that a type of this schema names. Parsing has made sure that it is there.
    pub(crate) fn resolve(&self, name: &str) -> &Struct {
        self.find(name).expect("parsing resolves every struct name")
    }

    /// Whether lengths of `field` are compact in `version`.
    pub fn is_compact(&self, field: &Field, version: i16) -> bool {
        field
            .flexible_versions
            .unwrap_or(self.flexible_versions)
            .contains(version)
    }

    /// The versions that may be offered to others.
    pub fn stable_versions(&self) -> Versions {
        let Versions { min, max } = self.valid_versions;
        if self.latest_version_unstable {
            Versions::new(min, max - 1)
        } else {
            self.valid_versions
        }
    }
}
