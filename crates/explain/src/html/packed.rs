use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::element::Html;
use crate::json::Base64;

/// What separates pieces; no HTML has it.
const SEPARATOR: u8 = 0;

/// Pieces of HTML in one data block, for the page's script to unpack: DEFLATE in base64.
///
/// The versions of an API differ little, and a page with all of them as they are would be ten times
/// as large.
pub(super) fn packed<'a>(
    id: &'static str,
    pieces: impl Iterator<Item = &'a Html>,
    html: &mut Html,
) {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    let mut write = |bytes: &[u8]| encoder.write_all(bytes).expect("a Vec takes all bytes");
    for (index, piece) in pieces.enumerate() {
        if index > 0 {
            write(&[SEPARATOR]);
        }
        write(piece.as_str().as_bytes());
    }
    let bytes = encoder.finish().expect("a Vec takes all bytes");
    html.leaf(
        "script",
        &[("type", "text/plain"), ("id", id)],
        &Base64(&bytes).to_string(),
    );
}
