use crate::Uuid;

/// Neighbouring fields of fixed size, `N` bytes in all, which are read or written at once.
///
/// One check of the bounds is then enough for all of them. Each method takes the field's position in
/// bytes; generated code knows it, so that nothing is left to check when the program runs.
#[derive(Clone, Copy, Debug)]
pub struct Fixed<const N: usize>([u8; N]);

impl<const N: usize> Fixed<N> {
    /// Fields that are set one by one.
    pub const ZERO: Self = Self([0; N]);

    #[inline(always)]
    pub(super) fn from_bytes(bytes: [u8; N]) -> Self {
        Self(bytes)
    }

    #[inline(always)]
    pub(super) fn into_bytes(self) -> [u8; N] {
        self.0
    }

    #[inline(always)]
    fn part<const M: usize>(&self, at: usize) -> [u8; M] {
        let mut part = [0; M];
        part.copy_from_slice(&self.0[at..at + M]);
        part
    }

    #[inline(always)]
    fn set<const M: usize>(&mut self, at: usize, part: [u8; M]) {
        self.0[at..at + M].copy_from_slice(&part);
    }

    /// A boolean.
    #[inline(always)]
    pub fn bool(&self, at: usize) -> bool {
        self.0[at] != 0
    }

    /// Sets a boolean.
    #[inline(always)]
    pub fn set_bool(&mut self, at: usize, value: bool) {
        self.0[at] = u8::from(value);
    }

    /// A UUID.
    #[inline(always)]
    pub fn uuid(&self, at: usize) -> Uuid {
        Uuid::from_bytes(self.part(at))
    }

    /// Sets a UUID.
    #[inline(always)]
    pub fn set_uuid(&mut self, at: usize, value: Uuid) {
        self.set(at, *value.as_bytes());
    }
}

/// Getters and setters of big-endian numbers.
macro_rules! numbers {
    ($($ty:ident $set:ident,)*) => {
        impl<const N: usize> Fixed<N> {$(
            #[doc = concat!("A big-endian `", stringify!($ty), "`.")]
            #[inline(always)]
            pub fn $ty(&self, at: usize) -> $ty {
                $ty::from_be_bytes(self.part(at))
            }

            #[doc = concat!("Sets a big-endian `", stringify!($ty), "`.")]
            #[inline(always)]
            pub fn $set(&mut self, at: usize, value: $ty) {
                self.set(at, value.to_be_bytes());
            }
        )*}
    };
}

numbers! {
    i8 set_i8,
    i16 set_i16,
    u16 set_u16,
    i32 set_i32,
    u32 set_u32,
    i64 set_i64,
    f64 set_f64,
}
