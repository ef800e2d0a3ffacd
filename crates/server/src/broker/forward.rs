//! What clients ask of the controller: whatever broker they ask, it goes there in an Envelope
//! (KIP-590), and so does the answer come back.

use std::net::IpAddr;

use bytes::{BufMut, Bytes, BytesMut};
use klamm_protocol::data::clients::DefaultPrincipalData;
use klamm_protocol::messages::envelope::EnvelopeRequest;
use klamm_protocol::{EncodeError, ErrorCode, Segments, encode as encode_message};
use tokio::time::Instant;

use super::call::Call;
use crate::apis::{Answering, Api, Unserved, decode, encode};
use crate::client::Client;

/// The version in which principals are written, which is the only one.
const PRINCIPAL_VERSION: i16 = 0;

/// Hands a request over to the active controller, and its answer back.
pub(super) fn forwarded<R: Api>(call: Call, frame: Bytes) -> Answering<Option<Segments>> {
    const { assert!(R::FORWARDABLE, "the controller takes it from brokers") };
    Answering::new(async move {
        // What cannot be read is this broker's to refuse.
        let (header, request) = decode::<R>(&frame)?;
        let envelope = envelope(&call.origin.client, frame);
        let deadline = Instant::now() + call.broker.settings.request_timeout;
        let refuse = |code, text: Option<&str>| {
            encode::<R>(&header, &request.refused(call.version, code, text)).map(Some)
        };
        match call.broker.forwarding.ask(&envelope, deadline).await {
            Ok(response) => match (ErrorCode(response.error_code), response.response_data) {
                (ErrorCode::NONE, Some(answer)) => {
                    let api = R::api_version(call.version);
                    let framed = framed(&answer);
                    framed
                        .map(Some)
                        .map_err(|error| Unserved::Encode { api, error })
                }
                // As Apache Kafka: the client looks anew for versions.
                (ErrorCode::UNSUPPORTED_VERSION, _) => {
                    Err(Unserved::Unknown(R::api_version(call.version)))
                }
                (code, _) => {
                    tracing::warn!(api = %R::KEY, %code, "the controller refuses an envelope");
                    refuse(ErrorCode::UNKNOWN_SERVER_ERROR, None)
                }
            },
            Err(error) => {
                tracing::warn!(api = %R::KEY, %error, "a request for the controller");
                refuse(ErrorCode::REQUEST_TIMED_OUT, Some(&error.to_string()))
            }
        }
    })
}

/// An envelope around a request as it came.
fn envelope(client: &Client, frame: Bytes) -> EnvelopeRequest {
    EnvelopeRequest {
        request_data: frame,
        request_principal: Some(principal(client)),
        client_host_address: match client.host {
            IpAddr::V4(address) => Bytes::copy_from_slice(&address.octets()),
            IpAddr::V6(address) => Bytes::copy_from_slice(&address.octets()),
        },
        ..EnvelopeRequest::default()
    }
}

/// The principal as Kafka's own serializer writes it: a version, then the data.
fn principal(client: &Client) -> Bytes {
    let (kind, name) = client.principal.split_once(':').unwrap_or_default();
    let data = DefaultPrincipalData {
        r#type: kind.into(),
        name: name.into(),
        token_authenticated: client.by_token,
        ..DefaultPrincipalData::default()
    };
    let data = encode_message(&data, PRINCIPAL_VERSION).expect("a type and a name are short texts");
    let mut bytes = BytesMut::with_capacity(2 + data.len());
    bytes.put_i16(PRINCIPAL_VERSION);
    bytes.put(data);
    bytes.freeze()
}

/// An answer as it goes out: with its length before it.
fn framed(answer: &Bytes) -> Result<Segments, EncodeError> {
    Segments::write_framed(|mut writer| {
        writer.raw(answer);
        writer
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use klamm_protocol::decode as decode_message;

    #[test]
    fn an_envelope_names_the_client() {
        let host: IpAddr = "10.0.0.1".parse().unwrap();
        let envelope = envelope(&Client::anonymous(host), Bytes::from_static(b"frame"));
        assert_eq!(&envelope.client_host_address[..], [10, 0, 0, 1]);
        let principal = envelope.request_principal.expect("it is named");
        assert_eq!(principal[..2], [0, 0]);
        let data = decode_message::<DefaultPrincipalData>(&principal.slice(2..), 0).unwrap();
        assert_eq!(data.left, 0);
        assert_eq!(
            (&*data.value.r#type, &*data.value.name),
            ("User", "ANONYMOUS")
        );
        assert!(!data.value.token_authenticated);
    }

    #[test]
    fn answers_get_their_length_back() {
        let framed = framed(&Bytes::from_static(b"abc")).unwrap().into_bytes();
        assert_eq!(&framed[..], b"\0\0\0\x03abc");
    }
}
