use alloc::vec::Vec;

use smallvec::{Array, SmallVec};

use super::{Reader, truncated};
use crate::wire::DecodeError;

impl Reader<'_> {
    /// Reads `count` elements that take at least `least` bytes each. `read` reads one into its
    /// default value, where it lies: elements are too large to be handed on.
    #[inline]
    pub fn array<T: Default>(
        &mut self,
        count: usize,
        least: usize,
        into: &mut Vec<T>,
        mut read: impl FnMut(&mut Self, &mut T) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        self.begin_array(count, least)?;
        into.clear();
        into.reserve_exact(count);
        for _ in 0..count {
            self.begin_element(least);
            into.push(T::default());
            if let Some(element) = into.last_mut() {
                read(self, element)?;
            }
        }
        Ok(())
    }

    /// Claims room for `count` elements that take at least `least` bytes each, so that the caller
    /// may allocate for all of them. `Reader::begin_element` gives the claim of one back.
    #[inline]
    pub(in crate::wire) fn begin_array(
        &mut self,
        count: usize,
        least: usize,
    ) -> Result<(), DecodeError> {
        let left = self.rest.len().saturating_sub(self.promised);
        match count.checked_mul(least) {
            Some(bytes) if bytes <= left => {
                self.promised += bytes;
                Ok(())
            }
            _ => Err(DecodeError::ImpossibleCount {
                count,
                element: least,
                left,
            }),
        }
    }

    /// Gives back what `Reader::begin_array` claimed for an element that is read next.
    #[inline]
    pub(in crate::wire) fn begin_element(&mut self, least: usize) {
        self.promised = self.promised.saturating_sub(least);
    }

    /// Reads an array of `count` 32-bit integers.
    #[inline(always)]
    pub fn i32s<const N: usize>(
        &mut self,
        count: usize,
        into: &mut SmallVec<[i32; N]>,
    ) -> Result<(), DecodeError>
    where
        [i32; N]: Array<Item = i32>,
    {
        let bytes = count.saturating_mul(4);
        let Some((head, rest)) = self.rest.split_at_checked(bytes) else {
            return Err(truncated(bytes, self.rest.len()));
        };
        let before = core::mem::replace(&mut self.rest, rest);
        if count <= N {
            // As many as are inline, wanted or not: then there is nothing to count.
            let values = match before.as_chunks::<4>().0.first_chunk::<N>() {
                Some(all) => all.map(i32::from_be_bytes),
                None => last_i32s(head.as_chunks::<4>().0),
            };
            *into = SmallVec::from_buf_and_len(values, count);
        } else {
            *into = SmallVec::from_vec(many_i32s(head.as_chunks::<4>().0));
        }
        Ok(())
    }
}

#[inline(never)]
fn many_i32s(chunks: &[[u8; 4]]) -> Vec<i32> {
    let values = chunks.iter().map(|chunk| i32::from_be_bytes(*chunk));
    values.collect()
}

/// Fewer than `N` integers near the end of a frame.
#[inline(never)]
fn last_i32s<const N: usize>(chunks: &[[u8; 4]]) -> [i32; N] {
    let mut values = [0; N];
    for (value, chunk) in values.iter_mut().zip(chunks) {
        *value = i32::from_be_bytes(*chunk);
    }
    values
}
