//! What an exchange of a request and its answer is made of, whoever serves it.

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use klamm_metadata::Operation;
use klamm_protocol::messages::request_header::RequestHeader;
use klamm_protocol::{ApiVersion, DecodeError, EncodeError, ErrorCode, Request, Segments, frame};
use thiserror::Error;

/// Why a frame gets no answer: the connection is closed.
#[derive(Debug, Error)]
pub(crate) enum Unserved {
    /// The body is none of the request that the header names.
    #[error("{api} that cannot be read: it {error}")]
    Decode {
        /// What was asked.
        api: ApiVersion,
        /// What is wrong.
        error: DecodeError,
    },
    /// Nothing says what was asked.
    #[error("a request without a header: it {0}")]
    NoHeader(DecodeError),
    /// The API, or this version of it, is not served here.
    #[error("{0}, which this listener does not serve")]
    Unknown(ApiVersion),
    /// An answer does not fit its version: the handler is to blame.
    #[error("the answer to {api} cannot be written: {error}")]
    Encode {
        /// What was asked.
        api: ApiVersion,
        /// What is wrong.
        error: EncodeError,
    },
    /// The node stops.
    #[error("the node stops")]
    Stopped,
}

/// What every API has.
pub(crate) trait Api: Request {
    /// What the client must be allowed to do to the cluster; `None` where the handler sees to it.
    const NEEDS: Option<Operation> = None;
    /// Whether brokers may forward it for their clients.
    const FORWARDABLE: bool = false;

    /// The answer that is nothing but an error.
    fn refused(&self, version: i16, error: ErrorCode, text: Option<&str>) -> Self::Response;
}

/// What will be answered.
pub(crate) struct Answering<T>(
    Pin<Box<dyn Future<Output = Result<T, Unserved>> + std::marker::Send>>,
);

impl<T> Answering<T> {
    pub(crate) fn new(
        future: impl Future<Output = Result<T, Unserved>> + std::marker::Send + 'static,
    ) -> Self {
        Self(Box::pin(future))
    }

    pub(crate) async fn answered(self) -> Result<T, Unserved> {
        self.0.await
    }
}

/// Decodes a request; bytes after it are ignored, as Apache Kafka does.
pub(crate) fn decode<R: Request>(frame: &Bytes) -> Result<(RequestHeader, R), Unserved> {
    let api = frame::peek_request(frame).map_err(Unserved::NoHeader)?;
    match frame::decode_request::<R>(frame) {
        Ok((header, decoded)) => Ok((header, decoded.value)),
        Err(error) => Err(Unserved::Decode { api, error }),
    }
}

/// Encodes the answer to a request.
pub(crate) fn encode<R: Request>(
    header: &RequestHeader,
    response: &R::Response,
) -> Result<Segments, Unserved> {
    let version = header.request_api_version;
    let frame = frame::encode_response::<R>(header.correlation_id, version, response);
    let api = R::api_version(version);
    frame.map_err(|error| Unserved::Encode { api, error })
}
