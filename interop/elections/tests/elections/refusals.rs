//! What Apache Kafka does not answer: it closes the connection.

use klamm_protocol::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use klamm_protocol::messages::metadata::MetadataRequest;
use klamm_protocol::{Decoded, ErrorCode, decode};

use crate::Context;
use crate::wire::{PREFERRED, Wire, elect};

/// Where a request's API key and version are in its frame.
const KEY: std::ops::Range<usize> = 4..6;
const VERSION: std::ops::Range<usize> = 6..8;

pub(crate) fn closed(context: &mut Context) {
    let good = Wire::frame(2, &elect(PREFERRED, Some(&[("settled", &[0])])));
    let with = |range: std::ops::Range<usize>, value: i16| {
        let mut frame = good.clone();
        frame[range].copy_from_slice(&value.to_be_bytes());
        frame
    };
    let cut = |frame: &[u8], by: usize| {
        let mut frame = frame[..frame.len() - by].to_vec();
        let len = u32::try_from(frame.len() - 4).unwrap();
        frame[..4].copy_from_slice(&len.to_be_bytes());
        frame
    };
    let frames = [
        ("a body cut by a byte", cut(&good, 1)),
        ("a body cut by ten bytes", cut(&good, 10)),
        ("a header without its end", cut(&good, good.len() - 4 - 6)),
        ("an API key that does not exist", with(KEY, 30_000)),
        ("a negative API key", with(KEY, -1)),
        ("a version too late", with(VERSION, 3)),
        ("a negative version", with(VERSION, -1)),
        ("a length of zero", vec![0; 4]),
        ("a negative length", (-1i32).to_be_bytes().to_vec()),
        (
            "a length over the limit",
            (100 * 1024 * 1024 + 1i32).to_be_bytes().to_vec(),
        ),
    ];
    let cluster = context.with_down(&[]);
    for (node, address) in [
        ("broker", cluster.broker(2)),
        ("controller", cluster.controller(101)),
    ] {
        for (what, frame) in &frames {
            let mut wire = Wire::connect(&address);
            wire.send(frame);
            assert_eq!(wire.read(), None, "{what} to the {node}");
        }
        // The same connection survives what is in order.
        let mut wire = Wire::connect(&address);
        wire.send(&good);
        assert!(wire.read().is_some(), "{node}");
    }
    // Only brokers serve Metadata.
    let mut wire = Wire::connect(&cluster.controller(101));
    wire.send(&Wire::frame(12, &MetadataRequest::default()));
    assert_eq!(wire.read(), None, "Metadata to the controller");
}

pub(crate) fn api_versions(context: &mut Context) {
    for address in [
        context.cluster().broker(3),
        context.cluster().controller(101),
    ] {
        let mut wire = Wire::connect(&address);
        let mut frame = Wire::frame(3, &ApiVersionsRequest::default());
        frame[VERSION].copy_from_slice(&99i16.to_be_bytes());
        wire.send(&frame);
        let answer = wire.read().expect("it is answered in version 0");
        let Decoded { value, left } = decode::<ApiVersionsResponse>(&answer.slice(4..), 0).unwrap();
        assert_eq!(left, 0);
        assert_eq!(ErrorCode(value.error_code), ErrorCode::UNSUPPORTED_VERSION);
        let ranges: Vec<_> = value
            .api_keys
            .iter()
            .map(|api| (api.api_key, api.min_version, api.max_version))
            .collect();
        assert_eq!(ranges, [(18, 0, 5)], "the versions of ApiVersions itself");
    }
}
