//! The first bytes of frames: what tells Kafka from anything else.

use klamm_protocol::{ApiKey, ApiVersion};

/// Bytes of a size.
pub(super) const SIZE: usize = 4;
/// Bytes of a size, an API key, a version and a correlation id.
pub(crate) const REQUEST: usize = 12;
/// Bytes of a size and a correlation id.
pub(super) const RESPONSE: usize = 8;

/// The largest size that is taken for one, in bytes.
const MAX_FRAME_BYTES: u32 = 1 << 30;
/// As [`MAX_FRAME_BYTES`], where nothing else says that a frame begins: brokers take 100 MiB.
const MAX_LIKELY_BYTES: u32 = 128 << 20;
/// A request's header has at least a key, a version, a correlation id and a null client id.
const MIN_REQUEST_BYTES: u32 = 10;
const MIN_RESPONSE_BYTES: u32 = 4;

/// What a request begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestHead {
    /// Bytes after the size.
    pub(super) size: u32,
    pub(crate) api: ApiVersion,
    pub(super) correlation_id: i32,
}

/// What a response begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResponseHead {
    pub(super) size: u32,
    pub(super) correlation_id: i32,
}

impl RequestHead {
    pub(crate) fn parse(bytes: &[u8; REQUEST]) -> Self {
        let [s0, s1, s2, s3, k0, k1, v0, v1, id @ ..] = *bytes;
        Self {
            size: u32::from_be_bytes([s0, s1, s2, s3]),
            api: ApiVersion {
                key: ApiKey(i16::from_be_bytes([k0, k1])),
                version: i16::from_be_bytes([v0, v1]),
            },
            correlation_id: i32::from_be_bytes(id),
        }
    }

    /// Whether it may be a request where one is due: also of an API or version that is too new.
    pub(super) fn is_possible(&self) -> bool {
        const MAX_KEY: i16 = 1000;
        const MAX_VERSION: i16 = 100;
        (MIN_REQUEST_BYTES..=MAX_FRAME_BYTES).contains(&self.size)
            && (0..=MAX_KEY).contains(&self.api.key.0)
            && (0..=MAX_VERSION).contains(&self.api.version)
    }

    /// Whether it is hardly anything else.
    pub(crate) fn is_likely(&self) -> bool {
        let ApiVersion { key, version } = self.api;
        // Clients of a later release begin with a later version of ApiVersions.
        const LATER_VERSIONS: i16 = 20;
        (MIN_REQUEST_BYTES..=MAX_LIKELY_BYTES).contains(&self.size)
            && (key.coded_versions().contains(version)
                || key == ApiKey::API_VERSIONS && (0..=LATER_VERSIONS).contains(&version))
    }
}

impl ResponseHead {
    pub(super) fn parse(bytes: &[u8; RESPONSE]) -> Self {
        let [s0, s1, s2, s3, id @ ..] = *bytes;
        Self {
            size: u32::from_be_bytes([s0, s1, s2, s3]),
            correlation_id: i32::from_be_bytes(id),
        }
    }

    pub(super) fn is_possible(&self) -> bool {
        (MIN_RESPONSE_BYTES..=MAX_FRAME_BYTES).contains(&self.size)
    }
}

/// Where a request begins in bytes that may begin anywhere.
pub(super) fn find_request(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).find(|at| begins_request(&bytes[*at..]))
}

/// Whether bytes begin with a request: its head is likely, and what follows goes with it.
fn begins_request(bytes: &[u8]) -> bool {
    let Some((head, rest)) = bytes.split_first_chunk() else {
        return false;
    };
    let head = RequestHead::parse(head);
    if !head.is_likely() || head.correlation_id < 0 {
        return false;
    }
    let Some((len, rest)) = rest.split_first_chunk() else {
        return false;
    };
    let len = i16::from_be_bytes(*len);
    if len < -1 || i64::from(len) + i64::from(MIN_REQUEST_BYTES) > i64::from(head.size) {
        return false;
    }
    // Without a name the numbers alone would have to do: the next request has to be there, too, or
    // the end.
    let id = &rest[..rest.len().min(len.max(0) as usize)];
    let is_name = std::str::from_utf8(id).is_ok_and(|id| !id.chars().any(char::is_control));
    match bytes.get(SIZE + head.size as usize..) {
        Some([]) => is_name,
        Some(next) => {
            is_name
                && next
                    .first_chunk()
                    .is_some_and(|next| RequestHead::parse(next).is_likely())
        }
        None => is_name && !id.is_empty(),
    }
}

/// Whether bytes begin with the header of a TLS record.
pub(super) fn is_tls(bytes: &[u8]) -> bool {
    // Change cipher spec, alert, handshake, application data; SSL 3.0 to TLS 1.3.
    matches!(bytes, [20..=23, 3, 0..=4, ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_found_in_the_middle() {
        let request = crate::smallest_frame(
            ApiVersion {
                key: ApiKey::ELECT_LEADERS,
                version: 2,
            },
            crate::Direction::Request,
        )
        .unwrap();
        for before in [&b""[..], &[0; 100], &[0xff; 33], b"and so on"] {
            let bytes = [before, &request[..]].concat();
            assert_eq!(find_request(&bytes), Some(before.len()));
            let twice = [before, &request[..], &request[..]].concat();
            assert_eq!(find_request(&twice), Some(before.len()));
            let other = [before, &request[..], &[0; 50]].concat();
            assert_eq!(find_request(&other), None);
        }
        assert_eq!(find_request(&[0; 100]), None);
        assert_eq!(find_request(&request[..10]), None);
        assert!(is_tls(&[22, 3, 1, 2, 0, 1]));
        assert!(!is_tls(&request));
    }
}
