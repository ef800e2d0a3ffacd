//! Base-128 varints, least significant group first; signed ones are zigzag-encoded.

use alloc::vec::Vec;

/// How many bytes an unsigned varint takes: 1 to 5.
#[inline]
pub const fn unsigned_varint_len(value: u32) -> usize {
    // 32 - leading_zeros bits, 7 a byte, and zero takes one byte.
    (38 - (value | 1).leading_zeros() as usize) / 7
}

/// How many bytes a signed 32-bit varint takes: 1 to 5.
#[inline]
pub const fn varint_len(value: i32) -> usize {
    unsigned_varint_len(zigzag32(value))
}

/// How many bytes a signed 64-bit varint takes: 1 to 10.
#[inline]
pub const fn varlong_len(value: i64) -> usize {
    (70 - (zigzag64(value) | 1).leading_zeros() as usize) / 7
}

/// Appends a signed 32-bit varint.
#[inline]
pub fn put_varint(out: &mut Vec<u8>, value: i32) {
    put_unsigned(out, zigzag32(value) as u64);
}

/// Appends a signed 64-bit varint.
#[inline]
pub fn put_varlong(out: &mut Vec<u8>, value: i64) {
    put_unsigned(out, zigzag64(value));
}

#[inline]
pub(super) fn put_unsigned(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[inline]
const fn zigzag32(value: i32) -> u32 {
    ((value << 1) ^ (value >> 31)) as u32
}

#[inline]
const fn zigzag64(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Reader;
    use bytes::Bytes;

    #[test]
    fn lengths_are_what_is_written_and_values_come_back() {
        for shift in 0..64 {
            for delta in [-1i64, 0, 1] {
                let value = (1i64 << shift).wrapping_add(delta);
                for value in [value, value.wrapping_neg()] {
                    let mut out = Vec::new();
                    put_varlong(&mut out, value);
                    assert_eq!(out.len(), varlong_len(value), "{value}");
                    let bytes = Bytes::from(out);
                    assert_eq!(Reader::new(&bytes).varlong(), Ok(value));

                    let mut out = Vec::new();
                    put_varint(&mut out, value as i32);
                    assert_eq!(out.len(), varint_len(value as i32), "{value}");
                    let bytes = Bytes::from(out);
                    assert_eq!(Reader::new(&bytes).varint(), Ok(value as i32));

                    let mut out = Vec::new();
                    put_unsigned(&mut out, u64::from(value as u32));
                    assert_eq!(out.len(), unsigned_varint_len(value as u32), "{value}");
                    let bytes = Bytes::from(out);
                    assert_eq!(Reader::new(&bytes).unsigned_varint(), Ok(value as u32));
                }
            }
        }
    }
}
