/// Bytes as lower-case hexadecimal, which is how they travel to the peer and back.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|b| [b >> 4, b & 15])
        .map(|d| char::from(DIGITS[usize::from(d)]))
        .collect()
}

/// The bytes of hexadecimal text.
///
/// # Panics
/// If it is none: only the peer's own answers are read with it.
pub fn unhex(text: &str) -> Vec<u8> {
    let digit = |d: u8| {
        char::from(d)
            .to_digit(16)
            .expect("the peer writes hexadecimal") as u8
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    assert!(rest.is_empty(), "half a byte in hexadecimal from the peer");
    pairs
        .iter()
        .map(|[high, low]| digit(*high) << 4 | digit(*low))
        .collect()
}
