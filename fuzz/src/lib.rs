//! What the fuzz targets have in common.

use klamm_protocol::{ApiKey, Codec, MessageKind, messages};

/// Runs `code` on `len` bytes from the wire, and holds it to klamm's allocation limit:
/// at most 64 times their length and 64 KiB at any time.
pub fn bounded<T>(len: usize, code: impl FnOnce() -> T) -> T {
    let mut result = None;
    let allocated = allocation_counter::measure(|| result = Some(code()));
    let limit = 64 * len as u64 + 64 * 1024;
    assert!(
        allocated.bytes_max <= limit,
        "{} bytes allocated for {len} bytes, over the limit of {limit}",
        allocated.bytes_max
    );
    result.expect("the code has run")
}

/// The codec of an API's request or response.
pub fn body_codec(key: ApiKey, kind: MessageKind) -> Option<&'static Codec> {
    messages::CODECS
        .iter()
        .find(|codec| codec.kind == kind && codec.api_key == Some(key.0))
}
