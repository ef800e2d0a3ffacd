//! What clients ask of the controller: whatever broker they ask, it goes there in an Envelope
//! (KIP-590), and so does the answer come back.

use std::net::IpAddr;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use klamm_metadata::Image;
use klamm_protocol::data::clients::DefaultPrincipalData;
use klamm_protocol::frame::decode_response;
use klamm_protocol::messages::create_partitions::{
    CreatePartitionsRequest, CreatePartitionsResponse,
};
use klamm_protocol::messages::create_topics::{
    CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse,
};
use klamm_protocol::messages::delete_topics::{DeleteTopicsRequest, DeleteTopicsResponse};
use klamm_protocol::messages::envelope::EnvelopeRequest;
use klamm_protocol::messages::request_header::RequestHeader;
use klamm_protocol::{EncodeError, ErrorCode, Segments, Uuid, encode as encode_message};
use tokio::time::{Instant, timeout};

use super::call::Call;
use crate::apis::{Answering, Api, Unserved, decode, encode};
use crate::client::Client;

/// How long this broker may take to know of a change that was made; it takes milliseconds.
const KNOWN_TIMEOUT: Duration = Duration::from_secs(10);
/// The version in which principals are written, which is the only one.
const PRINCIPAL_VERSION: i16 = 0;

/// Hands a request over to the active controller, and its answer back.
pub(super) fn forwarded<R: Api>(call: Call, frame: Bytes) -> Answering<Option<Segments>> {
    Answering::new(async move {
        // What cannot be read is this broker's to refuse.
        let (header, request) = decode::<R>(&frame)?;
        match hand_over::<R>(&call, &header, &request, frame).await? {
            Handed::Answer(answer) => passed_on::<R>(&call, &answer),
            Handed::Refused(refused) => Ok(Some(refused)),
        }
    })
}

/// The same, and the answer is held back until this broker knows of the change: clients ask it next
/// for what they have made, and some take it for gone where the broker does not know of it yet.
pub(super) fn changed<R: Change>(call: Call, frame: Bytes) -> Answering<Option<Segments>> {
    Answering::new(async move {
        let (header, request) = decode::<R>(&frame)?;
        let answer = match hand_over::<R>(&call, &header, &request, frame).await? {
            Handed::Answer(answer) => answer,
            Handed::Refused(refused) => return Ok(Some(refused)),
        };
        if let Ok((_, response)) = decode_response::<R>(&answer, call.version) {
            let mut published = call.broker.published.clone();
            let known = published.wait_for(|now| request.is_known(&response.value, &now.image));
            // Where it does not come to know, the controller has carried it out all the same.
            let _ = timeout(KNOWN_TIMEOUT, known).await;
        }
        passed_on::<R>(&call, &answer)
    })
}

/// What has become of a request that was handed over.
enum Handed {
    /// The controller's answer, header and all.
    Answer(Bytes),
    /// This broker's own.
    Refused(Segments),
}

async fn hand_over<R: Api>(
    call: &Call,
    header: &RequestHeader,
    request: &R,
    frame: Bytes,
) -> Result<Handed, Unserved> {
    const { assert!(R::FORWARDABLE, "the controller takes it from brokers") };
    let envelope = envelope(&call.origin.client, frame);
    let deadline = Instant::now() + call.broker.settings.request_timeout;
    let refuse = |code, text: Option<&str>| {
        let refused = request.refused(call.version, code, text);
        encode::<R>(header, &refused).map(Handed::Refused)
    };
    match call.broker.forwarding.ask(&envelope, deadline).await {
        Ok(response) => match (ErrorCode(response.error_code), response.response_data) {
            (ErrorCode::NONE, Some(answer)) => Ok(Handed::Answer(answer)),
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
}

fn passed_on<R: Api>(call: &Call, answer: &Bytes) -> Result<Option<Segments>, Unserved> {
    let api = R::api_version(call.version);
    let framed = framed(answer);
    framed
        .map(Some)
        .map_err(|error| Unserved::Encode { api, error })
}

/// A change that clients look for after it.
pub(super) trait Change: Api {
    /// Whether all that an answer says was done is in an image.
    fn is_known(&self, response: &Self::Response, image: &Image) -> bool;
}

impl Change for CreateTopicsRequest {
    fn is_known(&self, response: &CreateTopicsResponse, image: &Image) -> bool {
        let made = response.topics.iter().filter(|topic| topic.error_code == 0);
        let is_there = |topic: &CreatableTopicResult| image.topics().by_name(&topic.name).is_some();
        self.validate_only || made.into_iter().all(is_there)
    }
}

impl Change for DeleteTopicsRequest {
    fn is_known(&self, response: &DeleteTopicsResponse, image: &Image) -> bool {
        let mut gone = response
            .responses
            .iter()
            .filter(|topic| topic.error_code == 0);
        let topics = image.topics();
        gone.all(|topic| match (&topic.name, topic.topic_id) {
            // Of older versions; one that was made since has the name again, and is not waited for.
            (Some(name), Uuid::ZERO) => topics.by_name(name).is_none(),
            (_, id) => topics.by_id(id).is_none(),
        })
    }
}

impl Change for CreatePartitionsRequest {
    fn is_known(&self, response: &CreatePartitionsResponse, image: &Image) -> bool {
        let grown = response
            .results
            .iter()
            .filter(|topic| topic.error_code == 0);
        let wanted = |name: &str| {
            let topic = self.topics.iter().find(|topic| *topic.name == *name);
            topic.map_or(0, |topic| usize::try_from(topic.count).unwrap_or(0))
        };
        let is_grown = |name: &str| {
            let topic = image.topics().by_name(name);
            topic.is_none_or(|topic| topic.partition_count() >= wanted(name))
        };
        self.validate_only || grown.into_iter().all(|topic| is_grown(&topic.name))
    }
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
