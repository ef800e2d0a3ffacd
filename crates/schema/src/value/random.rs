use super::{StructValue, Value};
use crate::{Default, Field, Schema, Struct, Type};

/// How random values are made.
#[derive(Clone, Copy, Debug)]
pub struct RandomOptions {
    /// The most elements of an array.
    pub max_elements: u64,
    /// Whether structs of flexible versions may carry tagged fields that the schema does not know.
    pub unknown_tags: bool,
}

impl std::default::Default for RandomOptions {
    fn default() -> Self {
        Self {
            max_elements: 3,
            unknown_tags: true,
        }
    }
}

/// A random value of a message that can be encoded in `version`: fields that the version lacks have
/// their default. `next` is the source of randomness.
pub fn random(
    schema: &Schema,
    version: i16,
    options: RandomOptions,
    next: &mut dyn FnMut() -> u64,
) -> StructValue {
    Random {
        schema,
        version,
        options,
        next,
    }
    .structure(&schema.root)
}

/// The value of a field of which nothing is said.
pub(super) fn default_value(schema: &Schema, field: &Field) -> Value {
    match (&field.default, &field.ty) {
        (Default::Null, _) => Value::Null,
        (Default::True, _) => Value::Bool(true),
        (Default::Int(number), _) => Value::Int(*number),
        (Default::Float(number), _) => Value::Float(*number),
        (Default::Text(text), _) => Value::Text(text.clone()),
        (Default::Zero, ty) => zero(schema, ty),
    }
}

fn zero(schema: &Schema, ty: &Type) -> Value {
    match ty {
        Type::Bool => Value::Bool(false),
        Type::Float64 => Value::Float(0.0),
        Type::Uuid => Value::Uuid([0; 16]),
        Type::String => Value::Text(String::new()),
        Type::Bytes | Type::Records => Value::Bytes(Vec::new()),
        Type::Array(_) => Value::Array(Vec::new()),
        Type::Struct(name) => {
            let fields = &schema.resolve(name).fields;
            let fields = fields
                .iter()
                .map(|field| default_value(schema, field))
                .collect();
            Value::Struct(StructValue {
                fields,
                unknown: Vec::new(),
            })
        }
        _ => Value::Int(0),
    }
}

struct Random<'a> {
    schema: &'a Schema,
    version: i16,
    options: RandomOptions,
    next: &'a mut dyn FnMut() -> u64,
}

impl Random<'_> {
    fn below(&mut self, end: u64) -> u64 {
        (self.next)() % end
    }

    fn structure(&mut self, owner: &Struct) -> StructValue {
        let fields = owner.fields.iter().map(|field| self.field(field)).collect();
        let flexible = self.schema.flexible_versions.contains(self.version);
        let mut unknown = Vec::new();
        if flexible && self.options.unknown_tags && self.below(8) == 0 {
            // Far above any tag that a schema uses.
            let mut tag = 1000;
            for _ in 0..=self.below(2) {
                tag += 1 + self.below(100_000) as u32;
                unknown.push((tag, self.bytes()));
            }
        }
        StructValue { fields, unknown }
    }

    fn field(&mut self, field: &Field) -> Value {
        if !field.versions.contains(self.version) {
            return default_value(self.schema, field);
        }
        if field.is_tagged(self.version) && self.below(2) == 0 {
            return default_value(self.schema, field);
        }
        if field.nullable_versions.contains(self.version) && self.below(4) == 0 {
            return Value::Null;
        }
        self.plain(&field.ty)
    }

    fn plain(&mut self, ty: &Type) -> Value {
        match ty {
            Type::Bool => Value::Bool(self.below(2) == 1),
            Type::Uint16 => Value::Int(self.integer() & 0xffff),
            Type::Uint32 => Value::Int(self.integer() & 0xffff_ffff),
            Type::Int8 => Value::Int(i64::from(self.integer() as i8)),
            Type::Int16 => Value::Int(i64::from(self.integer() as i16)),
            Type::Int32 => Value::Int(i64::from(self.integer() as i32)),
            Type::Int64 => Value::Int(self.integer()),
            // Numbers with a short decimal form, so that a text form of them is exact.
            Type::Float64 => Value::Float(f64::from(self.integer() as i16) / 8.0),
            Type::Uuid => {
                let mut id = [0; 16];
                id[..8].copy_from_slice(&(self.next)().to_be_bytes());
                id[8..].copy_from_slice(&(self.next)().to_be_bytes());
                Value::Uuid(id)
            }
            Type::String => Value::Text(self.text()),
            Type::Bytes | Type::Records => Value::Bytes(self.bytes()),
            Type::Array(element) => {
                let count = self.below(self.options.max_elements + 1);
                Value::Array((0..count).map(|_| self.plain(element)).collect())
            }
            Type::Struct(name) => Value::Struct(self.structure(self.schema.resolve(name))),
        }
    }

    /// An integer: often small, often an extreme of some width.
    fn integer(&mut self) -> i64 {
        let bits = (self.next)();
        match self.below(6) {
            0 => 0,
            1 => -1,
            2 => (bits % 300) as i64,
            3 => (1i64 << (bits % 64)).wrapping_sub(1),
            4 => (1i64 << (bits % 64)).wrapping_neg(),
            _ => bits as i64,
        }
    }

    fn text(&mut self) -> String {
        const LETTERS: &[char] = &[
            'a', 'B', '7', '.', '-', '_', '"', '\\', 'é', 'ß', '→', '漢', '🦀',
        ];
        let len = match self.below(16) {
            // Past the point where a compact length needs a second byte.
            0 => 100 + self.below(100),
            _ => self.below(12),
        };
        (0..len)
            .map(|_| LETTERS[self.below(LETTERS.len() as u64) as usize])
            .collect()
    }

    fn bytes(&mut self) -> Vec<u8> {
        let len = match self.below(16) {
            0 => 120 + self.below(200),
            _ => self.below(20),
        };
        (0..len).map(|_| (self.next)() as u8).collect()
    }
}
