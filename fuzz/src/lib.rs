//! What the fuzz targets have in common.

use klamm_protocol::{ApiKey, Codec, MessageKind, data, messages};

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

/// Every message, in an order that does not change while the schemas do not.
pub fn codecs() -> impl Iterator<Item = &'static Codec> {
    [
        messages::CODECS,
        data::clients::CODECS,
        data::group_coordinator::CODECS,
        data::metadata::CODECS,
        data::raft::CODECS,
        data::share_coordinator::CODECS,
        data::storage::CODECS,
        data::transaction_coordinator::CODECS,
    ]
    .into_iter()
    .flatten()
}

/// The codec of an API's request or response.
pub fn body_codec(key: ApiKey, kind: MessageKind) -> Option<&'static Codec> {
    messages::CODECS
        .iter()
        .find(|codec| codec.kind == kind && codec.api_key == Some(key.0))
}
