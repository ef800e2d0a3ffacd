use crate::{Schema, Struct, Type};

impl Schema {
    /// The least number of bytes that `value` takes on the wire in any version in which it occurs.
    ///
    /// A decoder may allocate for as many elements as this says could follow, and no more.
    pub(crate) fn least_size(&self, value: &Struct) -> usize {
        let versions = self.valid_versions.intersect(value.versions);
        versions
            .iter()
            .map(|version| self.least_size_in(value, version))
            .min()
            .unwrap_or(0)
    }

    fn least_size_in(&self, value: &Struct, version: i16) -> usize {
        let fields = value
            .fields
            .iter()
            .filter(|field| field.versions.contains(version) && !field.is_tagged(version));
        let fields: usize = fields
            .map(|field| match &field.ty {
                Type::Struct(_) if field.nullable_versions.contains(version) => 1,
                Type::Struct(name) => self.least_size_in(self.resolve(name), version),
                ty => least_of(ty, self.is_compact(field, version)),
            })
            .sum();
        fields + usize::from(self.flexible_versions.contains(version))
    }
}

/// The least size of a type that is not a struct: lengths take at least a byte, or their whole width.
pub(crate) fn least_of(ty: &Type, compact: bool) -> usize {
    match ty {
        Type::String if !compact => 2,
        Type::String | Type::Bytes | Type::Records | Type::Array(_) if compact => 1,
        Type::Bytes | Type::Records | Type::Array(_) => 4,
        _ => ty.fixed_size().unwrap_or(0),
    }
}
