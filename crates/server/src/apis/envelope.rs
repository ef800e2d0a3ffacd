//! Envelope (KIP-590): a request that a broker forwards for its client.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytes::Bytes;
use klamm_metadata::Operation;
use klamm_protocol::data::clients::DefaultPrincipalData;
use klamm_protocol::messages::envelope::{EnvelopeRequest, EnvelopeResponse};
use klamm_protocol::{ErrorCode, Message, decode as decode_message};
use tokio::sync::oneshot;

use super::exchange::{Api, Unserved, decode, encode};
use super::serve::{Answered, Caller, dispatch};
use crate::client::Client;
use crate::controller::Controller;
use crate::listener::Origin;

/// The length that a frame begins with.
const LENGTH_BYTES: usize = 4;

impl Api for EnvelopeRequest {
    const NEEDS: Option<Operation> = Some(Operation::ClusterAction);

    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> EnvelopeResponse {
        EnvelopeResponse {
            error_code: error.0,
            ..EnvelopeResponse::default()
        }
    }
}

/// Serves what is in an envelope as its client, and puts the answer into another.
pub(super) async fn serve(caller: Caller, frame: Bytes) -> Result<Answered, Unserved> {
    let (header, envelope) = decode::<EnvelopeRequest>(&frame)?;
    let version = header.request_api_version;
    let response = match open(&caller, &envelope).await? {
        Ok(client) => {
            let inner = Caller {
                origin: Origin {
                    client,
                    ..caller.origin
                },
                is_forwarded: true,
                ..caller
            };
            match forward(inner, envelope.request_data.clone()).await {
                Ok(answered) if answered.not_controller => {
                    // The broker looks for the active controller and sends it there.
                    envelope.refused(version, ErrorCode::NOT_CONTROLLER, None)
                }
                Ok(answered) => EnvelopeResponse {
                    response_data: Some(answered.frame.into_bytes().slice(LENGTH_BYTES..)),
                    ..EnvelopeResponse::default()
                },
                Err(Unserved::Stopped) => return Err(Unserved::Stopped),
                Err(Unserved::Unknown(api)) => {
                    tracing::debug!(%api, "not forwardable");
                    let error = match super::table::row(api.key) {
                        Some(row) if row.is_forwardable => ErrorCode::UNSUPPORTED_VERSION,
                        _ => ErrorCode::INVALID_REQUEST,
                    };
                    envelope.refused(version, error, None)
                }
                Err(error) => {
                    tracing::warn!(%error, "a forwarded request");
                    envelope.refused(version, ErrorCode::INVALID_REQUEST, None)
                }
            }
        }
        Err(error) => envelope.refused(version, error, None),
    };
    Ok(encode::<EnvelopeRequest>(&header, &response)?.into())
}

/// Checks that the caller may forward, and says for whom it does.
async fn open(
    caller: &Caller,
    envelope: &EnvelopeRequest,
) -> Result<Result<Client, ErrorCode>, Unserved> {
    let broker = caller.origin.client.clone();
    let (reply, replied) = oneshot::channel();
    let work = move |controller: &mut Controller| {
        let _ = reply.send(controller.allows_on_cluster(&broker, Operation::ClusterAction));
    };
    caller.handle.run(work).await?;
    if !replied.await? {
        return Ok(Err(ErrorCode::CLUSTER_AUTHORIZATION_FAILED));
    }
    let Some(principal) = envelope.request_principal.as_ref().and_then(principal) else {
        return Ok(Err(ErrorCode::PRINCIPAL_DESERIALIZATION_FAILURE));
    };
    let Some(host) = address(&envelope.client_host_address) else {
        return Ok(Err(ErrorCode::INVALID_REQUEST));
    };
    Ok(Ok(Client {
        principal: format!("{}:{}", principal.r#type, principal.name),
        host,
        by_token: principal.token_authenticated,
    }))
}

async fn forward(inner: Caller, frame: Bytes) -> Result<Answered, Unserved> {
    dispatch(inner, frame)?.answered().await
}

/// The principal, as brokers with Kafka's own serializer write it: a version, then the data.
fn principal(bytes: &Bytes) -> Option<DefaultPrincipalData> {
    let version = i16::from_be_bytes(*bytes.first_chunk()?);
    if !DefaultPrincipalData::VERSIONS.contains(version) {
        return None;
    }
    let data = decode_message::<DefaultPrincipalData>(&bytes.slice(2..), version).ok()?;
    Some(data.value)
}

fn address(bytes: &Bytes) -> Option<IpAddr> {
    if let Ok(bytes) = <[u8; 4]>::try_from(&bytes[..]) {
        return Some(Ipv4Addr::from(bytes).into());
    }
    let bytes = <[u8; 16]>::try_from(&bytes[..]).ok()?;
    Some(IpAddr::from(Ipv6Addr::from(bytes)).to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart_by_their_length() {
        let of = |bytes: &'static [u8]| address(&Bytes::from_static(bytes));
        let text = |ip: Option<IpAddr>| ip.map(|ip| ip.to_string());
        assert_eq!(text(of(&[10, 0, 0, 1])).as_deref(), Some("10.0.0.1"));
        let v6 = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        let v6 = address(&Bytes::copy_from_slice(&v6));
        assert_eq!(text(v6).as_deref(), Some("2001:db8::1"));
        // An address of IPv4 in the form of IPv6 is one of IPv4, for ACLs.
        let mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1];
        let mapped = address(&Bytes::copy_from_slice(&mapped));
        assert_eq!(text(mapped).as_deref(), Some("10.0.0.1"));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[1, 2, 3]), None);
    }
}
