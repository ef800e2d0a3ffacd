//! Requests and responses as they cross a connection: an int32 length, a header, a body.
//!
//! The length does not count itself. Reading the length off a socket, and refusing one over the
//! limit, is the transport's; functions here take a frame without its length.

use bytes::Bytes;

use crate::message::{read_checked, write_checked};
use crate::messages::request_header::RequestHeader;
use crate::messages::response_header::ResponseHeader;
use crate::wire::{DecodeError, EncodeError, Reader, Segments};
use crate::{Decoded, Message, Request, SmallString};

/// Encodes a request with its header and length prefix.
pub fn encode_request<R: Request>(
    correlation_id: i32,
    client_id: Option<&SmallString>,
    version: i16,
    request: &R,
) -> Result<Segments, EncodeError> {
    let header = RequestHeader {
        request_api_key: R::KEY.0,
        request_api_version: version,
        correlation_id,
        client_id: client_id.cloned(),
        ..Default::default()
    };
    encode(
        &header,
        R::KEY.request_header_version(version),
        request,
        version,
    )
}

/// Encodes the response to a request of type `R` in the request's version.
pub fn encode_response<R: Request>(
    correlation_id: i32,
    version: i16,
    response: &R::Response,
) -> Result<Segments, EncodeError> {
    let header = ResponseHeader {
        correlation_id,
        ..Default::default()
    };
    encode(
        &header,
        R::KEY.response_header_version(version),
        response,
        version,
    )
}

/// Decodes the response to a request of type `R` that was sent in `version`.
pub fn decode_response<R: Request>(
    frame: &Bytes,
    version: i16,
) -> Result<(ResponseHeader, Decoded<R::Response>), DecodeError> {
    let mut reader = Reader::new(frame);
    let header = read_checked(&mut reader, R::KEY.response_header_version(version))?;
    let value = read_checked(&mut reader, version)?;
    Ok((
        header,
        Decoded {
            value,
            left: reader.remaining(),
        },
    ))
}

/// Decodes a request of type `R` with its header. [`peek_request`] tells which type a frame holds.
pub fn decode_request<R: Request>(
    frame: &Bytes,
) -> Result<(RequestHeader, Decoded<R>), DecodeError> {
    let version = peek_request(frame)?.version;
    let mut reader = Reader::new(frame);
    let header = read_checked(&mut reader, R::KEY.request_header_version(version))?;
    let value = read_checked(&mut reader, version)?;
    Ok((
        header,
        Decoded {
            value,
            left: reader.remaining(),
        },
    ))
}

/// The API key and version that a request frame begins with.
pub fn peek_request(frame: &Bytes) -> Result<crate::ApiVersion, DecodeError> {
    let mut reader = Reader::new(frame);
    Ok(crate::ApiVersion {
        key: crate::ApiKey(reader.i16()?),
        version: reader.i16()?,
    })
}

/// The correlation id that a response frame begins with.
pub fn peek_correlation_id(frame: &Bytes) -> Result<i32, DecodeError> {
    Reader::new(frame).i32()
}

fn encode<H: Message, B: Message>(
    header: &H,
    header_version: i16,
    body: &B,
    version: i16,
) -> Result<Segments, EncodeError> {
    Segments::write_framed(|writer| {
        let writer = write_checked(header, header_version, writer);
        write_checked(body, version, writer)
    })
}
