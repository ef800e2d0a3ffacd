//! A stream of frames, read as a connection reads them: as requests by their key and version, and as
//! responses to those requests.
#![no_main]

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use klamm_fuzz::{body_codec, bounded};
use klamm_net::FrameReader;
use klamm_protocol::messages::api_versions::ApiVersionsRequest;
use klamm_protocol::messages::elect_leaders::ElectLeadersRequest;
use klamm_protocol::messages::metadata::MetadataRequest;
use klamm_protocol::messages::request_header::RequestHeader;
use klamm_protocol::messages::response_header::ResponseHeader;
use klamm_protocol::{ApiKey, Bytes, Message, MessageKind, Request, decode, frame};
use libfuzzer_sys::fuzz_target;

/// The longest frame that is accepted, in bytes.
const MAX_FRAME_BYTES: usize = 1 << 20;

fuzz_target!(|data: &[u8]| {
    let mut reader = FrameReader::new(data, MAX_FRAME_BYTES);
    while let Some(frame) = next_frame(&mut reader) {
        bounded(frame.len(), || read(&frame));
    }
});

/// The next frame; `None` at the end, and where what follows is no frame.
fn next_frame(reader: &mut FrameReader<&[u8]>) -> Option<Bytes> {
    let next = pin!(reader.next());
    // Bytes in memory are always ready.
    match next.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(frame) => frame.ok().flatten(),
        Poll::Pending => unreachable!("bytes in memory are always ready"),
    }
}

fn read(frame: &Bytes) {
    let _ = frame::peek_correlation_id(frame);
    let Ok(api) = frame::peek_request(frame) else {
        return;
    };
    match api.key {
        ApiKey::API_VERSIONS => both::<ApiVersionsRequest>(frame, api.version),
        ApiKey::ELECT_LEADERS => both::<ElectLeadersRequest>(frame, api.version),
        ApiKey::METADATA => both::<MetadataRequest>(frame, api.version),
        _ => {}
    }
    let header_version = api.key.request_header_version(api.version);
    body::<RequestHeader>(
        frame,
        header_version,
        MessageKind::Request,
        api.key,
        api.version,
    );
    let header_version = api.key.response_header_version(api.version);
    body::<ResponseHeader>(
        frame,
        header_version,
        MessageKind::Response,
        api.key,
        api.version,
    );
}

/// Reads a frame whose type is known: as a request, and as the response to it.
fn both<R: Request>(frame: &Bytes, version: i16) {
    if let Ok((header, request)) = frame::decode_request::<R>(frame) {
        let client_id = header.client_id.as_ref();
        let again =
            frame::encode_request(header.correlation_id, client_id, version, &request.value)
                .expect("what was decoded can be encoded")
                .into_bytes();
        let (header_again, request_again) =
            frame::decode_request::<R>(&again.slice(4..)).expect("what was encoded can be decoded");
        assert_eq!(request_again.value, request.value);
        assert_eq!(header_again.client_id, header.client_id);
        assert_eq!(header_again.correlation_id, header.correlation_id);
    }
    let _ = frame::decode_response::<R>(frame, version);
}

/// Reads the header, then the body by its key.
fn body<H: Message>(frame: &Bytes, header: i16, kind: MessageKind, key: ApiKey, version: i16) {
    let Ok(header) = decode::<H>(frame, header) else {
        return;
    };
    if let Some(codec) = body_codec(key, kind) {
        let body = frame.slice(frame.len() - header.left..);
        let _ = codec.transcode(&body, version);
    }
}
