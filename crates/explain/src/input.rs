//! Bytes in the forms in which people have them.

mod form;

use thiserror::Error;

pub use form::{Form, START_BYTES, base_offset};

/// Why a text is no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InputError {
    /// A character that cannot be there.
    #[error("{character:?} at character {at} is no {form}")]
    Character {
        /// What it should be.
        form: &'static str,
        /// The character.
        character: char,
        /// Its place, from 1.
        at: usize,
    },
    /// The text ends within a byte.
    #[error("it ends in the middle of a byte")]
    Cut,
}

/// Reads hexadecimal digits. Blanks, line ends, `:`, `-`, `,` and `0x` or `\x` before a byte may stand
/// between them, and the offsets and the text of a hex dump may not.
pub fn hex(text: &str) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut high: Option<u8> = None;
    let mut chars = text.chars().enumerate().peekable();
    while let Some((at, c)) = chars.next() {
        if high.is_none() {
            if c.is_whitespace() || matches!(c, ':' | '-' | ',') {
                continue;
            }
            let is_mark = matches!(c, '0' | '\\');
            if is_mark
                && chars
                    .peek()
                    .is_some_and(|(_, next)| matches!(next, 'x' | 'X'))
            {
                chars.next();
                continue;
            }
        }
        let digit = c.to_digit(16).ok_or(InputError::Character {
            form: "hexadecimal digit",
            character: c,
            at: at + 1,
        })? as u8;
        match high.take() {
            Some(high) => bytes.push(high << 4 | digit),
            None => high = Some(digit),
        }
    }
    if high.is_some() {
        Err(InputError::Cut)
    } else {
        Ok(bytes)
    }
}

/// Reads base64, with `+` and `/` or `-` and `_`, padded or not, with blanks and line ends or not.
pub fn base64(text: &str) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    let mut ended = false;
    for (at, c) in text.chars().enumerate() {
        if c.is_whitespace() {
            continue;
        }
        let wrong = InputError::Character {
            form: "base64 digit",
            character: c,
            at: at + 1,
        };
        let digit = match c {
            'A'..='Z' => c as u32 - 'A' as u32,
            'a'..='z' => c as u32 - 'a' as u32 + 26,
            '0'..='9' => c as u32 - '0' as u32 + 52,
            '+' | '-' => 62,
            '/' | '_' => 63,
            '=' => {
                ended = true;
                continue;
            }
            _ => return Err(wrong),
        };
        if ended {
            return Err(wrong);
        }
        bits = bits << 6 | digit;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    // A lone digit holds 6 bits of a byte.
    if count == 6 {
        Err(InputError::Cut)
    } else {
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_in_its_forms() {
        for text in [
            "00 2b ff",
            "002bFF",
            "0x00,0x2b,0xff",
            "\\x00\\x2b\\xff",
            "00:2b:ff\n",
        ] {
            assert_eq!(hex(text), Ok(vec![0, 0x2b, 0xff]), "{text}");
        }
        assert_eq!(hex(""), Ok(vec![]));
        assert_eq!(hex("0"), Err(InputError::Cut));
        assert_eq!(
            hex("00 xy").unwrap_err().to_string(),
            "'x' at character 4 is no hexadecimal digit"
        );
        assert!(hex("0 0").is_err());
    }

    #[test]
    fn base64_in_its_forms() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("Zg==", b"f"),
            ("Zg", b"f"),
            ("Zm9v\nYmFy", b"foobar"),
            ("__8=", &[0xff, 0xff]),
            ("//8", &[0xff, 0xff]),
        ] {
            assert_eq!(base64(text).as_deref(), Ok(bytes), "{text}");
        }
        assert_eq!(base64("Z"), Err(InputError::Cut));
        assert!(base64("Zg==Zg").is_err());
        assert!(base64("Z!").is_err());
    }
}
